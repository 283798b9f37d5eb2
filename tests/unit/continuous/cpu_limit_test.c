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
	u64 beside_ns;			  /* done by others, every `beside_s` */
	u32 beside_s;
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

	if (machine->beside_s && machine->second % machine->beside_s == 0)
		spent.else_ns = machine->beside_ns;
	cpu_limit_step(limit, &spent);
	return (double)(spent.own_ns + spent.else_ns + spent.bpf_ns) / SECOND;
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

/* Ten times as dear after four minutes, then two minutes to settle: each five minutes of the next
 * half hour cost what they may, within a tenth. */
static void assert_holds_when_dear(struct machine machine, u32 wanted_hz)
{
	const double may = 0.005;
	struct cpu_limit limit = cpu_limit_of(may, wanted_hz);

	run(&machine, &limit, 240);
	machine.sample_ns *= 10;
	run(&machine, &limit, 120);
	for (u32 i = 0; i < 6; i++) {
		double cost = run(&machine, &limit, 300);

		assert_true(cost > 0.9 * may && cost < 1.1 * may);
		assert_true(limit.hz < wanted_hz);
	}
}

static void samples_ten_times_as_dear_cost_what_they_may(void **state)
{
	assert_holds_when_dear((struct machine){.sample_ns = 8000, .own_ns = 500000}, 99);
	assert_holds_when_dear((struct machine){.sample_ns = 8000, .own_ns = 500000}, 999);
	assert_holds_when_dear((struct machine){.sample_ns = 30000, .own_ns = 100000}, 4999);
	(void)state;
}

static void windows_and_what_is_done_beside_are_in_it(void **state)
{
	const struct machine machine = {.sample_ns = 8000, .own_ns = 500000, .window_ns = 60000000};
	struct machine names = machine, sums = machine;

	names.beside_ns = 30000000;
	names.beside_s = 37;
	sums.beside_ns = 100000000;
	sums.beside_s = 80;
	assert_holds_when_dear(machine, 99);
	assert_holds_when_dear(machine, 999);
	assert_holds_when_dear(names, 99);
	assert_holds_when_dear(names, 999);
	assert_holds_when_dear(sums, 99);
	assert_holds_when_dear(sums, 999);
	(void)state;
}

static void names_of_all_that_runs_are_no_cost_of_going_on(void **state)
{
	struct machine machine = {
		.sample_ns = 5000, .own_ns = 500000, .beside_ns = 50000000, .beside_s = 1};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 30);
	machine.beside_ns = 0;
	run(&machine, &limit, 60);
	assert_int_equal(limit.hz, WANTED_HZ);
	(void)state;
}

/* A minute in which nothing ran is not spent in the next one. */
static void what_was_not_spent_is_not_saved_for_long(void **state)
{
	struct machine machine = {.sample_ns = 1000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 3600);
	machine.sample_ns = 80000;
	run(&machine, &limit, 10);
	assert_true(run(&machine, &limit, 60) < 0.006);
	(void)state;
}

static void a_long_piece_of_work_beside_lowers_the_rate_for_minutes_and_no_longer(void **state)
{
	struct machine machine = {.sample_ns = 10000, .own_ns = 300000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 120);
	assert_int_equal(limit.hz, WANTED_HZ);
	machine.beside_ns = 100 * (u64)SECOND;
	machine.beside_s = 1;
	run(&machine, &limit, 1);
	machine.beside_ns = 0;
	run(&machine, &limit, 5);
	assert_true(limit.hz < WANTED_HZ);
	run(&machine, &limit, 300);
	assert_int_equal(limit.hz, WANTED_HZ);
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

static void what_starting_took_is_forgotten_in_two_minutes(void **state)
{
	struct machine machine = {.sample_ns = 80000, .own_ns = 40000000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);
	double cost;

	run(&machine, &limit, 30);
	machine.own_ns = 500000;
	machine.window_ns = 30000000;
	run(&machine, &limit, 120);
	cost = run(&machine, &limit, 120);
	assert_true(cost > 0.0045 && cost < 0.0055);
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

/* There is room where the rate is as wanted and nothing was spent too much, but not at the start,
 * of which the cost is not known yet. */
static void there_is_room_until_it_is_spent(void **state)
{
	struct machine machine = {.sample_ns = 10000, .own_ns = 500000};
	struct cpu_limit limit = cpu_limit_of(0.005, WANTED_HZ);

	run(&machine, &limit, 10);
	assert_false(cpu_limit_has_room(&limit));
	run(&machine, &limit, 60);
	assert_true(cpu_limit_has_room(&limit));
	machine.sample_ns = 1000000;
	run(&machine, &limit, 1);
	assert_false(cpu_limit_has_room(&limit));
	run(&machine, &limit, 120);
	assert_false(cpu_limit_has_room(&limit));
	machine.sample_ns = 10000;
	run(&machine, &limit, 240);
	assert_true(cpu_limit_has_room(&limit));
	limit = cpu_limit_of(0, WANTED_HZ);
	assert_true(cpu_limit_has_room(&limit));
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
		cmocka_unit_test(samples_ten_times_as_dear_cost_what_they_may),
		cmocka_unit_test(windows_and_what_is_done_beside_are_in_it),
		cmocka_unit_test(names_of_all_that_runs_are_no_cost_of_going_on),
		cmocka_unit_test(what_was_not_spent_is_not_saved_for_long),
		cmocka_unit_test(
			a_long_piece_of_work_beside_lowers_the_rate_for_minutes_and_no_longer),
		cmocka_unit_test(what_the_process_costs_is_known_within_a_minute),
		cmocka_unit_test(the_rate_comes_back_when_samples_are_cheap_again),
		cmocka_unit_test(a_process_that_costs_too_much_alone_goes_on_at_a_low_rate),
		cmocka_unit_test(a_burst_of_work_at_the_start_changes_little),
		cmocka_unit_test(what_starting_took_is_forgotten_in_two_minutes),
		cmocka_unit_test(a_limit_that_is_taken_away_gives_the_rate_back),
		cmocka_unit_test(without_a_limit_nothing_changes),
		cmocka_unit_test(there_is_room_until_it_is_spent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
