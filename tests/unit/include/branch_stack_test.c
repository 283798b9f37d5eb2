/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many entries of a branch stack are taken, and how they lie in a record.
 */
#include "bpfprof/branch_stack.h"
#include "unit/unit.h"

static void a_stack_within_the_registers_is_taken_whole(void **state)
{
	for (u32 count = 0; count <= 32; count++) {
		assert_int_equal(branch_stack_judge(count, 32), BRANCHES_WHOLE);
		assert_int_equal(branch_stack_taken(count, 32), count);
	}
	(void)state;
}

static void a_stack_beyond_the_registers_is_cut_to_them(void **state)
{
	static const u64 counts[] = {33, 40, 64, 65, BRANCH_STACK_BELIEVED};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assert_int_equal(branch_stack_judge(counts[i], 32), BRANCHES_TRUNCATED);
		assert_int_equal(branch_stack_taken(counts[i], 32), 32);
	}
	assert_int_equal(branch_stack_taken(65, 1000), BRANCH_STACK_MAX);
	(void)state;
}

static void nothing_is_taken_of_what_is_no_stack(void **state)
{
	static const u64 counts[] = {BRANCH_STACK_BELIEVED + 1, 1ULL << 32, 1ULL << 63, ~0ULL};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assert_int_equal(branch_stack_judge(counts[i], 32), BRANCHES_GARBAGE);
		assert_int_equal(branch_stack_taken(counts[i], 32), 0);
	}
	(void)state;
}

static void a_machine_that_does_not_say_its_depth_gets_the_most(void **state)
{
	assert_int_equal(branch_stack_depth(0), BRANCH_STACK_MAX);
	assert_int_equal(branch_stack_depth(1), 1);
	assert_int_equal(branch_stack_depth(32), 32);
	assert_int_equal(branch_stack_depth(BRANCH_STACK_MAX + 1), BRANCH_STACK_MAX);
	assert_int_equal(branch_stack_depth(~0ULL), BRANCH_STACK_MAX);
	(void)state;
}

static void the_words_of_every_stack_fit_a_byte_and_are_whole(void **state)
{
	for (u32 entries = 0; entries <= BRANCH_STACK_MAX; entries++) {
		u32 words = branch_stack_words(entries);

		assert_true(words && words <= UINT8_MAX);
		assert_true(branch_stack_is_whole(words));
		assert_false(branch_stack_is_whole(words + 1));
		assert_false(branch_stack_is_whole(words + 2));
	}
	assert_false(branch_stack_is_whole(0));
	assert_false(branch_stack_is_whole(branch_stack_words(BRANCH_STACK_MAX + 1)));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_within_the_registers_is_taken_whole),
		cmocka_unit_test(a_stack_beyond_the_registers_is_cut_to_them),
		cmocka_unit_test(nothing_is_taken_of_what_is_no_stack),
		cmocka_unit_test(a_machine_that_does_not_say_its_depth_gets_the_most),
		cmocka_unit_test(the_words_of_every_stack_fit_a_byte_and_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
