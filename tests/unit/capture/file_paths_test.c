/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths of mapped files: found again by file or by place, and no more of them than was promised.
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

static void a_file_is_found_from_another_process(void **state)
{
	struct mapping noted = of_file(5, "/bin/true"), wanted = of_file(5, "");

	file_paths_note(&paths, &noted);
	wanted.pid = 8;
	wanted.start = 8192;
	assert_string_equal(file_paths_find(&paths, &wanted), "/bin/true");
	wanted.minor = 4;
	assert_string_equal(file_paths_find(&paths, &wanted), "");
	(void)state;
}

static void a_mapping_told_by_build_id_is_found_by_its_place(void **state)
{
	struct mapping noted = of_file(0, "/bin/true"), wanted = of_file(5, "");

	noted.major = noted.minor = 0;
	file_paths_note(&paths, &noted);
	assert_string_equal(file_paths_find(&paths, &wanted), "/bin/true");
	wanted.pid = 8;
	assert_string_equal(file_paths_find(&paths, &wanted), "");
	(void)state;
}

static void a_file_that_was_renamed_has_its_last_path(void **state)
{
	struct mapping before = of_file(5, "/tmp/new"), after = of_file(5, "/tmp/program");

	file_paths_note(&paths, &before);
	file_paths_note(&paths, &after);
	assert_string_equal(file_paths_find(&paths, &after), "/tmp/program");
	(void)state;
}

static void what_is_no_file_is_not_remembered(void **state)
{
	struct mapping vdso = of_file(0, "[vdso]"), data = of_file(5, "/bin/true");

	data.is_data = true;
	file_paths_note(&paths, &vdso);
	file_paths_note(&paths, &data);
	assert_string_equal(file_paths_find(&paths, &data), "");
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

		assert_string_equal(file_paths_find(&paths, &mapping),
				    inode <= 2 * FILE_PATHS_MAX ? "" : path);
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
		cmocka_unit_test_teardown(what_is_no_file_is_not_remembered, tear_down),
		cmocka_unit_test_teardown(the_oldest_are_forgotten_when_there_are_too_many,
					  tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
