/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is behind the ends of stacks, and whether that fits a thread.
 */
#include "lbr/rests.h"
#include "unit/unit.h"

#include <string.h>

enum { DEPTH = 32, OFTEN = 8, NOW = 100 };

/* A thread in which a function was often seen in a register. */
static struct thread_facts thread_with(u32 id, u32 body, u16 slot)
{
	struct thread_facts thread = {.id = id, .stacks = OFTEN};
	struct anchor *anchor = anchors_make(&thread.anchors, body, 0);

	*anchor = (struct anchor){.body = body, .slot = slot, .count = OFTEN};
	return thread;
}

static void release(struct thread_facts *thread)
{
	anchors_release(&thread->anchors);
}

static const u64 calls[] = {0x1000, 0x2000};
static const u32 bodies[] = {5, 6};

/* The second frame's register comes before the first one's: the last of all. */
static const struct rest rest = {.calls = calls,
				 .bodies = bodies,
				 .count = ARRAY_COUNT(calls),
				 .slots = {.first = 0, .depth = DEPTH},
				 .end = LBR_END_SEVERAL};

static void a_rest_is_found_by_its_key(void **state)
{
	struct rests *rests = rests_new(1 << 20);
	u32 number = rests_keep(rests, 77, &rest);
	struct rest found = rests_at(rests, number);

	assert_int_equal(rests_find(rests, 77), number);
	assert_int_equal(rests_find(rests, 78), 0);
	assert_int_equal(found.count, rest.count);
	assert_memory_equal(found.calls, calls, sizeof(calls));
	assert_memory_equal(found.bodies, bodies, sizeof(bodies));
	assert_int_equal(found.end, rest.end);
	rests_free(rests);
	(void)state;
}

static void it_fits_threads_in_which_functions_are_where_they_were(void **state)
{
	struct thread_facts same = thread_with(1, bodies[1], DEPTH - 1);
	struct thread_facts other = thread_with(2, bodies[1], 4);
	struct thread_facts elsewhere = thread_with(3, 99, 4);
	struct rests *rests = rests_new(1 << 20);
	u32 number = rests_keep(rests, 77, &rest);

	for (u32 turn = 0; turn < 2; turn++) {
		assert_true(rests_fit(rests, number, &same, NOW));
		assert_false(rests_fit(rests, number, &other, NOW));
		assert_true(rests_fit(rests, number, &elsewhere, NOW));
	}
	rests_free(rests);
	release(&same);
	release(&other);
	release(&elsewhere);
	(void)state;
}

static void one_without_registers_fits_everywhere(void **state)
{
	struct thread_facts other = thread_with(2, bodies[0], 4);
	struct rests *rests = rests_new(1 << 20);
	struct rest unknown = rest;
	u32 number;

	unknown.slots = (struct slots){0};
	number = rests_keep(rests, 77, &unknown);
	assert_true(rests_fit(rests, number, &other, NOW));
	rests_free(rests);
	release(&other);
	(void)state;
}

/* What is the only way to the start because no other was seen. */
static void one_that_leads_to_the_start_is_seen_before_and_after(void **state)
{
	struct thread_facts thread = thread_with(1, bodies[0], 0);
	struct rests *rests = rests_new(1 << 20);
	struct rest whole = rest;
	u32 number;

	whole.end = LBR_END_WHOLE;
	number = rests_keep(rests, 77, &whole);
	assert_false(rests_fit(rests, number, &thread, NOW)); /* the other function never was */
	*anchors_make(&thread.anchors, bodies[1],
		      0) = (struct anchor){.body = bodies[1], .slot = DEPTH - 1, .count = OFTEN};
	for (u32 i = 0; i < 2; i++) {
		thread.anchors.rows.items[i].seen_first_ns = NOW - 10 + i;
		thread.anchors.rows.items[i].seen_last_ns = NOW + 10;
	}
	thread.id = 2; /* nothing is known of it yet */
	assert_false(rests_fit(rests, number, &thread, NOW - 10));
	assert_true(rests_fit(rests, number, &thread, NOW - 9));
	assert_true(rests_fit(rests, number, &thread, NOW + 10));
	assert_false(rests_fit(rests, number, &thread, NOW + 11));
	thread.id = 3;
	thread.anchors.rows.items[1].seen_last_ns = NOW + 20;
	thread.anchors.rows.items[0].seen_last_ns = NOW; /* and the caller does something else */
	assert_true(rests_fit(rests, number, &thread, NOW));
	assert_false(rests_fit(rests, number, &thread, NOW + 1));
	/* It is called again, and all its callers are known. */
	thread.id = 4;
	thread.anchors.rows.items[0].seen_last_ns = NOW + 20;
	thread.anchors.rows.items[1].seen_last_ns = NOW;
	assert_true(rests_fit(rests, number, &thread, NOW + 20));
	assert_false(rests_fit(rests, number, &thread, NOW + 21));
	rests_free(rests);
	release(&thread);
	(void)state;
}

static void all_are_forgotten_when_there_are_too_many(void **state)
{
	struct rests *rests = rests_new(1000);
	u32 kept = 0;

	while (!rests_forgotten(rests)) {
		assert_true(++kept < 1000);
		rests_keep(rests, kept, &rest);
	}
	assert_true(kept > 1);
	assert_int_equal(rests_find(rests, 1), 0);
	assert_true(rests_find(rests, kept));
	rests_free(rests);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rest_is_found_by_its_key),
		cmocka_unit_test(it_fits_threads_in_which_functions_are_where_they_were),
		cmocka_unit_test(one_without_registers_fits_everywhere),
		cmocka_unit_test(one_that_leads_to_the_start_is_seen_before_and_after),
		cmocka_unit_test(all_are_forgotten_when_there_are_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
