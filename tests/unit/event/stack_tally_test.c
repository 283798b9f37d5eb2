/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How stacks were walked and why they ended, summed and in words. */
#include "unit/unit.h"

#include "base/memory.h"
#include "event/event.h"

static void every_stack_is_in_one_end_and_one_walk(void **state)
{
	static const struct sample samples[] = {
		{.cut = CUT_COMPLETE, .walked = WALK_EH_FRAME},
		{.cut = CUT_COMPLETE, .walked = WALK_EH_FRAME | WALK_FRAME_POINTER},
		{.cut = CUT_TOO_DEEP, .walked = WALK_EH_FRAME},
		{.cut = CUT_UNKNOWN, .walked = WALK_KERNEL},
	};
	struct stack_tally tally = {0};

	for (size_t i = 0; i < ARRAY_COUNT(samples); i++)
		stack_tally_add(&tally, &samples[i]);
	assert_int_equal(stack_tally_count(&tally), ARRAY_COUNT(samples));
	assert_int_equal(tally.ends[CUT_COMPLETE], 2);
	assert_int_equal(tally.ends[CUT_TOO_DEEP], 1);
	assert_int_equal(tally.ends[CUT_UNKNOWN], 1);
	assert_int_equal(tally.walks[WALK_EH_FRAME], 2);
	assert_int_equal(tally.walks[WALK_EH_FRAME | WALK_FRAME_POINTER], 1);
	assert_int_equal(tally.walks[WALK_KERNEL], 1);
	(void)state;
}

static void samples_without_user_stack_are_not_counted(void **state)
{
	struct stack_tally tally = {0};

	stack_tally_add(&tally, &(struct sample){.cut = CUT_NONE});
	stack_tally_add(&tally, &(struct sample){.cut = CUT_UNKNOWN}); /* a recording of perf */
	assert_int_equal(stack_tally_count(&tally), 0);
	(void)state;
}

static void values_of_a_later_version_have_words_too(void **state)
{
	struct stack_tally tally = {0};

	stack_tally_add(&tally, &(struct sample){.cut = 15, .walked = 31});
	assert_int_equal(stack_tally_count(&tally), 1);
	for (u32 value = 0; value < 256; value++) {
		assert_true(*stack_end_words((u8)value));
		assert_true(*stack_walk_words((u8)value));
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stack_is_in_one_end_and_one_walk),
		cmocka_unit_test(samples_without_user_stack_are_not_counted),
		cmocka_unit_test(values_of_a_later_version_have_words_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
