/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The space for unwind tables: no word is handed out twice, none gets lost.
 */
#include "capture/word_space.h"
#include "unit/unit.h"

#include <string.h>

static void runs_lie_behind_one_another_from_the_start(void **state)
{
	struct word_space space = {0};
	u32 first = 7;

	word_space_grow(&space, 100);
	assert_true(word_space_take(&space, 12, &first));
	assert_int_equal(first, 0);
	assert_true(word_space_take(&space, 12, &first));
	assert_int_equal(first, 12);
	assert_int_equal(space.unused.items[0].count, 76);
	word_space_release(&space);
	(void)state;
}

static void every_run_begins_where_a_rule_may_lie(void **state)
{
	struct word_space space = {0};
	u32 first;

	word_space_grow(&space, 100);
	for (u32 count = 1; count < 10; count++) {
		assert_true(word_space_take(&space, count, &first));
		assert_int_equal(first % UNWIND_RULE_WORDS, 0);
	}
	word_space_release(&space);
	(void)state;
}

static void what_is_given_back_rests_before_it_is_used_again(void **state)
{
	struct word_space space = {0};
	u32 first;

	word_space_grow(&space, 40);
	assert_true(word_space_take(&space, 40, &first));
	word_space_give(&space, first, 40, 1000);
	assert_false(word_space_take(&space, 4, &first));
	assert_false(word_space_wake(&space, 999));
	assert_false(word_space_take(&space, 4, &first));
	assert_true(word_space_wake(&space, 1000));
	assert_true(word_space_take(&space, 40, &first));
	assert_int_equal(first, 0);
	word_space_release(&space);
	(void)state;
}

static void neighbours_become_one_run(void **state)
{
	static const u32 orders[][3] = {{0, 16, 32}, {32, 16, 0}, {0, 32, 16}, {16, 0, 32}};
	u32 first;

	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		struct word_space space = {0};

		word_space_grow(&space, 48);
		for (u32 taken = 0; taken < 3; taken++)
			assert_true(word_space_take(&space, 16, &first));
		for (u32 given = 0; given < 3; given++)
			word_space_give(&space, orders[i][given], 16, 0);
		assert_true(word_space_wake(&space, 0));
		assert_true(word_space_take(&space, 48, &first));
		word_space_release(&space);
	}
	(void)state;
}

static void growing_counts_what_is_free_at_the_end(void **state)
{
	struct word_space space = {0};
	u32 first;

	assert_int_equal(word_space_missing(&space, 40), 40);
	word_space_grow(&space, 64);
	assert_true(word_space_take(&space, 40, &first));
	assert_int_equal(word_space_missing(&space, 24), 0);
	assert_int_equal(word_space_missing(&space, 42), 20);
	word_space_grow(&space, 64);
	assert_true(word_space_take(&space, 44, &first));
	assert_int_equal(first, 40); /* over the edge between the two */
	word_space_release(&space);
	(void)state;
}

enum { SPACE_WORDS = 4096, TURNS = 20000, HELD_MAX = 64 };

/* The next of a row of numbers without a pattern, the same in each run. */
static u32 next_number(u32 *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void no_word_is_handed_out_twice_and_none_is_lost(void **state)
{
	CLEANUP(word_space_release) struct word_space space = {0};
	struct word_run held[HELD_MAX] = {{0}};
	u8 owners[SPACE_WORDS] = {0};
	u32 seed = 1, taken = 0, first;

	word_space_grow(&space, SPACE_WORDS);
	for (u32 turn = 0; turn < TURNS; turn++) {
		struct word_run *run = &held[next_number(&seed) % HELD_MAX];
		u32 count = next_number(&seed) % 200 + 1;

		if (run->count) {
			memset(owners + run->first, 0, run->count);
			word_space_give(&space, run->first, run->count, turn);
			run->count = 0;
		} else if (word_space_take(&space, count, &first)) {
			assert_true(first + count <= SPACE_WORDS);
			for (u32 i = 0; i < count; i++)
				assert_int_equal(owners[first + i]++, 0);
			*run = (struct word_run){first, count};
			taken++;
		}
		word_space_wake(&space, turn);
	}
	for (u32 i = 0; i < HELD_MAX; i++)
		if (held[i].count)
			word_space_give(&space, held[i].first, held[i].count, TURNS);
	word_space_wake(&space, TURNS);
	assert_int_equal(space.unused.count, 1);
	assert_int_equal(space.unused.items[0].count, SPACE_WORDS);
	assert_true(taken > TURNS / 4);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_lie_behind_one_another_from_the_start),
		cmocka_unit_test(every_run_begins_where_a_rule_may_lie),
		cmocka_unit_test(what_is_given_back_rests_before_it_is_used_again),
		cmocka_unit_test(neighbours_become_one_run),
		cmocka_unit_test(growing_counts_what_is_free_at_the_end),
		cmocka_unit_test(no_word_is_handed_out_twice_and_none_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
