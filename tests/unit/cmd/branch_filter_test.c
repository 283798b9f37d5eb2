/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of branches to record, as in perf record -j.
 */
#include "base/fail.h"
#include "cmd/branch_filter.h"
#include "unit/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

static void names_are_or_ed(void **state)
{
	u64 bits = 0;

	assert_int_equal(branch_filter_parse("any_call,any_ret,u,no_cycles,hw_index", &bits), 0);
	assert_int_equal(bits, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN |
				       PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_NO_CYCLES |
				       PERF_SAMPLE_BRANCH_HW_INDEX);
	assert_int_equal(branch_filter_parse("any", &bits), 0);
	assert_int_equal(bits, PERF_SAMPLE_BRANCH_ANY);
	(void)state;
}

static void names_that_say_only_whose_branches_mean_any_of_theirs(void **state)
{
	u64 bits = 0;

	assert_int_equal(branch_filter_parse("u,k", &bits), 0);
	assert_int_equal(bits, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
				       PERF_SAMPLE_BRANCH_ANY);
	(void)state;
}

static void unknown_names_are_refused_and_the_nearest_is_named(void **state)
{
	static const char *const texts[] = {"", "u,", ",u", "any call", "ANY", "counter", "u,,k"};
	u64 bits = 7;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(branch_filter_parse(texts[i], &bits), -EINVAL);
	assert_int_equal(branch_filter_parse("any_calls", &bits), -EINVAL);
	assert_non_null(strstr(fail_sentence(), "did you mean any_call?"));
	assert_int_equal(bits, 7);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_or_ed),
		cmocka_unit_test(names_that_say_only_whose_branches_mean_any_of_theirs),
		cmocka_unit_test(unknown_names_are_refused_and_the_nearest_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
