/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: from what was counted to what is printed.
 */
#include "cmd/report_state.h"

enum { JSON_VERSION = 3 }; /* raised when a key goes or means something else */

static struct entry_list *list_entries(const struct report *report, const struct shown_group *group)
{
	const struct report_filters *filters = &report->filters;
	const struct filter_settings *chosen = &filters->samples.settings;
	struct entry_list_settings settings = {
		.layout = report->layout,
		.source = group->leader,
		.members = group->members.items,
		.member_count = (u32)group->members.count,
		.sort_member = report->settings->sort_member,
		.has_children = report->has_children,
		.is_relative = report->settings->is_relative,
		.shows_chains = report->graph.type != CALL_GRAPH_NONE,
		.order = report->graph.order,
		.max_stack = report->has_history ? 0 : report->settings->max_stack,
		.comms = {filters->comms.items, filters->comms.count},
		.dsos = {filters->dsos.items, filters->dsos.count},
		.symbols = {filters->symbols.items, filters->symbols.count},
		.symbol_part = report->settings->symbol_part,
		.has_socket = report->settings->has_socket,
		.socket = report->settings->socket,
		.pids = chosen->pids,
		.pid_count = chosen->pid_count,
		.tids = chosen->tids,
		.tid_count = chosen->tid_count,
	};

	return entry_list_new(report->fold, &settings);
}

/* Whether anything of that event was sampled; perf leaves out events that were not. */
static bool has_samples(const struct profile *profile, u32 source)
{
	for (size_t i = 0; i < profile->counts.count; i++)
		if (profile->counts.items[i].source == source)
			return true;
	return false;
}

static struct text_style choose_style(const struct report *report)
{
	const struct report_settings *settings = report->settings;

	return (struct text_style){
		.out = stdout,
		.separator = settings->separator,
		.is_quiet = settings->is_quiet,
		.has_nanoseconds = settings->has_nanoseconds,
		.widths = settings->widths,
		.width_count = settings->width_count,
		.has_color = !settings->separator && terminal_wants_color(stdout, settings->color),
		.hides =
			{
				[FIELD_COMM] = report->filters.comms.count == 1,
				[FIELD_DSO] = report->filters.dsos.count == 1,
				[FIELD_SYMBOL] = report->filters.symbols.count == 1,
			},
	};
}

static void write_hidden(const char *title, const char *const *names, size_t count)
{
	struct text line = {0};

	if (count != 1)
		return;
	text_append_printable(&line, names[0]);
	printf("# %s: %s\n", title, text_view(&line));
	text_release(&line);
}

/* The comment lines in front of the first event. */
static void write_preamble(const struct report *report)
{
	const struct report_filters *filters = &report->filters;

	if (report->settings->header)
		perfdata_print_header(report->data, report->settings->header_all, stdout);
	if (report->settings->is_quiet)
		return;
	asked_windows_describe(&report->windows, report->now_ns, stdout);
	if (!report->settings->header && !report->windows.windows.count)
		puts("# To display the perf.data header info, please use "
		     "--header/--header-only options.\n#");
	write_hidden("dso", filters->dsos.items, filters->dsos.count);
	write_hidden("comm", filters->comms.items, filters->comms.count);
	write_hidden("symbol", filters->symbols.items, filters->symbols.count);
	printf("#\n# Total Lost Samples: %llu\n#\n",
	       (unsigned long long)report_lost_samples(&report->facts));
	if (report->facts.idle_skipped)
		puts("# The idle task was left out (keep it with --idle)\n#");
}

/* What is shown of an event, or of a group. Returns the list in the view, owned by the caller;
 * NULL: no samples. */
static struct entry_list *view_group(const struct report *report, const struct shown_group *group,
				     struct report_view *ret_view)
{
	bool is_sampled = has_samples(report->profile, group->leader);
	struct entry_list *list;

	for (size_t i = 0; i < group->members.count && !is_sampled; i++)
		is_sampled = has_samples(report->profile, group->members.items[i]);
	if (!is_sampled)
		return NULL;
	list = list_entries(report, group);
	*ret_view = (struct report_view){
		.source = &report->profile->sources.items[group->leader],
		.events = group->name,
		.is_leader = group->is_leader,
		.list = list,
		.graph = &report->graph,
		.percent_limit = report->settings->percent_limit,
		.is_hierarchy = report->settings->is_hierarchy,
		.has_blocks = report->settings->has_blocks,
		.needs_parent = report->settings->excludes_other,
		.times = report->settings->choice.times,
		.memory_keys = report->memory_keys,
		.socket = report->settings->has_socket ? &report->settings->socket : NULL,
	};
	return list;
}

/* Writes all events and groups, as JSON or else as text. */
static void write_views(const struct report *report, struct json_writer *json)
{
	struct text_style style = choose_style(report);
	struct report_view view;

	for (u32 i = 0; i < report->profile->sources.count; i++) {
		CLEANUP(report_group_release) struct shown_group group = {0};
		CLEANUP(entry_list_freep) struct entry_list *list = NULL;

		if (report_group(report, i, &group))
			list = view_group(report, &group, &view);
		if (list && json)
			report_write_json(&view, json);
		else if (list && view.has_blocks)
			report_write_blocks(&view, &style,
					    report->settings->symbolize.only_symbols);
		else if (list)
			report_write_text(&view, &style);
	}
}

static void write_text(const struct report *report)
{
	pager_start();
	write_preamble(report);
	write_views(report, NULL);
	report_write_branches(&report->facts, stdout);
	if (!report->settings->is_quiet)
		report_write_footer(&report->facts, stdout);
	thread_counters_print(&report->counters, report->data, stdout);
}

static void write_json(const struct report *report, const char *path)
{
	CLEANUP(json_writer_freep) struct json_writer *json = json_writer_new(stdout);

	json_object(json, NULL);
	json_u64(json, "version", JSON_VERSION);
	json_text(json, "file", path);
	json_array(json, "events");
	write_views(report, json);
	json_array_end(json);
	report_write_footer_json(&report->facts, json);
	json_object_end(json);
}

void report_show(const struct report *report, const char *path)
{
	if (report->settings->json)
		write_json(report, path);
	else
		write_text(report);
}
