/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns over stacks: parents, ignored callees, code without name. */
#include "unit/profile/view.h"

static struct view counted(const char *sort)
{
	const struct wanted wanted = {.sort = sort, .shows_chains = true};

	return view_of(machine_cumulate, ARRAY_COUNT(machine_cumulate), 1000, &wanted);
}

/* The lines once more, after the fold has changed. */
static void list_again(struct view *view, const char *sort)
{
	const struct wanted wanted = {.sort = sort, .shows_chains = true};

	entry_list_free(view->list);
	view->list = list_of(view->fold, &wanted);
}

static void assert_parents(const struct view *view, const char *const *expected)
{
	u32 count = 0;

	for (; expected[count]; count++) {
		const struct entry *entry = &view->list->entries.items[view->list->sorted[count]];
		u64 parent = entry_detail(view->list, entry, FIELD_PARENT);
		char text[64];

		assert_true(count < view->list->entries.count);
		snprintf(text, sizeof(text), "%s %lu",
			 parent ? profile_text(view->profile, (string_id)parent) : "[other]",
			 (unsigned long)entry->period);
		assert_string_equal(text, expected[count]);
	}
	assert_int_equal(view->list->entries.count, count);
}

static void a_parent_is_the_first_match_in_order(void **state)
{
	static const struct {
		enum chain_order order;
		u32 max_stack;
		const char *parents[4];
	} cases[] = {
		{CALLEE_FIRST, 0, {"main 5000", "cmd_record 3000", "run_command 2000"}},
		{CALLER_FIRST, 0, {"main 10000"}},
		{CALLEE_FIRST, 1, {"[other] 6000", "main 3000", "cmd_record 1000"}},
	};
	regex_t pattern;

	assert_int_equal(regcomp(&pattern, "^main$|^cmd_|^run_", REG_EXTENDED | REG_NOSUB), 0);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct view view = counted("parent");

		callers_set_parents(view.fold, view.profile, &pattern, cases[i].order,
				    cases[i].max_stack);
		list_again(&view, "parent");
		assert_parents(&view, cases[i].parents);
		view_release(&view);
	}
	regfree(&pattern);
	(void)state;
}

static void ignored_callees_count_for_the_outermost_match(void **state)
{
	static const char *const lines[] = {"perf run_command 5000", "bash xmalloc 1000",
					    "bash main 1000",	     "bash page_fault 1000",
					    "perf main 2000",	     NULL};
	struct view view = counted("comm,sym");
	regex_t pattern;
	u32 seen = 0;
	char text[128];

	assert_int_equal(regcomp(&pattern, "^run_command$|^xmalloc$", REG_EXTENDED | REG_NOSUB), 0);
	callers_ignore_callees(view.fold, &pattern);
	list_again(&view, "comm,sym");
	for (u32 line = 0; line < view.list->entries.count; line++)
		for (u32 k = 0; lines[k]; k++)
			seen += !strcmp(entry_text(view.list, line, text), lines[k]);
	assert_int_equal(seen, 5);
	assert_int_equal(view.list->entries.count, 5);
	regfree(&pattern);
	view_release(&view);
	(void)state;
}

static void code_without_name_leaves_rows_and_stacks(void **state)
{
	enum { UNNAMED = PROGRAM + 0x5000 };
	static const struct machine_sample samples[] = {
		{PERF1, 0, LIBC + FIRST, {LIBC + FIRST, UNNAMED, PROGRAM + FIRST}},
		{PERF1, 0, UNNAMED, {UNNAMED, PROGRAM + FIRST}},
	};
	static const char *const lines[] = {"libc malloc 7/7", "perf main 7/0", NULL};
	const struct wanted wanted = {.sort = "dso,sym", .has_children = true};
	struct view view = view_of(samples, ARRAY_COUNT(samples), 7, &wanted);

	callers_hide_unnamed(view.fold);
	entry_list_free(view.list);
	view.list = list_of(view.fold, &wanted);
	assert_entries(view.list, lines);
	assert_int_equal(view.list->all_period, 7);
	view_release(&view);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_parent_is_the_first_match_in_order),
		cmocka_unit_test(ignored_callees_count_for_the_outermost_match),
		cmocka_unit_test(code_without_name_leaves_rows_and_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
