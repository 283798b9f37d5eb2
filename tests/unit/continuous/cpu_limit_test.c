/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rate that costs as much as it may, with a machine that is simulated.
 */
#include "continuous/continuous.h"
#include "unit/unit.h"

enum { SECOND = 1000000000, WANTED_HZ = 99, CPUS = 4 };

/* What a second costs there; `sample_ns` may differ by a fifth from second to second. */
struct machine {
	u64 sample_ns, own_ns, window_ns; /* window_ns: in addition, once a minute */
	u32 second, random;
};

static u64 spread(struct machine *machine, u64 value)
{
	machine->random = machine->random * 1664525 + 1013904223;
	return value * 4 / 5 + value * 2 / 5 * (machine->random >> 16) / 65536;
}

/* One second at the limit's rate. Returns the share of a CPU that it cost. */
static double run_second(struct machine *machine, struct cpu_limit *limit)
{
	struct cpu_limit_spent spent = {
		.own_ns = machine->own_ns + (++machine->second % 60 ? 0 : machine->window_ns),
		.bpf_ns = spread(machine, machine->sample_ns) * limit->hz * CPUS,
		.wall_ns = SECOND,
	};

	cpu_limit_step(limit, &spent);
	return (double)(spent.own_ns + spent.bpf_ns) / SECOND;
}

/* Mean over `seconds`. */
static double run(struct machine *machine, struct cpu_limit *limit, u32 seconds)
{
	double sum = 0;

	for (u32 i = 0; i < seconds; i++)
		sum += run_second(machine, limit);
	return sum / seconds;
}

static void what_costs_less_than_it_may_is_left_alone(void **state)
{
	struct machine machine = {.sample_ns = 5000, .own_ns = 500000, .window_ns = 20000000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	for (u32 i = 0; i < 300; i++) {
		run_second(&machine, &limit);
		assert_int_equal(limit.hz, WANTED_HZ);
	}
	(void)state;
}

static void samples_ten_times_as_dear_cost_no_more_than_they_may(void **state)
{
	struct machine machine = {.sample_ns = 8000, .own_ns = 500000, .window_ns = 10000000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);
	double cost;

	run(&machine, &limit, 120);
	assert_int_equal(limit.hz, WANTED_HZ);
	machine.sample_ns *= 10;
	run(&machine, &limit, 20);
	cost = run(&machine, &limit, 300);
	assert_true(cost < 0.0055);
	assert_true(cost > 0.004); /* and nothing is given away */
	assert_true(limit.hz < WANTED_HZ);
	(void)state;
}

static void what_the_process_costs_is_known_within_a_minute(void **state)
{
	struct machine machine = {.sample_ns = 20000, .own_ns = 2500000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 60);
	assert_true(run(&machine, &limit, 30) < 0.0055);
	(void)state;
}

static void the_rate_comes_back_when_samples_are_cheap_again(void **state)
{
	struct machine machine = {.sample_ns = 80000, .own_ns = 500000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 60);
	assert_true(limit.hz < WANTED_HZ / 2);
	machine.sample_ns /= 20;
	run(&machine, &limit, 30);
	assert_int_equal(limit.hz, WANTED_HZ);
	(void)state;
}

static void a_process_that_costs_too_much_alone_goes_on_at_a_low_rate(void **state)
{
	struct machine machine = {.sample_ns = 10000, .own_ns = 20000000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 900);
	assert_true(limit.hz >= 1 && limit.hz <= 20);
	(void)state;
}

static void a_burst_of_work_at_the_start_changes_little(void **state)
{
	struct machine machine = {.sample_ns = 8000, .own_ns = 500000000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 1);
	machine.own_ns = 200000;
	run(&machine, &limit, 10);
	assert_true(limit.hz > WANTED_HZ / 2);
	(void)state;
}

static void a_limit_that_is_taken_away_gives_the_rate_back(void **state)
{
	struct machine machine = {.sample_ns = 1000000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 20);
	assert_true(limit.hz < WANTED_HZ);
	limit.share = 0;
	run(&machine, &limit, 1);
	assert_int_equal(limit.hz, WANTED_HZ);
	(void)state;
}

static void without_a_limit_nothing_changes(void **state)
{
	struct machine machine = {.sample_ns = 1000000, .own_ns = 500000000};
	struct cpu_limit limit = cpu_limit_of(0, WANTED_HZ);

	run(&machine, &limit, 60);
	assert_int_equal(limit.hz, WANTED_HZ);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_costs_less_than_it_may_is_left_alone),
		cmocka_unit_test(samples_ten_times_as_dear_cost_no_more_than_they_may),
		cmocka_unit_test(what_the_process_costs_is_known_within_a_minute),
		cmocka_unit_test(the_rate_comes_back_when_samples_are_cheap_again),
		cmocka_unit_test(a_process_that_costs_too_much_alone_goes_on_at_a_low_rate),
		cmocka_unit_test(a_burst_of_work_at_the_start_changes_little),
		cmocka_unit_test(a_limit_that_is_taken_away_gives_the_rate_back),
		cmocka_unit_test(without_a_limit_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
