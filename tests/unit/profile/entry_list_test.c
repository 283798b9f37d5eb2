/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of the report: the tables of perf's own hists tests (facts 7.2 to 7.4), and the rules
 * behind them.
 */
#include "unit/unit.h"

#include "unit/profile/view.h"

static struct view cumulate(const struct wanted *wanted)
{
	return view_of(machine_cumulate, ARRAY_COUNT(machine_cumulate), 1000, wanted);
}

/* --- facts 7.2: hists_cumulate --- */

static void cumulate_without_children_without_chains(void **state)
{
	static const char *const expected[] = {
		"perf perf main 2000",		 "bash [kernel] page_fault 1000",
		"bash bash main 1000",		 "bash bash xmalloc 1000",
		"perf [kernel] page_fault 1000", "perf [kernel] schedule 1000",
		"perf libc free 1000",		 "perf libc malloc 1000",
		"perf perf cmd_record 1000",	 NULL,
	};
	struct view view = cumulate(&(struct wanted){0});

	assert_entries(view.list, expected);
	assert_int_equal(view.list->total_period, 10000);
	view_release(&view);
	(void)state;
}

static void cumulate_without_children_with_chains_orders_the_same(void **state)
{
	struct view bare = cumulate(&(struct wanted){0});
	struct view chains = cumulate(&(struct wanted){.shows_chains = true});
	char one[128], other[128];

	assert_int_equal(bare.list->entries.count, chains.list->entries.count);
	for (u32 i = 0; i < bare.list->entries.count; i++)
		assert_string_equal(entry_text(bare.list, i, one),
				    entry_text(chains.list, i, other));
	view_release(&bare);
	view_release(&chains);
	(void)state;
}

static void cumulate_with_children_without_chains(void **state)
{
	static const char *const expected[] = {
		"perf perf main 7000/2000",
		"perf perf run_command 5000/0",
		"bash bash main 3000/1000",
		"perf perf cmd_record 3000/1000",
		"bash libc malloc 2000/0",
		"bash [kernel] page_fault 1000/1000",
		"bash bash xmalloc 1000/1000",
		"perf [kernel] page_fault 1000/1000",
		"perf [kernel] schedule 1000/1000",
		"perf libc free 1000/1000",
		"perf libc malloc 1000/1000",
		"perf [kernel] sys_perf_event_open 1000/0",
		NULL,
	};
	struct view view = cumulate(&(struct wanted){.has_children = true});

	assert_entries(view.list, expected);
	view_release(&view);
	(void)state;
}

static void cumulate_with_children_and_chains_puts_callers_above(void **state)
{
	static const char *const expected[] = {
		"perf perf main 7000/2000",
		"perf perf run_command 5000/0",
		"bash bash main 3000/1000",
		"perf perf cmd_record 3000/1000",
		"bash libc malloc 2000/0",
		"bash [kernel] page_fault 1000/1000",
		"bash bash xmalloc 1000/1000",
		"perf [kernel] sys_perf_event_open 1000/0",
		"perf [kernel] page_fault 1000/1000",
		"perf [kernel] schedule 1000/1000",
		"perf libc free 1000/1000",
		"perf libc malloc 1000/1000",
		NULL,
	};
	struct view view = cumulate(&(struct wanted){.has_children = true, .shows_chains = true});

	assert_entries(view.list, expected);
	view_release(&view);
	(void)state;
}

/* The names from an end of the tree to its root: "malloc;xmalloc". */
static void write_chain(const struct view *view, const struct call_tree *tree, u32 end,
			char chain[256])
{
	char longer[256];

	*chain = 0;
	for (u32 at = end; at; at = tree->nodes.items[at].parent) {
		const struct call_node *node = &tree->nodes.items[at];

		for (u32 f = node->frame_count; f-- > 0;) {
			frame_id frame = tree->frames.items[node->first_frame + f];

			snprintf(longer, sizeof(longer), "%s%s%s",
				 fold_frame_name(view->fold, frame), *chain ? ";" : "", chain);
			strcpy(chain, longer);
		}
	}
}

/* The graph of an entry, one chain after the other: "malloc;xmalloc 500". */
static void assert_chains(struct view *view, const char *entry, const char *const *expected)
{
	struct call_graph_settings settings = CALL_GRAPH_DEFAULTS;
	struct call_tree *tree = NULL;
	char text[128];

	settings.type = CALL_GRAPH_FOLDED;
	for (u32 i = 0; i < view->list->entries.count; i++)
		if (!strncmp(entry_text(view->list, i, text), entry, strlen(entry)))
			tree = call_tree_new(view->list, view->list->sorted[i], &settings);
	assert_non_null(tree);
	for (u32 i = 0; i < tree->ends.count; i++) {
		char chain[256];

		write_chain(view, tree, tree->ends.items[i], chain);
		assert_non_null(expected[i]);
		assert_string_equal(chain, expected[i]);
	}
	assert_null(expected[tree->ends.count]);
	call_tree_free(tree);
}

