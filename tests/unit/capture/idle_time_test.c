/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idle columns of /proc/stat.
 */
#include "capture/idle_time.h"
#include "unit/unit.h"

enum { CPUS = 4 };

static void parse(const char *text, u64 *ret_ns)
{
	idle_time_parse((struct bytes){.start = (const u8 *)text, .length = strlen(text)}, ret_ns,
			CPUS);
}

static void idle_and_waiting_time_of_each_cpu_is_read(void **state)
{
	u64 idle_ns[CPUS] = {9, 9, 9, 9};

	parse("cpu  1 2 3 4 5 6 7 8 0 0\n"
	      "cpu0 10 0 5 100 20 0 0 0 0 0\n"
	      "cpu2 10 0 5 7 0 0 0 0 0 0\n"
	      "intr 1 2 3\n",
	      idle_ns);
	assert_int_equal(idle_ns[0], 1200000000);
	assert_int_equal(idle_ns[1], 0); /* offline */
	assert_int_equal(idle_ns[2], 70000000);
	(void)state;
}

static void unknown_cpus_and_cut_lines_are_passed_over(void **state)
{
	u64 idle_ns[CPUS];

	parse("cpu9 1 2 3 4 5\ncpu1 1 2", idle_ns);
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(idle_ns[cpu], 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_and_waiting_time_of_each_cpu_is_read),
		cmocka_unit_test(unknown_cpus_and_cut_lines_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
