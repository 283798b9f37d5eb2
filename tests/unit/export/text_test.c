/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report as text: layouts as perf 6.1 printed them (facts 5.4), and what a stranger's names may
 * not do.
 */
#include "unit/unit.h"

#include "export/export.h"
#include "unit/profile/machine.h"

#include <stdio.h>

/* main <- bar <- foo, as in the machine: main, run_command, cmd_record; 40 and 60 of 100. */
static const struct machine_sample samples[] = {
	{PERF1, 0, PROGRAM + SECOND, {PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 0, PROGRAM + SECOND, {PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 1, PROGRAM + THIRD, {PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 1, PROGRAM + THIRD, {PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 1, LIBC + FIRST, {LIBC + FIRST, PROGRAM + SECOND, PROGRAM + FIRST}},
};

struct wanted {
	const char *sort, *fields, *graph, *separator;
	bool has_children, is_quiet, has_color;
	double percent_limit;
};

/* What is printed for these wishes, owned by the caller. */
static char *printed(struct profile *profile, const struct wanted *wanted)
{
	struct entry_layout_settings layout = {
		.sort = wanted->sort,
		.fields = wanted->fields,
		.has_children = wanted->has_children,
	};
	struct entry_list_settings settings = {.has_children = wanted->has_children};
	struct call_graph_settings graph = CALL_GRAPH_DEFAULTS;
	struct text_style style = {
		.separator = wanted->separator,
		.is_quiet = wanted->is_quiet,
		.has_color = wanted->has_color,
	};
	struct report_view view = {
		.source = profile->sources.items,
		.graph = &graph,
		.percent_limit = wanted->percent_limit,
	};
	struct fold *fold = fold_new(profile, FOLD_BY_FUNCTION);
	char *text = NULL;
	size_t length;

	graph.type = CALL_GRAPH_NONE;
	if (wanted->graph) {
		graph.type = CALL_GRAPH;
		assert_int_equal(call_graph_parse(wanted->graph, &graph), 0);
	}
	assert_int_equal(entry_layout_parse(&layout, &settings.layout), 0);
	settings.shows_chains = graph.type != CALL_GRAPH_NONE;
	settings.order = graph.order;
	view.list = entry_list_new(fold, &settings);
	style.out = open_memstream(&text, &length);
	report_write_text(&view, &style);
	fclose(style.out);
	entry_list_free(view.list);
	fold_free(fold);
	return text;
}

static void assert_printed(const struct wanted *wanted, const char *expected)
{
	struct profile *profile = machine_profile(samples, ARRAY_COUNT(samples), 20, true);
	char *text = printed(profile, wanted);

	assert_string_equal(text, expected);
	free(text);
	profile_free(profile);
}

static void a_table_has_titles_dots_and_padded_columns(void **state)
{
	assert_printed(&(struct wanted){.has_children = true},
		       "# Samples: 5  of event 'cpu-clock'\n"
		       "# Event count (approx.): 100\n"
		       "#\n"
		       "# Children      Self  Command  Shared Object  Symbol         \n"
		       "# ........  ........  .......  .............  ...............\n"
		       "#\n"
		       "   100.00%    40.00%  perf     perf           [.] run_command\n"
		       "   100.00%     0.00%  perf     perf           [.] main\n"
		       "    40.00%    40.00%  perf     perf           [.] cmd_record\n"
		       "    20.00%    20.00%  perf     libc           [.] malloc\n"
		       "\n\n");
	(void)state;
}

static void quiet_leaves_out_the_comments(void **state)
{
	assert_printed(&(struct wanted){.sort = "dso", .is_quiet = true},
		       "    80.00%  perf         \n"
		       "    20.00%  libc         \n"
		       "\n\n");
	(void)state;
}

static void a_separator_replaces_the_blanks_between_columns(void **state)
{
	assert_printed(&(struct wanted){.sort = "dso,sym", .separator = ",", .is_quiet = true},
		       " 40.00% ,perf         ,[.] cmd_record\n"
		       " 40.00% ,perf         ,[.] run_command\n"
		       " 20.00% ,libc         ,[.] malloc\n"
		       "\n\n");
	(void)state;
}

static void every_figure_has_its_column(void **state)
{
	assert_printed(
		&(struct wanted){
			.fields = "overhead,overhead_sys,overhead_us,sample,period,cpu,pid"},
		"# Samples: 5  of event 'cpu-clock'\n"
		"# Event count (approx.): 100\n"
		"#\n"
		"# Overhead       sys       usr       Samples        Period  CPU      Pid:Command\n"
		"# ........  ........  ........  ............  ............  ...  ...............\n"
		"#\n"
		"    60.00%     0.00%    60.00%             3            60  001      100:perf   \n"
		"    40.00%     0.00%    40.00%             2            40  000      100:perf   \n"
		"\n\n");
	(void)state;
}

static void lines_below_the_limit_are_left_out(void **state)
{
	assert_printed(&(struct wanted){.sort = "sym", .is_quiet = true, .percent_limit = 30},
		       "    40.00%  [.] cmd_record\n"
		       "    40.00%  [.] run_command\n"
		       "\n\n");
	(void)state;
}

static void a_callers_graph_leads_from_main_to_the_leaves(void **state)
{
	assert_printed(
		&(struct wanted){
			.sort = "dso", .has_children = true, .graph = "caller", .is_quiet = true},
		"   100.00%    80.00%  perf         \n"
		"            |\n"
		"            ---main\n"
		"               run_command\n"
		"               |          \n"
		"               |--40.00%--cmd_record\n"
		"               |          \n"
		"                --20.00%--malloc\n"
		"\n"
		"    20.00%    20.00%  libc         \n"
		"            |\n"
		"            ---main\n"
		"               run_command\n"
		"               malloc\n"
		"\n"
		"\n\n");
	(void)state;
}

static void a_callees_graph_leads_from_the_leaves_to_main(void **state)
{
	assert_printed(&(struct wanted){.sort = "comm", .graph = "callee", .is_quiet = true},
		       "   100.00%  perf   \n"
		       "            |          \n"
		       "            |--40.00%--cmd_record\n"
		       "            |          run_command\n"
		       "            |          main\n"
		       "            |          \n"
		       "            |--40.00%--run_command\n"
		       "            |          main\n"
		       "            |          \n"
		       "             --20.00%--malloc\n"
		       "                       run_command\n"
		       "                       main\n"
		       "\n"
		       "\n\n");
	(void)state;
}

static void fractal_shares_are_of_the_parent_and_say_what_is_missing(void **state)
{
	assert_printed(
		&(struct wanted){.sort = "comm", .graph = "fractal,45,caller", .is_quiet = true},
		"   100.00%  perf   \n"
		"            |\n"
		"            ---main\n"
		"               run_command\n"
		"               |          \n"
		"               |--40.00%--cmd_record\n"
		"                --60.00%--[...]\n"
		"\n"
		"\n\n");
	(void)state;
}

static void folded_chains_stand_in_one_line(void **state)
{
	assert_printed(&(struct wanted){.sort = "comm", .graph = "folded", .is_quiet = true},
		       "   100.00%  perf   \n"
		       "40.00% cmd_record;run_command;main\n"
		       "40.00% run_command;main\n"
		       "20.00% malloc;run_command;main\n"
		       "\n\n");
	(void)state;
}

static void flat_chains_stand_below_each_other(void **state)
{
	assert_printed(&(struct wanted){.sort = "comm", .graph = "flat,30,count", .is_quiet = true},
		       "   100.00%  perf   \n"
		       "           2\n"
		       "                cmd_record\n"
		       "                run_command\n"
		       "                main\n"
		       "\n"
		       "           2\n"
		       "                run_command\n"
		       "                main\n"
		       "\n"
		       "\n\n");
	(void)state;
}

static void shares_are_coloured_by_size(void **state)
{
	assert_printed(&(struct wanted){.sort = "dso", .is_quiet = true, .has_color = true},
		       "  \033[31m  80.00%\033[m  perf         \n"
		       "  \033[31m  20.00%\033[m  libc         \n"
		       "\n\n");
	(void)state;
}

static void names_cannot_steer_the_terminal(void **state)
{
	struct profile *profile = machine_profile(samples, 1, 20, true);
	string_id evil = intern_text(&profile->strings, "\033[2Jx\n");
	char *text;

	for (size_t i = 1; i < profile->labels.count; i++)
		profile->labels.items[i].comm = evil;
	for (size_t i = 1; i < profile->functions.count; i++)
		profile->functions.items[i].name = evil;
	text = printed(profile, &(struct wanted){.is_quiet = true, .graph = "caller"});
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "\\x1b[2Jx\\x0a"));
	free(text);
	profile_free(profile);
	(void)state;
}

static void counts_above_a_thousand_are_given_in_thousands(void **state)
{
	struct profile *profile = machine_profile(samples, 1, 20, true);
	char *text;

	profile->counts.items[0].samples = 1001;
	text = printed(profile, &(struct wanted){.sort = "comm"});
	assert_memory_equal(text, "# Samples: 1K of event", 22);
	free(text);
	profile->counts.items[0].samples = 1000;
	text = printed(profile, &(struct wanted){.sort = "comm"});
	assert_memory_equal(text, "# Samples: 1000  of event", 25);
	free(text);
	profile_free(profile);
	(void)state;
}

static void a_frame_that_is_only_likely_says_so_in_graphs(void **state)
{
	struct profile *profile = machine_profile(samples, ARRAY_COUNT(samples), 20, true);
	char *text;

	for (size_t i = 1; i < profile->stacks.count; i++)
		if (!profile->stacks.items[i].caller)
			profile->stacks.items[i].origin = ORIGIN_LIKELY;
	text = printed(profile, &(struct wanted){.has_children = true, .graph = "caller"});
	assert_non_null(strstr(text, "---main [likely]\n"));
	assert_non_null(strstr(text, "[.] main\n"));
	assert_null(strstr(text, "run_command [likely]"));
	free(text);
	profile_free(profile);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_has_titles_dots_and_padded_columns),
		cmocka_unit_test(quiet_leaves_out_the_comments),
		cmocka_unit_test(a_separator_replaces_the_blanks_between_columns),
		cmocka_unit_test(every_figure_has_its_column),
		cmocka_unit_test(lines_below_the_limit_are_left_out),
		cmocka_unit_test(a_callers_graph_leads_from_main_to_the_leaves),
		cmocka_unit_test(a_callees_graph_leads_from_the_leaves_to_main),
		cmocka_unit_test(fractal_shares_are_of_the_parent_and_say_what_is_missing),
		cmocka_unit_test(folded_chains_stand_in_one_line),
		cmocka_unit_test(flat_chains_stand_below_each_other),
		cmocka_unit_test(shares_are_coloured_by_size),
		cmocka_unit_test(names_cannot_steer_the_terminal),
		cmocka_unit_test(counts_above_a_thousand_are_given_in_thousands),
		cmocka_unit_test(a_frame_that_is_only_likely_says_so_in_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