static void cumulate_chains_are_what_remains_of_the_stacks(void **state)
{
	struct view view = cumulate(&(struct wanted){.has_children = true, .shows_chains = true});

	assert_chains(&view, "perf perf run_command",
		      (const char *const[]){"run_command;main", NULL});
	assert_chains(&view, "perf perf cmd_record",
		      (const char *const[]){"cmd_record;run_command;main", NULL});
	assert_chains(
		&view, "bash libc malloc",
		(const char *const[]){"malloc;xmalloc;malloc;xmalloc;main", "malloc;main", NULL});
	assert_chains(&view, "bash bash xmalloc",
		      (const char *const[]){"xmalloc;malloc;xmalloc;malloc;xmalloc;main", NULL});
	view_release(&view);
	(void)state;
}

static void a_graph_above_every_share_is_empty(void **state)
{
	struct call_graph_settings settings = CALL_GRAPH_DEFAULTS;
	struct view view = cumulate(&(struct wanted){.has_children = true, .shows_chains = true});
	struct call_tree *tree;

	settings.threshold_percent = 101;
	tree = call_tree_new(view.list, view.list->sorted[0], &settings);
	assert_int_equal(tree->nodes.items[0].child_count, 0);
	assert_int_equal(tree->ends.count, 0);
	call_tree_free(tree);
	view_release(&view);
	(void)state;
}

/* --- facts 7.3: hists_output --- */

struct output_case {
	const char *fields, *sort;
	const char *expected[12];
};

