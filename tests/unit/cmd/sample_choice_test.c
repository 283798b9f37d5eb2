/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --time as perf takes it: seconds, and parts of a recording.
 */
#include "cmd/sample_choice.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>

enum { FIRST_NS = 1000, LAST_NS = 2001 }; /* a tenth is no whole number */

static int read_times(const char *times, struct chosen_samples *chosen)
{
	return sample_choice_read(&(struct sample_choice){.times = times}, FIRST_NS, LAST_NS,
				  chosen);
}

static void assert_range(const struct chosen_samples *chosen, size_t row, u64 start_ns, u64 end_ns)
{
	assert_true(row < chosen->settings.time_count);
	assert_int_equal(chosen->settings.times[row].start_ns, start_ns);
	assert_int_equal(chosen->settings.times[row].end_ns, end_ns);
}

/* perf: set_percent_time() of tools/perf/util/time-utils.c rounds, and takes one off the end. */
static void a_moment_belongs_to_one_part_only(void **state)
{
	CLEANUP(chosen_samples_release) struct chosen_samples together = {0}, alone = {0};

	assert_int_equal(read_times("0%-50%,50%-100%", &together), 0);
	assert_int_equal(together.settings.time_count, 2);
	assert_range(&together, 0, 1000, 1500); /* 1500.5 is rounded to 1501 */
	assert_range(&together, 1, 1501, 2001);
	assert_int_equal(read_times("0%-50%", &alone), 0);
	assert_range(&alone, 0, 1000, 1500);
	(void)state;
}

static void parts_may_be_counted(void **state)
{
	CLEANUP(chosen_samples_release) struct chosen_samples chosen = {0};

	assert_int_equal(read_times("10%/2 10%/10, 10%", &chosen), 0);
	assert_int_equal(chosen.settings.time_count, 3);
	assert_range(&chosen, 0, 1100, 1199);
	assert_range(&chosen, 1, 1901, 2001);
	assert_range(&chosen, 2, 1000, 1099);
	(void)state;
}

static void seconds_may_be_open_at_either_end(void **state)
{
	CLEANUP(chosen_samples_release) struct chosen_samples chosen = {0};

	assert_int_equal(read_times("1.5,2 ,0.25 3, 4", &chosen), 0);
	assert_int_equal(chosen.settings.time_count, 4);
	assert_range(&chosen, 0, 1500000000, 2000000000);
	assert_range(&chosen, 1, 0, 250000000);
	assert_range(&chosen, 2, 3000000000, UINT64_MAX);
	assert_range(&chosen, 3, 4000000000, UINT64_MAX);
	(void)state;
}

static void what_is_no_range_is_refused(void **state)
{
	static const char *const wrong[] = {
		"20%-10%", "50%/3",    "10%/0",	   "10%/", "10%-", "%",	  "-10%-20%",
		"101%",	   "10%-20%x", "nan%-20%", "2,1",  "x",	   "1,x", "1-2",
	};
	struct chosen_samples chosen = {0};

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(read_times(wrong[i], &chosen), -EINVAL);
	assert_null(chosen.times);
	(void)state;
}

static void parts_of_an_unknown_time_are_refused(void **state)
{
	struct sample_choice choice = {.times = "10%-20%"};
	struct chosen_samples chosen = {0};

	assert_int_equal(sample_choice_read(&choice, 0, 0, &chosen), -EINVAL);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moment_belongs_to_one_part_only),
		cmocka_unit_test(parts_may_be_counted),
		cmocka_unit_test(seconds_may_be_open_at_either_end),
		cmocka_unit_test(what_is_no_range_is_refused),
		cmocka_unit_test(parts_of_an_unknown_time_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
