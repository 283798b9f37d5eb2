/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths and build ids of mapped files: found again by file or by place, and no more of them than
 * was promised.
 */
#include "base/memory.h"
#include "capture/file_paths.h"
#include "unit/unit.h"

static struct file_paths paths;

static int tear_down(void **state)
{
	file_paths_release(&paths);
	(void)state;
	return 0;
}

static struct mapping of_file(u64 inode, const char *path)
{
	return (struct mapping){.space = SPACE_USER,
				.pid = 7,
				.start = 4096,
				.bytes = 4096,
				.major = 254,
				.minor = 3,
				.inode = inode,
				.path = path};
}

static void assert_path(struct mapping *mapping, const char *path)
{
	file_paths_tell(&paths, mapping);
	assert_string_equal(mapping->path, path);
}

static void a_file_is_found_from_another_process(void **state)
{
	struct mapping noted = of_file(5, "/bin/true"), wanted = of_file(5, "");

	file_paths_note(&paths, &noted);
	wanted.pid = 8;
	wanted.start = 8192;
	assert_path(&wanted, "/bin/true");
	wanted.minor = 4;
	assert_path(&wanted, "");
	(void)state;
}

static void a_mapping_told_by_build_id_is_found_by_its_place(void **state)
{
	struct mapping noted = of_file(0, "/bin/true"), wanted = of_file(5, "");

	noted.major = noted.minor = 0;
	file_paths_note(&paths, &noted);
	assert_path(&wanted, "/bin/true");
	wanted.pid = 8;
	assert_path(&wanted, "");
	(void)state;
}

static void a_file_that_was_renamed_has_its_last_path(void **state)
{
	struct mapping before = of_file(5, "/tmp/new"), after = of_file(5, "/tmp/program");

	file_paths_note(&paths, &before);
	file_paths_note(&paths, &after);
	assert_path(&after, "/tmp/program");
	(void)state;
}

/* The mapping with a build id of one byte. */
static struct mapping with_id(struct mapping mapping, u8 id)
{
	mapping.build_id_bytes = 1;
	mapping.build_id[0] = id;
	return mapping;
}

static void assert_id(struct mapping mapping, u8 id)
{
	file_paths_tell(&paths, &mapping);
	assert_int_equal(mapping.build_id_bytes, id != 0);
	assert_int_equal(mapping.build_id[0], id);
}

static void a_file_that_was_written_over_has_its_last_build_id(void **state)
{
	struct mapping before = with_id(of_file(5, "/bin/true"), 1);
	struct mapping after = with_id(of_file(5, "/bin/true"), 2);
	struct mapping by_place = with_id(of_file(0, "/bin/false"), 3);

	file_paths_note(&paths, &before);
	file_paths_note(&paths, &after);
	assert_id(of_file(5, ""), 2);
	file_paths_note(&paths, &by_place);
	assert_id(of_file(6, ""), 3);
	(void)state;
}

static void the_build_id_of_a_file_is_not_that_of_the_next_with_its_number(void **state)
{
	struct mapping gone = with_id(of_file(5, "/bin/true"), 1), next = of_file(5, "");

	gone.inode_generation = 100;
	file_paths_note(&paths, &gone);
	next.inode_generation = 101;
	assert_id(next, 0);
	next.inode_generation = 100;
	assert_id(next, 1);
	(void)state;
}

static void what_is_no_file_is_not_remembered(void **state)
{
	struct mapping vdso = of_file(0, "[vdso]"), data = of_file(5, "/bin/true");

	data.is_data = true;
	file_paths_note(&paths, &vdso);
	file_paths_note(&paths, &data);
	assert_path(&data, "");
	(void)state;
}

static void the_oldest_are_forgotten_when_there_are_too_many(void **state)
{
	for (u64 inode = 1; inode <= 3 * FILE_PATHS_MAX; inode++) {
		CLEANUP(freep) char *path = must_format("/bin/%u", (u32)inode);
		struct mapping mapping = of_file(inode, path);

		file_paths_note(&paths, &mapping);
	}
	for (u64 inode = 1; inode <= 3 * FILE_PATHS_MAX; inode++) {
		CLEANUP(freep) char *path = must_format("/bin/%u", (u32)inode);
		struct mapping mapping = of_file(inode, "");

		assert_path(&mapping, inode <= 2 * FILE_PATHS_MAX ? "" : path);
	}
	assert_true(paths.rows.count == FILE_PATHS_MAX);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_file_is_found_from_another_process, tear_down),
		cmocka_unit_test_teardown(a_mapping_told_by_build_id_is_found_by_its_place,
					  tear_down),
		cmocka_unit_test_teardown(a_file_that_was_renamed_has_its_last_path, tear_down),
		cmocka_unit_test_teardown(a_file_that_was_written_over_has_its_last_build_id,
					  tear_down),
		cmocka_unit_test_teardown(
			the_build_id_of_a_file_is_not_that_of_the_next_with_its_number, tear_down),
		cmocka_unit_test_teardown(what_is_no_file_is_not_remembered, tear_down),
		cmocka_unit_test_teardown(the_oldest_are_forgotten_when_there_are_too_many,
					  tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