static void output_follows_fields_and_sort_keys(void **state)
{
	static const struct output_case cases[] = {
		{"overhead,cpu",
		 "pid",
		 {"1 100 300", "0 100 100", "2 100 100", "2 200 200", "0 300 100", "1 300 100",
		  "3 300 100"}},
		{"comm,overhead,dso",
		 NULL,
		 {"bash bash 200", "bash [kernel] 100", "perf perf 300", "perf [kernel] 200",
		  "perf libc 200"}},
		{"dso,sym,comm,overhead,dso",
		 "sym",
		 {"perf perf cmd_record 100", "perf libc free 100", "bash bash main 100",
		  "perf perf main 200", "perf libc malloc 100", "bash [kernel] page_fault 100",
		  "perf [kernel] page_fault 100", "perf [kernel] schedule 100",
		  "bash bash xmalloc 100"}},
		{"cpu,pid,comm,dso,sym",
		 "dso,pid",
		 {"0 100 perf [kernel] schedule 100", "2 200 perf [kernel] page_fault 100",
		  "1 300 bash [kernel] page_fault 100", "0 300 bash bash xmalloc 100",
		  "3 300 bash bash main 100", "1 100 perf libc malloc 100",
		  "2 100 perf libc free 100", "1 100 perf perf cmd_record 100",
		  "1 100 perf perf main 100", "2 200 perf perf main 100"}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct wanted wanted = {.fields = cases[i].fields, .sort = cases[i].sort};
		struct view view = view_of(machine_cumulate, ARRAY_COUNT(machine_cumulate), 100,
					   &wanted);

		assert_entries(view.list, cases[i].expected);
		view_release(&view);
	}
	(void)state;
}

/* --- facts 7.4: hists_filter --- */

static const struct machine_sample filter_samples[] = {
	{PERF1, 0, KERNEL + FIRST, {0}},  {PERF1, 0, PROGRAM + FIRST, {0}},
	{PERF1, 0, LIBC + FIRST, {0}},	  {PERF2, 0, PROGRAM + FIRST, {0}},
	{PERF2, 0, PROGRAM + THIRD, {0}}, {PERF2, 0, KERNEL + SECOND, {0}},
	{BASH, 0, PROGRAM + FIRST, {0}},  {BASH, 0, PROGRAM + SECOND, {0}},
	{BASH, 0, LIBC + FIRST, {0}},	  {BASH, 0, KERNEL + SECOND, {0}},
};

static void filters_leave_what_perf_leaves(void **state)
{
	static const char *const kernel[] = {"[kernel]"}, *const main_symbol[] = {"main"};
	const struct {
		struct wanted wanted;
		u64 samples;
		size_t entries;
		u64 period;
	} cases[] = {
		{{.is_relative = true}, 10, 9, 1000},
		{{.is_relative = true, .pid = BASH}, 4, 4, 400},
		{{.is_relative = true, .dsos = {kernel, 1}}, 3, 3, 300},
		{{.is_relative = true, .symbols = {main_symbol, 1}}, 3, 2, 300},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct view view = view_of(filter_samples, ARRAY_COUNT(filter_samples), 100,
					   &cases[i].wanted);

		assert_int_equal(view.list->all_samples, 10);
		assert_int_equal(view.list->all_period, 1000);
		assert_int_equal(view.list->shown_samples, cases[i].samples);
		assert_int_equal(view.list->entries.count, cases[i].entries);
		assert_int_equal(view.list->total_period, cases[i].period);
		view_release(&view);
	}
	(void)state;
}

/* The last row of that table: the entry that processes 100 and 200 share belongs to the first. */
static void an_entry_belongs_to_the_thread_that_made_it(void **state)
{
	static const char *const perf[] = {"perf"}, *const main_symbol[] = {"main"};
	struct wanted wanted = {.dsos = {perf, 1}, .symbols = {main_symbol, 1}};
	struct view view = view_of(filter_samples, ARRAY_COUNT(filter_samples), 100, &wanted);
	const struct entry *entry = view.list->entries.items;

	assert_int_equal(view.list->entries.count, 1);
	assert_int_equal(view.profile->threads.items[entry->thread].tid, PERF1);
	assert_int_equal(entry->samples, 2);
	assert_int_equal(entry->period, 200);
	view_release(&view);
	(void)state;
}

/* Unlike perf, --pid looks at the sample and not at the entry. */
static void a_process_filter_counts_only_its_samples(void **state)
{
	struct wanted wanted = {.pid = PERF2};
	struct view view = view_of(filter_samples, ARRAY_COUNT(filter_samples), 100, &wanted);

	assert_int_equal(view.list->shown_samples, 3);
	assert_int_equal(view.list->entries.count, 3);
	assert_int_equal(view.list->total_period, 1000);
	view_release(&view);
	(void)state;
}

/* --- rules --- */

/* main calls bar calls foo; bar itself 40, foo 60. */
static const struct machine_sample main_bar_foo[] = {
	{PERF1, 0, PROGRAM + SECOND, {PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 0, PROGRAM + SECOND, {PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 0, PROGRAM + THIRD, {PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 0, PROGRAM + THIRD, {PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 0, PROGRAM + THIRD, {PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
};

static void a_caller_has_what_its_callees_used(void **state)
{
	struct view view = view_of(
		main_bar_foo, ARRAY_COUNT(main_bar_foo), 20,
		&(struct wanted){.sort = "sym", .has_children = true, .shows_chains = true});

	assert_entries(view.list, (const char *const[]){"main 100/0", "run_command 100/40",
							"cmd_record 60/60", NULL});
	view_release(&view);
	(void)state;
}

static void coarse_keys_count_a_sample_once(void **state)
{
	struct view view = cumulate(&(struct wanted){.sort = "dso", .has_children = true});

	assert_entries(view.list,
		       (const char *const[]){"perf 7000/3000", "libc 4000/2000",
					     "[kernel] 3000/3000", "bash 3000/2000", NULL});
	view_release(&view);
	(void)state;
}

static void a_sample_whose_chain_begins_elsewhere_counts_for_both(void **state)
{
	static const struct machine_sample sample = {
		PERF1, 0, PROGRAM + THIRD, {PROGRAM + SECOND, PROGRAM + FIRST}};
	struct view view = view_of(&sample, 1, 10,
				   &(struct wanted){.sort = "sym", .has_children = true});

	assert_entries(view.list, (const char *const[]){"cmd_record 10/10", "main 10/0",
							"run_command 10/0", NULL});
	view_release(&view);
	(void)state;
}

static void max_stack_keeps_the_outermost_frames_in_caller_order(void **state)
{
	static const struct machine_sample sample = {
		PERF1, 0, PROGRAM + THIRD, {PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}};
	struct wanted wanted = {
		.sort = "sym", .has_children = true, .max_stack = 1, .order = CALLER_FIRST};
	struct view view = view_of(&sample, 1, 10, &wanted);

	assert_entries(view.list, (const char *const[]){"cmd_record 10/10", "main 10/0", NULL});
	view_release(&view);
	wanted.order = CALLEE_FIRST;
	view = view_of(&sample, 1, 10, &wanted);
	assert_entries(view.list, (const char *const[]){"cmd_record 10/10", NULL});
	view_release(&view);
	(void)state;
}

static void a_filtered_caller_shows_what_passed_through_it(void **state)
{
	static const char *const names[] = {"run_command"};
	struct wanted wanted = {.sort = "sym", .has_children = true, .symbols = {names, 1}};
	struct view view = cumulate(&wanted);

	assert_entries(view.list, (const char *const[]){"run_command 5000/0", NULL});
	assert_int_equal(view.list->total_period, 10000);
	view_release(&view);
	(void)state;
}

static void relative_shares_never_exceed_the_whole(void **state)
{
	static const char *const names[] = {"libc"};
	struct wanted wanted = {
		.sort = "dso,sym", .has_children = true, .is_relative = true, .dsos = {names, 1}};
	struct view view = cumulate(&wanted);

	assert_true(view.list->entries.count > 0);
	for (size_t i = 0; i < view.list->entries.count; i++)
		assert_true(view.list->entries.items[i].children_period <= view.list->total_period);
	assert_int_equal(view.list->total_period, 4000);
	view_release(&view);
	(void)state;
}

static void equal_entries_of_a_recursion_stand_by_depth(void **state)
{
	/* facts 5.2: leaf <- rec <- bar <- main, one sample */
	static const struct machine_sample sample = {
		BASH,
		0,
		LIBC + FIRST,
		{LIBC + FIRST, PROGRAM + SECOND, PROGRAM + THIRD, PROGRAM + FIRST}};
	struct wanted wanted = {
		.sort = "sym", .has_children = true, .shows_chains = true, .order = CALLER_FIRST};
	struct view view = view_of(&sample, 1, 1, &wanted);

	assert_entries(view.list, (const char *const[]){"malloc 1/1", "main 1/0", "xfree 1/0",
							"xmalloc 1/0", NULL});
	view_release(&view);
	wanted.order = CALLEE_FIRST;
	view = view_of(&sample, 1, 1, &wanted);
	assert_entries(view.list, (const char *const[]){"main 1/0", "xfree 1/0", "xmalloc 1/0",
							"malloc 1/1", NULL});
	view_release(&view);
	wanted.shows_chains = false;
	view = view_of(&sample, 1, 1, &wanted);
	assert_entries(view.list, (const char *const[]){"malloc 1/1", "main 1/0", "xfree 1/0",
							"xmalloc 1/0", NULL});
	view_release(&view);
	(void)state;
}

/* perf compares floats: what is equal there is equal in every form of the report. */
static void a_share_is_reached_to_a_float_s_digits(void **state)
{
	struct view own = cumulate(&(struct wanted){0});
	struct view whole = cumulate(&(struct wanted){.has_children = true});
	const struct entry *main_row = &whole.list->entries.items[whole.list->sorted[0]];
	const struct entry *own_row = &own.list->entries.items[own.list->sorted[0]];

	assert_int_equal(entry_whole_period(whole.list, main_row), 7000);
	assert_true(entry_reaches(whole.list, main_row, 70.0000001));
	assert_false(entry_reaches(whole.list, main_row, 70.0001));
	assert_int_equal(entry_whole_period(own.list, own_row), 2000);
	assert_true(entry_reaches(own.list, own_row, 20));
	assert_false(entry_reaches(own.list, own_row, 20.0001));
	view_release(&own);
	view_release(&whole);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cumulate_without_children_without_chains),
		cmocka_unit_test(cumulate_without_children_with_chains_orders_the_same),
		cmocka_unit_test(cumulate_with_children_without_chains),
		cmocka_unit_test(cumulate_with_children_and_chains_puts_callers_above),
		cmocka_unit_test(cumulate_chains_are_what_remains_of_the_stacks),
		cmocka_unit_test(a_graph_above_every_share_is_empty),
		cmocka_unit_test(output_follows_fields_and_sort_keys),
		cmocka_unit_test(filters_leave_what_perf_leaves),
		cmocka_unit_test(an_entry_belongs_to_the_thread_that_made_it),
		cmocka_unit_test(a_process_filter_counts_only_its_samples),
		cmocka_unit_test(a_caller_has_what_its_callees_used),
		cmocka_unit_test(coarse_keys_count_a_sample_once),
		cmocka_unit_test(a_sample_whose_chain_begins_elsewhere_counts_for_both),
		cmocka_unit_test(max_stack_keeps_the_outermost_frames_in_caller_order),
		cmocka_unit_test(a_filtered_caller_shows_what_passed_through_it),
		cmocka_unit_test(relative_shares_never_exceed_the_whole),
		cmocka_unit_test(equal_entries_of_a_recursion_stand_by_depth),
		cmocka_unit_test(a_share_is_reached_to_a_float_s_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
