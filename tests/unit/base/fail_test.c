/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sentence of the last error.
 */
#include "base/fail.h"
#include "unit/unit.h"

#include <errno.h>

static void a_sentence_says_what_why_and_what_to_do(void **state)
{
	assert_int_equal(fail(-EACCES, "run as root", "cannot open %s", "perf events"), -EACCES);
	assert_string_equal(fail_sentence(),
			    "cannot open perf events: Permission denied; run as root");
	(void)state;
}

static void a_goal_goes_in_front(void **state)
{
	int error = fail_plain(-EINVAL, NULL, "'x' is not a number");

	assert_int_equal(fail_while(error, "option -F"), -EINVAL);
	assert_string_equal(fail_sentence(), "option -F: 'x' is not a number");
	(void)state;
}

static void a_goal_without_a_sentence_takes_the_systems_reason(void **state)
{
	fail_clear();
	assert_int_equal(fail_while(-ENOENT, "reading maps"), -ENOENT);
	assert_string_equal(fail_sentence(), "reading maps: No such file or directory");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sentence_says_what_why_and_what_to_do),
		cmocka_unit_test(a_goal_goes_in_front),
		cmocka_unit_test(a_goal_without_a_sentence_takes_the_systems_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
