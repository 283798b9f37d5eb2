/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many CALLs lead to functions of this program, and from which others.
 */
#include "unit/lbr/own_facts.h"

/* `called` is called once by `one` and twice by `two`; `one` by `two`; `gone_on_in` by `three`, but
 * `going_on` has no end of its own. */
__asm__(".pushsection .text\n"
	"	.balign 16\n"
	"	.type called, @function\n"
	"called: ret\n"
	"	.size called, . - called\n"
	"	.balign 16\n"
	"	.type one, @function\n"
	"one:	call called\n"
	"	ret\n"
	"	.size one, . - one\n"
	"	.balign 16\n"
	"	.type two, @function\n"
	"two:	call called\n"
	"	call one\n"
	"	call called\n"
	"	ret\n"
	"	.size two, . - two\n"
	"	.balign 16\n"
	"	.type going_on, @function\n"
	"going_on:\n"
	"	xor %eax, %eax\n"
	"	.size going_on, . - going_on\n"
	"	.balign 16\n"
	"	.type gone_on_in, @function\n"
	"gone_on_in:\n"
	"	ret\n"
	"	.size gone_on_in, . - gone_on_in\n"
	"	.balign 16\n"
	"	.type three, @function\n"
	"three:	call gone_on_in\n"
	"	ret\n"
	"	.size three, . - three\n"
	".popsection\n");

static void calls_of_a_function_are_counted_from_all_others(void **state)
{
	assert_int_equal(code_facts_calls(*state, own_function(*state, "called")), 3);
	assert_int_equal(code_facts_calls(*state, own_function(*state, "one")), 1);
}

static void calls_of_a_function_are_counted_from_one(void **state)
{
	u64 entry = code_facts_entry(*state, own_function(*state, "called"));

	assert_int_equal(code_facts_calls_to(*state, own_function(*state, "two"), entry), 2);
	assert_int_equal(code_facts_calls_to(*state, own_function(*state, "one"), entry), 1);
	assert_int_equal(code_facts_calls_to(*state, own_function(*state, "called"), entry), 0);
}

static void a_function_that_another_one_goes_on_in_has_callers_unknown(void **state)
{
	assert_int_equal(code_facts_calls(*state, own_function(*state, "gone_on_in")),
			 CALLS_UNKNOWN);
}

static void the_only_call_is_known(void **state)
{
	u32 two = own_function(*state, "two");
	const struct code_facts *facts = *state;
	enum { CALL_BYTES = 5 };

	assert_int_equal(code_facts_only_call(*state, own_function(*state, "one")),
			 facts->functions.items[two].start + CALL_BYTES);
	assert_int_equal(code_facts_only_call(*state, own_function(*state, "called")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_a_function_are_counted_from_all_others),
		cmocka_unit_test(calls_of_a_function_are_counted_from_one),
		cmocka_unit_test(a_function_that_another_one_goes_on_in_has_callers_unknown),
		cmocka_unit_test(the_only_call_is_known),
	};

	return cmocka_run_group_tests(tests, own_facts_set_up, own_facts_tear_down);
}
