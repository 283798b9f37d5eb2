/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of /proc/PID/maps as mappings.
 */
#include "host/proc_maps.h"
#include "unit/unit.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static char path[4096];

static struct bytes text_of(const char *text)
{
	return (struct bytes){.start = (const u8 *)text, .length = strlen(text)};
}

static void an_executable_line_gives_all_fields(void **state)
{
	struct bytes text = text_of("55d0c0a02000-55d0c0a06000 r-xp 00002000 fe:01 248139"
				    "                     /usr/bin/true\n");
	struct mapping mapping;

	(void)state;
	assert_int_equal(proc_maps_next(&text, 42, path, &mapping), 1);
	assert_int_equal(mapping.pid, 42);
	assert_int_equal(mapping.tid, 42);
	assert_int_equal(mapping.space, SPACE_USER);
	assert_int_equal(mapping.start, 0x55d0c0a02000);
	assert_int_equal(mapping.bytes, 0x4000);
	assert_int_equal(mapping.file_offset, 0x2000);
	assert_int_equal(mapping.major, 0xfe);
	assert_int_equal(mapping.minor, 1);
	assert_int_equal(mapping.inode, 248139);
	assert_int_equal(mapping.protection, PROT_READ | PROT_EXEC);
	assert_int_equal(mapping.flags, MAP_PRIVATE);
	assert_false(mapping.is_data);
	assert_string_equal(mapping.path, "/usr/bin/true");
	assert_int_equal(proc_maps_next(&text, 42, path, &mapping), 0);
}

static void data_is_passed_over(void **state)
{
	struct bytes text = text_of("1000-2000 rw-p 00000000 00:00 0 \n"
				    "2000-3000 r-xs 00000000 00:00 0 \n");
	struct mapping mapping;

	(void)state;
	assert_int_equal(proc_maps_next(&text, 1, path, &mapping), 1);
	assert_int_equal(mapping.start, 0x2000);
	assert_int_equal(mapping.flags, MAP_SHARED);
}

static void anonymous_memory_is_called_anon(void **state)
{
	struct bytes text = text_of("7f00-8f00 rwxp 00000000 00:00 0\n9000-a000 --xp 0 0:0 0 ");
	struct mapping mapping;

	(void)state;
	assert_int_equal(proc_maps_next(&text, 1, path, &mapping), 1);
	assert_string_equal(mapping.path, "//anon");
	assert_int_equal(proc_maps_next(&text, 1, path, &mapping), 1);
	assert_string_equal(mapping.path, "//anon");
}

static void a_path_keeps_blanks_and_deleted_and_gets_its_newline_back(void **state)
{
	struct bytes text = text_of(
		"1000-2000 r-xp 00000000 fe:00 7    /tmp/a b\\012c (deleted)\n");
	struct mapping mapping;

	(void)state;
	assert_int_equal(proc_maps_next(&text, 1, path, &mapping), 1);
	assert_string_equal(mapping.path, "/tmp/a b\nc (deleted)");
}

static void a_line_that_is_none_is_reported_and_stepped_over(void **state)
{
	static const char *const broken[] = {
		"",
		"1000",
		"1000-2000",
		"zz-2000 r-xp 0 0:0 0",
		"1000-2000 r-x 0 0:0 0",
		"2000-1000 r-xp 0 0:0 0",
		"1000-2000 r-xp 0 00 0",
		"1000-2000 r-xp",
		"11111111111111111-2 r-xp 0 0:0 0",
	};
	struct mapping mapping;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(broken); i++) {
		CLEANUP(freep)
		char *lines = must_format("%s\n1000-2000 r-xp 0 0:0 0 /x\n", broken[i]);
		struct bytes text = text_of(lines);

		assert_int_equal(proc_maps_next(&text, 1, path, &mapping), -EBADMSG);
		assert_int_equal(proc_maps_next(&text, 1, path, &mapping), 1);
		assert_string_equal(mapping.path, "/x");
	}
}

static void a_path_longer_than_any_is_cut(void **state)
{
	CLEANUP(freep) char *long_path = must_format("1000-2000 r-xp 0 0:0 0 /%05000d\n", 7);
	struct bytes text = text_of(long_path);
	struct mapping mapping;

	(void)state;
	assert_int_equal(proc_maps_next(&text, 1, path, &mapping), 1);
	assert_int_equal(strlen(mapping.path), 4095);
	assert_int_equal(text.length, 0);
}

static void our_own_maps_hold_this_code(void **state)
{
	CLEANUP(freep) char *maps = NULL;
	struct bytes text;
	struct mapping mapping;
	bool found = false;

	(void)state;
	assert_int_equal(file_read("/proc/self/maps", 1 << 20, &maps, &text.length), 0);
	text.start = (u8 *)maps;
	while (proc_maps_next(&text, 1, path, &mapping) == 1) {
		u64 here = (u64)(uintptr_t)&our_own_maps_hold_this_code;

		found |= here >= mapping.start && here - mapping.start < mapping.bytes;
	}
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_executable_line_gives_all_fields),
		cmocka_unit_test(data_is_passed_over),
		cmocka_unit_test(anonymous_memory_is_called_anon),
		cmocka_unit_test(a_path_keeps_blanks_and_deleted_and_gets_its_newline_back),
		cmocka_unit_test(a_line_that_is_none_is_reported_and_stepped_over),
		cmocka_unit_test(a_path_longer_than_any_is_cut),
		cmocka_unit_test(our_own_maps_hold_this_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
