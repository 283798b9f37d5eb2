/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sums of a recording.
 */
#include "capture/counters.h"
#include "unit/unit.h"

static void counters_of_all_cpus_and_sources_are_added(void **state)
{
	struct cpu_counters cpus[2] = {0};
	struct capture_totals totals = {0};

	cpus[0].counts[COUNTER_samples_sent] = 3;
	cpus[1].counts[COUNTER_samples_sent] = 4;
	cpus[1].counts[COUNTER_skipped_idle] = 5;
	cpus[0].overflows[0] = 3;
	cpus[1].overflows[SOURCES_MAX - 1] = 9;
	counters_sum(cpus, 2, &totals);
	assert_int_equal(totals.counters[COUNTER_samples_sent], 7);
	assert_int_equal(totals.counters[COUNTER_skipped_idle], 5);
	assert_int_equal(totals.counters[COUNTER_overflows], 12);
	(void)state;
}

static void every_counter_has_room_on_both_sides(void **state)
{
	assert_true(COUNTER_COUNT <= sizeof(((struct cpu_counters *)0)->counts) / sizeof(u64));
	assert_true(COUNTER_COUNT <= sizeof(((struct capture_totals *)0)->counters) / sizeof(u64));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_all_cpus_and_sources_are_added),
		cmocka_unit_test(every_counter_has_room_on_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
