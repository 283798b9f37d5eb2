/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words of -g, -s and -F.
 */
#include "unit/unit.h"

#include "base/fail.h"
#include "profile/profile.h"

#include <errno.h>
#include <string.h>

static void words_may_come_in_any_order_and_short(void **state)
{
	struct call_graph_settings settings = CALL_GRAPH_DEFAULTS;

	assert_int_equal(call_graph_parse("caller,frac,2.5,count,3,addr", &settings), 0);
	assert_int_equal(settings.type, CALL_GRAPH_FRACTAL);
	assert_int_equal(settings.order, CALLER_FIRST);
	assert_true(settings.order_is_set);
	assert_true(settings.threshold_percent == 2.5);
	assert_int_equal(settings.print_limit, 3);
	assert_int_equal(settings.key, FOLD_BY_ADDRESS);
	assert_int_equal(settings.value, CALL_COUNT);
	(void)state;
}

static void an_unknown_word_changes_nothing_and_gets_a_suggestion(void **state)
{
	struct call_graph_settings settings = CALL_GRAPH_DEFAULTS;

	assert_int_equal(call_graph_parse("caller,fractel", &settings), -EINVAL);
	assert_int_equal(settings.order, CALLEE_FIRST);
	assert_string_equal(fail_sentence(),
			    "call graph: no such word: fractel; did you mean \"fractal\"?");
	(void)state;
}

static void a_negative_threshold_is_refused(void **state)
{
	struct call_graph_settings settings = CALL_GRAPH_DEFAULTS;

	assert_int_equal(call_graph_parse("graph,-1", &settings), -EINVAL);
	assert_int_equal(call_graph_parse("graph,1,-2", &settings), -EINVAL);
	assert_int_equal(call_graph_parse("graph,nan", &settings), -EINVAL);
	(void)state;
}

static void config_values_are_of_their_own_part(void **state)
{
	struct call_graph_settings settings = CALL_GRAPH_DEFAULTS;

	assert_int_equal(call_graph_config("order", "caller", &settings), 0);
	assert_int_equal(settings.order, CALLER_FIRST);
	assert_int_equal(call_graph_config("order", "graph", &settings), -EINVAL);
	assert_int_equal(call_graph_config("print-limit", "7", &settings), 0);
	assert_int_equal(settings.print_limit, 7);
	assert_int_equal(call_graph_config("record-mode", "fp", &settings), 0);
	(void)state;
}

static int parse_layout(const char *sort, const char *fields, struct entry_layout *layout)
{
	return entry_layout_parse(&(struct entry_layout_settings){.sort = sort, .fields = fields},
				  layout);
}

static void a_plus_adds_to_the_default_keys(void **state)
{
	struct entry_layout layout;

	assert_int_equal(parse_layout("+cpu", NULL, &layout), 0);
	assert_true(entry_layout_has_key(&layout, FIELD_COMM));
	assert_true(entry_layout_has_key(&layout, FIELD_SYMBOL));
	assert_true(entry_layout_has_key(&layout, FIELD_CPU));
	(void)state;
}

static void a_key_of_perf_that_is_missing_is_refused_by_name(void **state)
{
	struct entry_layout layout;

	assert_int_equal(parse_layout("dso,ipc_lbr", NULL, &layout), -EINVAL);
	assert_string_equal(fail_sentence(),
			    "-s ipc_lbr: perf's \"ipc_lbr\" is not supported; use --total-cycles");
	(void)state;
}

static void an_unknown_key_gets_the_nearest(void **state)
{
	struct entry_layout layout;

	assert_int_equal(parse_layout("symbl", NULL, &layout), -EINVAL);
	assert_string_equal(fail_sentence(), "-s symbl: no such field; did you mean \"symbol\"?");
	assert_int_equal(parse_layout(NULL, "overhaed", &layout), -EINVAL);
	assert_string_equal(fail_sentence(),
			    "-F overhaed: no such field; did you mean \"overhead\"?");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_may_come_in_any_order_and_short),
		cmocka_unit_test(an_unknown_word_changes_nothing_and_gets_a_suggestion),
		cmocka_unit_test(a_negative_threshold_is_refused),
		cmocka_unit_test(config_values_are_of_their_own_part),
		cmocka_unit_test(a_plus_adds_to_the_default_keys),
		cmocka_unit_test(a_key_of_perf_that_is_missing_is_refused_by_name),
		cmocka_unit_test(an_unknown_key_gets_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
