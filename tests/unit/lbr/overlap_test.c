/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the registers hold laid on what they held: where, how far, and what chance does.
 */
#include "lbr/overlap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { DEPTH = 8 };

/* The calls of a stack that is `calls` deep, of which the newest `held` are in registers: call n is
 * in register n, and leads from 10 n to 10 n + 1. */
static struct snapshot snapshot_of(struct branch *entries, u32 calls, u32 held)
{
	for (u32 i = 0; i < held; i++)
		entries[i] = (struct branch){.from = 10ULL * (calls - i),
					     .to = 10ULL * (calls - i) + 1};
	return (struct snapshot){
		.entries = entries, .entry_count = held, .hw_idx = calls % DEPTH, .depth = DEPTH};
}

static struct window window_of(u32 calls, u32 held)
{
	struct branch entries[DEPTH];
	const struct snapshot snapshot = snapshot_of(entries, calls, held);
	struct window window;

	window_keep(&window, &snapshot);
	return window;
}

static void deeper_stacks_agree_from_their_oldest_register_on(void **state)
{
	const struct window before = window_of(10, DEPTH);
	struct branch entries[DEPTH];
	const struct snapshot now = snapshot_of(entries, 13, DEPTH);
	const struct overlap overlap = overlap_find(&before, &now);

	assert_true(overlap.is_held);
	assert_int_equal(overlap.at, 4);
	assert_int_equal(overlap.calls, 5);
	assert_int_equal(overlap.different, 5);
	assert_false(overlap.is_oldest);
	assert_false(overlap.is_split);
	assert_true(overlap.is_by_rule);
	(void)state;
}

static void stacks_split_where_another_call_is_in_a_register(void **state)
{
	const struct window before = window_of(7, 5);
	struct branch entries[DEPTH];
	const struct snapshot now = snapshot_of(entries, 6, 4);
	struct overlap overlap;

	entries[1].to++;
	overlap = overlap_find(&before, &now);
	assert_int_equal(overlap.calls, 2);
	assert_true(overlap.is_oldest);
	assert_true(overlap.is_split);
	(void)state;
}

static void equal_calls_are_counted_once(void **state)
{
	struct branch entries[DEPTH];
	const struct snapshot now = snapshot_of(entries, 6, 4);
	struct window before;
	struct overlap overlap;

	for (u32 i = 1; i < 4; i++)
		entries[i] = entries[0];
	window_keep(&before, &now);
	overlap = overlap_find(&before, &now);
	assert_int_equal(overlap.calls, 4);
	assert_int_equal(overlap.different, 1);
	(void)state;
}

/* perf 6.1 finds nothing where one call is common to both, or numbers have gone round since. */
static void what_perf_misses_is_said(void **state)
{
	const struct window before = window_of(10, DEPTH), low = window_of(9, 4);
	struct branch entries[DEPTH];
	struct snapshot now = snapshot_of(entries, 17, DEPTH);
	struct overlap overlap = overlap_find(&before, &now);

	assert_int_equal(overlap.calls, 1);
	assert_false(overlap.is_by_rule);

	now = snapshot_of(entries, 7, 2);
	overlap = overlap_find(&low, &now);
	assert_int_equal(overlap.calls, 2);
	assert_false(overlap.is_by_rule);
	(void)state;
}

static void registers_without_numbers_hold_nothing(void **state)
{
	const struct window before = window_of(10, DEPTH);
	struct branch entries[DEPTH];
	struct snapshot now = snapshot_of(entries, 10, DEPTH);
	struct window window;

	now.hw_idx = ~0ULL;
	window_keep(&window, &now);
	assert_int_equal(window.count, 0);
	assert_false(overlap_find(&before, &now).is_held);
	(void)state;
}

/* Half of those that disagree far apart disagree in neighbours: so do half of those that agree. */
static void chance_suffices_where_those_far_apart_agree_as_often(void **state)
{
	const struct overlap agreeing = {
		.calls = 3, .different = 1, .is_held = true, .is_split = true};
	const struct overlap other = {
		.calls = 3, .different = 3, .is_held = true, .is_split = true};
	const struct overlap never = {.is_held = true};
	struct chances chances = {0};

	assert_false(chances_suffice(&chances, &agreeing));
	for (int i = 0; i < 20; i++) {
		agreements_count(&chances.next, &agreeing);
		agreements_count(&chances.next, &other);
		agreements_count(&chances.later, &agreeing);
		agreements_count(&chances.later, &agreeing);
		agreements_count(&chances.next, &never);
		agreements_count(&chances.later, &never);
		agreements_count(&chances.later, &never);
	}
	assert_true(chances_suffice(&chances, &agreeing));
	assert_false(chances_suffice(&chances, &other));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deeper_stacks_agree_from_their_oldest_register_on),
		cmocka_unit_test(stacks_split_where_another_call_is_in_a_register),
		cmocka_unit_test(equal_calls_are_counted_once),
		cmocka_unit_test(what_perf_misses_is_said),
		cmocka_unit_test(registers_without_numbers_hold_nothing),
		cmocka_unit_test(chance_suffices_where_those_far_apart_agree_as_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
