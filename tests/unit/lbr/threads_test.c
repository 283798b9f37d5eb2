/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is learned of a thread from stacks that others had before.
 */
#include "event/process_table.h"
#include "lbr/places_reach.h"
#include "lbr/threads.h"
#include "unit/unit.h"

enum { DEPTH = 32, LEAF_BODY = 3, CALLER_BODY = 4, KEY = 77, FIRST = 100, SECOND = 200 };

struct fixture {
	struct process_table *processes;
	struct places *places;
	struct threads *threads;
	struct snapshot snapshot;
	struct stack stack;
};

/* A leaf in register `newest`, its caller in the one before, whole. */
static void begin(struct fixture *fixture, u64 newest)
{
	*fixture = (struct fixture){.processes = process_table_new(), .threads = threads_new()};
	fixture->places = places_new(fixture->processes, NULL, NULL);
	fixture->snapshot = (struct snapshot){
		.time_ns = 1000,
		.leaf_place = places_add(fixture->places,
					 &(struct place){.address = 1, .body = LEAF_BODY}),
		.entry_count = 2,
		.hw_idx = newest,
		.depth = DEPTH,
	};
	fixture->stack.calls[0].place = places_add(
		fixture->places, &(struct place){.address = 2, .body = CALLER_BODY});
	fixture->stack.count = fixture->stack.entries = 2;
	fixture->stack.end = LBR_END_WHOLE;
}

static void end(struct fixture *fixture)
{
	threads_free(fixture->threads);
	places_free(fixture->places);
	process_table_free(fixture->processes);
}

static void learn(struct fixture *fixture, u32 tid, u64 key)
{
	const struct walked walked = {fixture->places, &fixture->snapshot, &fixture->stack};

	threads_learn(fixture->threads, threads_at(fixture->threads, tid), &walked, key);
}

static void learn_again(struct fixture *fixture, u32 tid, u64 time_ns)
{
	threads_learn_again(fixture->threads, threads_at(fixture->threads, tid), KEY, time_ns);
}

static const struct anchor *anchor_of(struct fixture *fixture, u32 tid, u32 body)
{
	struct thread_facts *thread = threads_at(fixture->threads, tid);
	const struct anchor *anchor = anchors_find(&thread->anchors, body);

	assert_non_null(anchor);
	return anchor;
}

static void a_stack_teaches_another_thread_what_it_taught_the_first(void **state)
{
	struct fixture fixture;
	const struct thread_facts *thread;

	begin(&fixture, 7);
	learn(&fixture, FIRST, KEY);
	assert_true(threads_know(fixture.threads, KEY));
	learn_again(&fixture, SECOND, 2000);
	thread = threads_at(fixture.threads, SECOND);
	assert_int_equal(thread->stacks, 1);
	assert_int_equal(thread->first_ns, 2000);
	assert_int_equal(thread->constant, 5);
	assert_int_equal(thread->constant_count, 1);
	assert_int_equal(anchor_of(&fixture, SECOND, LEAF_BODY)->slot, 7);
	assert_int_equal(anchor_of(&fixture, SECOND, CALLER_BODY)->slot, 6);
	end(&fixture);
	(void)state;
}

static void threads_in_turn_each_count_their_own(void **state)
{
	struct fixture fixture;

	begin(&fixture, 7);
	learn(&fixture, FIRST, KEY);
	for (u32 i = 0; i < 3; i++) {
		learn_again(&fixture, SECOND, 2000 + i);
		learn_again(&fixture, FIRST, 3000 + i);
	}
	assert_int_equal(anchor_of(&fixture, FIRST, LEAF_BODY)->count, 4);
	assert_int_equal(anchor_of(&fixture, SECOND, LEAF_BODY)->count, 3);
	assert_int_equal(threads_at(fixture.threads, FIRST)->anchors.rows.count, 2);
	assert_int_equal(threads_at(fixture.threads, SECOND)->last_ns, 2002);
	end(&fixture);
	(void)state;
}

/* The second thread has had the function in another register. */
static void what_another_thread_taught_can_contradict(void **state)
{
	struct fixture fixture;

	begin(&fixture, 7);
	learn(&fixture, FIRST, KEY);
	fixture.snapshot.hw_idx = 9;
	learn(&fixture, SECOND, 0);
	learn_again(&fixture, SECOND, 2000);
	assert_true(anchor_of(&fixture, SECOND, LEAF_BODY)->is_moved);
	assert_true(threads_at(fixture.threads, SECOND)->is_constant_moved);
	assert_false(anchor_of(&fixture, FIRST, LEAF_BODY)->is_moved);
	end(&fixture);
	(void)state;
}

static void without_a_key_nothing_is_kept(void **state)
{
	struct fixture fixture;

	begin(&fixture, 7);
	learn(&fixture, FIRST, 0);
	assert_false(threads_know(fixture.threads, KEY));
	learn_again(&fixture, SECOND, 2000);
	assert_int_equal(threads_at(fixture.threads, SECOND)->stacks, 0);
	end(&fixture);
	(void)state;
}

/* Whether the constant holds is the same at all times of a span, and at none next to it. */
static void assert_span(struct thread_facts *thread, u64 time_ns, u64 first_ns, u64 last_ns)
{
	struct time_span span = thread_span(thread, time_ns);
	bool has_constant = thread_has_constant(thread, time_ns);

	assert_int_equal(span.first_ns, first_ns);
	assert_int_equal(span.last_ns, last_ns);
	assert_int_equal(thread_has_constant(thread, first_ns), has_constant);
	assert_int_equal(thread_has_constant(thread, last_ns), has_constant);
}

static void a_constant_holds_as_long_as_its_span(void **state)
{
	struct fixture fixture;
	struct thread_facts *thread;

	begin(&fixture, 7);
	thread = threads_at(fixture.threads, FIRST);
	assert_span(thread, 500, 0, UINT64_MAX);
	learn(&fixture, FIRST, KEY);
	learn_again(&fixture, FIRST, 2000);
	assert_span(thread, 1500, 1000, 2000);
	assert_span(thread, 999, 0, 999);
	assert_span(thread, 2001, 2001, UINT64_MAX);
	assert_true(thread_has_constant(thread, 2000));
	assert_false(thread_has_constant(thread, 2001));
	learn_again(&fixture, FIRST, 3000);
	assert_span(thread, 2001, 1000, 3000);
	fixture.snapshot.hw_idx = 9;
	learn(&fixture, FIRST, 0);
	assert_span(thread, 1500, 0, UINT64_MAX);
	end(&fixture);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_teaches_another_thread_what_it_taught_the_first),
		cmocka_unit_test(threads_in_turn_each_count_their_own),
		cmocka_unit_test(what_another_thread_taught_can_contradict),
		cmocka_unit_test(without_a_key_nothing_is_kept),
		cmocka_unit_test(a_constant_holds_as_long_as_its_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
