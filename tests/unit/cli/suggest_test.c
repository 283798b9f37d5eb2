/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The word that a person may have meant.
 */
#include "cli/options.h"
#include "unit/unit.h"

static const char *const names[] = {"record", "report", "script", "check", "freq", NULL};

static void a_slip_of_the_finger_is_near(void **state)
{
	assert_string_equal(nearest_name("reocrd", names), "record");
	assert_string_equal(nearest_name("repotr", names), "report");
	assert_string_equal(nearest_name("scrpt", names), "script");
	assert_string_equal(nearest_name("chekc", names), "check");
	(void)state;
}

static void the_nearer_of_two_wins(void **state)
{
	assert_string_equal(nearest_name("repoort", names), "report");
	assert_string_equal(nearest_name("recoord", names), "record");
	(void)state;
}

static void a_beginning_and_a_longer_form_are_near(void **state)
{
	assert_string_equal(nearest_name("scr", names), "script");
	assert_string_equal(nearest_name("frequency", names), "freq");
	(void)state;
}

static void another_word_is_not_near(void **state)
{
	static const char *const none[] = {NULL};
	char endless[1000] = {0};

	assert_null(nearest_name("diff", names));
	assert_null(nearest_name("", names));
	assert_null(nearest_name("record", none));
	for (size_t i = 0; i + 1 < sizeof(endless); i++)
		endless[i] = 'r';
	assert_null(nearest_name(endless, names));
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_of_the_finger_is_near),
		cmocka_unit_test(the_nearer_of_two_wins),
		cmocka_unit_test(a_beginning_and_a_longer_form_are_near),
		cmocka_unit_test(another_word_is_not_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
