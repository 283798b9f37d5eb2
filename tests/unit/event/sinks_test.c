/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Order, filter and tee.
 */
#include "base/memory.h"
#include "event/event.h"
#include "unit/unit.h"

#include <errno.h>

/* Counts what arrives; fails with `error` if that is set. */
struct counting_sink {
	struct event_sink sink;
	int samples, rounds, error;
};

static int count_sample(struct event_sink *sink, const struct sample *sample)
{
	((struct counting_sink *)sink)->samples++;
	(void)sample;
	return ((struct counting_sink *)sink)->error;
}

static int count_round(struct event_sink *sink, u64 time_ns)
{
	((struct counting_sink *)sink)->rounds++;
	(void)time_ns;
	return 0;
}

static struct counting_sink counting(void)
{
	return (struct counting_sink){
		.sink = {.on_sample = count_sample, .on_round = count_round},
	};
}

/* `runs` sorted streams one behind the other; place is the position before sorting. */
static struct timed *interleaved(size_t count, size_t runs)
{
	struct timed *events = must_alloc_array(count, sizeof(*events));

	for (size_t i = 0; i < count; i++)
		events[i] = (struct timed){.time_ns = i % (count / runs) / 3, .place = i};
	return events;
}

static void sorting_is_complete_and_stable_for_any_number_of_runs(void **state)
{
	for (size_t runs = 1; runs <= 9; runs++) {
		enum { COUNT = 1000 };
		CLEANUP(freep) struct timed *events = interleaved(COUNT, runs);

		order_by_time(events, COUNT);
		for (size_t i = 1; i < COUNT; i++) {
			assert_true(events[i - 1].time_ns <= events[i].time_ns);
			if (events[i - 1].time_ns == events[i].time_ns)
				assert_true(events[i - 1].place < events[i].place);
		}
	}
	(void)state;
}

static void a_descending_list_is_turned_round(void **state)
{
	struct timed events[257];

	for (u64 i = 0; i < 257; i++)
		events[i] = (struct timed){.time_ns = 256 - i, .place = i};
	order_by_time(events, 257);
	for (u64 i = 0; i < 257; i++)
		assert_int_equal(events[i].place, 256 - i);
	(void)state;
}

static void a_filter_lets_through_what_every_list_names(void **state)
{
	const u32 pids[] = {7, 9}, cpus[] = {1};
	const struct time_range times[] = {{10, 20}, {30, 40}};
	struct counting_sink counter = counting();
	struct event_sink *filter = filter_new(
		&(struct filter_settings){
			.pids = pids,
			.pid_count = 2,
			.cpus = cpus,
			.cpu_count = 1,
			.times = times,
			.time_count = 2,
		},
		&counter.sink);
	const struct sample samples[] = {
		{.pid = 7, .cpu = 1, .time_ns = 10}, /* in */
		{.pid = 9, .cpu = 1, .time_ns = 40}, /* in */
		{.pid = 8, .cpu = 1, .time_ns = 10}, /* pid */
		{.pid = 7, .cpu = 2, .time_ns = 10}, /* cpu */
		{.pid = 7, .cpu = 1, .time_ns = 25}, /* time */
	};

	for (size_t i = 0; i < ARRAY_COUNT(samples); i++)
		assert_int_equal(sink_call(filter, on_sample, &samples[i]), 0);
	assert_int_equal(sink_call(filter, on_round, 50), 0);
	assert_int_equal(counter.samples, 2);
	assert_int_equal(counter.rounds, 1);
	filter_free(filter);
	(void)state;
}

static void a_tee_stops_at_the_first_error(void **state)
{
	struct counting_sink first = counting(), second = counting();
	struct event_sink *const sinks[] = {&first.sink, &second.sink};
	struct event_sink *tee = tee_new(sinks, 2);
	const struct sample sample = {.pid = 1};

	assert_int_equal(sink_call(tee, on_sample, &sample), 0);
	first.error = -ENOSPC;
	assert_int_equal(sink_call(tee, on_sample, &sample), -ENOSPC);
	assert_int_equal(first.samples, 2);
	assert_int_equal(second.samples, 1);
	tee_free(tee);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorting_is_complete_and_stable_for_any_number_of_runs),
		cmocka_unit_test(a_descending_list_is_turned_round),
		cmocka_unit_test(a_filter_lets_through_what_every_list_names),
		cmocka_unit_test(a_tee_stops_at_the_first_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
