/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many branch records a PMU has, from a made-up sysfs, and what is asked for of them.
 */
#include "capture/branch_caps.h"
#include "capture/capture.h"
#include "unit/capture/sysfs.h"
#include "unit/unit.h"

#include <string.h>

static const struct sysfs_file sysfs_files[] = {
	{"cpu/type", "4\n"},	       {"cpu/caps/branches", "32\n"},
	{"deep/type", "37\n"},	       {"deep/caps/branches", "64\n"},
	{"none/type", "38\n"},	       {"odd/type", "39\n"},
	{"odd/caps/branches", "many"}, {"untyped/caps/branches", "16\n"},
};

static int make_sysfs(void **state)
{
	(void)state;
	return sysfs_make(sysfs_files, ARRAY_COUNT(sysfs_files));
}

static void depth_is_that_of_the_pmu_of_the_type(void **state)
{
	assert_int_equal(branch_caps_depth(root, PERF_TYPE_HARDWARE), 32);
	assert_int_equal(branch_caps_depth(root, PERF_TYPE_HW_CACHE), 32);
	assert_int_equal(branch_caps_depth(root, PERF_TYPE_RAW), 32);
	assert_int_equal(branch_caps_depth(root, 37), 64);
	(void)state;
}

static void depth_is_zero_where_nothing_says_it(void **state)
{
	assert_int_equal(branch_caps_depth(root, 38), 0);
	assert_int_equal(branch_caps_depth(root, 39), 0);
	assert_int_equal(branch_caps_depth(root, 40), 0);
	assert_int_equal(branch_caps_depth("/nowhere", PERF_TYPE_RAW), 0);
	(void)state;
}

static void only_what_is_not_needed_is_left_out_the_index_first(void **state)
{
	static const u64 needed = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	static const u64 shorter = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	struct capture_settings settings = {.branch_bits = needed,
					    .branch_extras = shorter | PERF_SAMPLE_BRANCH_HW_INDEX};
	struct perf_event_attr attr = {0};

	branch_caps_ask(&settings, &attr);
	assert_int_equal(attr.sample_type, PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(attr.branch_sample_type, needed | settings.branch_extras);
	assert_true(branch_caps_ask_less(&attr, settings.branch_extras));
	assert_int_equal(attr.branch_sample_type, needed | shorter);
	assert_true(branch_caps_ask_less(&attr, settings.branch_extras));
	assert_int_equal(attr.branch_sample_type, needed);
	assert_false(branch_caps_ask_less(&attr, settings.branch_extras));
	assert_int_equal(attr.branch_sample_type, needed);
	(void)state;
}

static void who_wants_no_branches_asks_for_none(void **state)
{
	struct capture_settings settings = {0};
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP};

	branch_caps_ask(&settings, &attr);
	assert_int_equal(attr.sample_type, PERF_SAMPLE_IP);
	assert_int_equal(attr.branch_sample_type, 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depth_is_that_of_the_pmu_of_the_type),
		cmocka_unit_test(depth_is_zero_where_nothing_says_it),
		cmocka_unit_test(only_what_is_not_needed_is_left_out_the_index_first),
		cmocka_unit_test(who_wants_no_branches_asks_for_none),
	};

	return cmocka_run_group_tests(tests, make_sysfs, sysfs_remove);
}
