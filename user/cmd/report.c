/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: read a recording, count, name, show.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/counting.h"
#include "cmd/dump.h"
#include "cmd/guarded.h"
#include "cmd/input.h"
#include "cmd/memory_costs.h"
#include "cmd/report_state.h"
#include "cmd/stitching.h"
#include "cmd/unwinding.h"
#include "cmd/windows_found.h"
#include "cmd/windows_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void report_release(struct report *report)
{
	fold_free(report->fold);
	branch_history_free(report->history);
	names_choice_close(report->cache, report->symbolizer, report->settings->is_quiet);
	names_choice_close_kept(report->store_names, report->settings->is_quiet);
	symbolizer_free(report->symbolizer);
	profile_free(report->profile);
	report_filters_release(&report->filters);
	report_release_patterns(report);
	free(report->memory_keys);
	thread_counters_release(&report->counters);
	trace_words_free(report->trace);
	perfdata_close(report->data);
	asked_windows_release(&report->windows);
}

/* --- what the recording allows --- */

static bool any_chains(const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		if (sources[i].has_chain)
			return true;
	return false;
}

/* Whether graphs begin with the callers unless told otherwise: as perf, also where it then
 * cannot count children. */
static bool shows_callers(const struct report *report)
{
	bool has_graphs = report->has_history ||
			  ((report->settings->is_hierarchy || report->settings->is_memory) &&
			   report->has_chains);

	return report->has_children || (has_graphs && report->settings->children);
}

static int check_hierarchy(const struct report_settings *settings)
{
	if (settings->is_hierarchy && settings->json)
		return fail_plain(
			-EINVAL, "leave out one of them",
			"--hierarchy is a layout of text; JSON has the keys of each line");
	if (settings->is_hierarchy && settings->fields)
		return fail_plain(-EINVAL, "choose the levels with -s",
				  "--hierarchy and -F cannot be used together");
	return 0;
}

static void choose_graph(struct report *report)
{
	const struct report_settings *settings = report->settings;

	report->graph = settings->graph;
	if (!report->has_chains && !report->has_history)
		report->graph.type = CALL_GRAPH_NONE;
	if (report->has_history)
		report->graph.key = FOLD_BY_ADDRESS;
	if (settings->is_inverted || (shows_callers(report) && !report->graph.order_is_set))
		report->graph.order = CALLER_FIRST;
}

static int choose_layout(struct report *report)
{
	const struct report_settings *settings = report->settings;
	struct entry_layout_settings layout = {
		.sort = settings->sort,
		.fields = settings->fields,
		.adds_parent = settings->parents,
		.show_samples = settings->show_samples,
		.show_period = settings->show_period,
		.show_system_share = settings->show_system_share,
	};
	int error = report_choose_branches(report);

	if (!error)
		error = check_hierarchy(settings);
	if (error)
		return error;
	layout.has_branches = report->has_branches;
	layout.has_memory = settings->is_memory;
	layout.has_traces = !report->windows.windows.count;
	layout.is_of_tracepoints = report_is_of_tracepoints(report);
	report->has_chains = any_chains(report->data) && !report->has_branches;
	if (report->has_history && !layout.sort)
		layout.sort = "symbol,dso";
	if (settings->asks_for_graph && !report->has_chains && !report->has_branches &&
	    !report->has_history)
		return fail_plain(-EINVAL, "record with -g, or leave -g out here",
				  "the recording has no call chains");
	report->has_children = settings->children && report->has_chains &&
			       !settings->is_hierarchy && !settings->is_memory;
	layout.has_children = report->has_children;
	choose_graph(report);
	if (settings->is_memory)
		report->memory_keys = entry_layout_sort_text(&layout);
	return entry_layout_parse(&layout, &report->layout);
}

/* What lines and graphs together need to be told apart. */
static enum fold_key choose_fold(const struct report *report)
{
	enum fold_key key = FOLD_BY_FUNCTION;

	if (report->graph.type != CALL_GRAPH_NONE)
		key = report->graph.key;
	if (key == FOLD_BY_FUNCTION && entry_layout_has_source(&report->layout))
		key = FOLD_BY_LINE;
	return key;
}

/* Whether inlined functions would be seen, and are wanted. */
static bool shows_inlined(const struct report *report)
{
	const struct report_settings *settings = report->settings;

	if (settings->inlined == INLINED_NEVER || report->has_branches || report->has_history ||
	    (!report->has_children && report->graph.type == CALL_GRAPH_NONE))
		return false;
	return settings->inlined == INLINED_ALWAYS || settings->inlined_by_config ||
	       unwinding_is_needed(report->data);
}

/* DWARF is read only for what is shown. */
static enum source_wish choose_source(const struct report *report)
{
	if (shows_inlined(report))
		return SOURCE_INLINED;
	return choose_fold(report) == FOLD_BY_FUNCTION && !report->settings->has_blocks
		       ? SOURCE_NONE
		       : SOURCE_LINES;
}

/* --- reading --- */

static struct symbolizer *new_symbolizer(const struct report *report)
{
	const struct report_settings *settings = report->settings;
	struct symbolize_settings symbolize = settings->symbolize;

	symbolize.is_from_elsewhere = input_is_from_elsewhere(report->data);
	symbolize.raw_names = !settings->demangle;
	symbolize.caches[CACHE_OF_STORE] = report->store_names;
	symbolize.caches[NAMES_CACHES_MAX - 1] = report->cache;
	symbolize.source = (u8)choose_source(report);
	/* Unwinders of copied stacks give places of calls, the kernel those behind them. */
	symbolize.returns_are_exact = symbolize.only_symbols || unwinding_is_needed(report->data);
	if (!settings->is_quiet)
		input_show_progress(report->data, &symbolize);
	return symbolizer_new(&symbolize);
}

static void open_names(struct report *report, const char *path)
{
	report->cache = names_choice_open(&report->settings->names);
	report->store_names = report->windows.windows.count ? asked_windows_names(&report->windows)
							    : names_choice_open_beside(path);
	report->symbolizer = new_symbolizer(report);
}

static bool has_name(void *symbolizer, struct profile *profile, location_id location)
{
	return symbolizer_has_name(symbolizer, profile, location);
}

static void name_places(void *context, struct profile *profile)
{
	struct report *report = context;

	symbolizer_run_noted(report->symbolizer, profile);
	report->named = profile->serial;
}

static struct counting_settings choose_counting(struct report *report)
{
	struct counting_settings settings = {
		.builder =
			{
				.keep = entry_layout_labels(&report->layout,
							    &report->filters.samples.settings),
				.max_stack = UINT16_MAX,
				.skip_chains = !report->has_children &&
					       report->graph.type == CALL_GRAPH_NONE &&
					       !report->has_parents && !report->has_ignored,
				.count_branches = report->has_branches,
				.count_blocks = report->settings->has_blocks,
				.branch_flags = entry_layout_branch_flags(&report->layout),
				.details = report_details(report),
			},
		.filter = report->filters.samples.settings,
	};

	/* Whose a sample is decides over its entries, later: 100% are all samples. */
	settings.filter.pid_count = settings.filter.tid_count = 0;
	if (!settings.builder.skip_chains)
		settings.symbolizer = report->symbolizer;
	/* Who looks for places in the source asks which locations are callers. */
	if (choose_source(report) == SOURCE_NONE) {
		settings.meanwhile = name_places;
		settings.context = report;
	}
	return settings;
}

/* The samples of all windows. */
static int count_windows(struct report *report)
{
	const struct counting_settings settings = choose_counting(report);

	return windows_read(&report->windows,
			    (struct windows_reading){
				    .builder = &settings.builder,
				    .filter = &settings.filter,
				    .shows_progress = !report->settings->is_quiet,
			    },
			    &report->profile);
}

/* Counts what is made of the samples on their way: stacks that are unwound or stitched, branches
 * that are put into them. */
static int count_remade(struct report *report, struct counting_settings settings)
{
	const struct lbr_keeper keeper = stitching_keeper(report->cache);
	struct lbr_settings lbr = {.tier = report->settings->stitch,
				   .symfs = report->settings->symbolize.symfs,
				   .keeper = &keeper};
	CLEANUP(sample_unwinder_freep) struct sample_unwinder *unwinder = NULL;
	u32 count;
	const struct event_source *sources = perfdata_sources(report->data, &count);
	struct event_sink *filter, *first, *costs = NULL;
	struct profile_builder *builder;
	int error;

	settings.builder.names = (struct name_test){has_name, report->symbolizer};
	builder = profile_builder_new(&settings.builder, sources, count);
	first = unwinding_before(profile_builder_sink(builder), report->data, lbr.symfs,
				 report->settings->symbolize.only_symbols, &unwinder);
	filter = first = filter_new(&settings.filter, first);
	if (report->has_history) {
		report->history = branch_history_new(report->graph.order == CALLER_FIRST
							     ? HISTORY_OLDEST_FIRST
							     : HISTORY_NEWEST_FIRST,
						     filter);
		first = branch_history_sink(report->history);
	}
	if (report->settings->is_memory)
		first = costs = memory_costs_new(report->data, first);
	error = report->has_branches ? perfdata_read(report->data, first)
				     : stitching_read(report->data, &lbr, first, &report->lbr);
	if (report->has_history)
		report->graph.marks = branch_history_marks(report->history);
	report->profile = profile_builder_take(builder);
	filter_free(filter);
	free(costs);
	profile_builder_free(builder);
	return error;
}

/* Reads all samples into report->profile. What a damaged file still gives is there after an error
 * of -EBADMSG. */
static int count_samples(struct report *report)
{
	const struct counting_settings settings = choose_counting(report);
	const struct lbr_keeper keeper = stitching_keeper(report->cache);
	const struct lbr_settings lbr = {.tier = report->settings->stitch,
					 .symfs = report->settings->symbolize.symfs,
					 .keeper = &keeper};
	bool has_stacks = stitching_is_possible(report->data);

	if (report->settings->is_memory || report->has_history || report->has_branches ||
	    unwinding_is_needed(report->data) || (has_stacks && lbr.tier != LBR_CERTAIN))
		return count_remade(report, settings);
	if (has_stacks)
		return stitching_count(report->data, &lbr, &settings, &report->profile,
				       &report->lbr);
	perfdata_read_once(report->data);
	return counting_read(report->data, &settings, &report->profile, NULL);
}

/* --- the command --- */

static int prepare(struct report *report, const char **path)
{
	const struct perfdata_header *header;
	int error = report_open(report, path);

	if (error)
		return error;
	if (report->settings->has_counters)
		thread_counters_read(report->data, &report->counters);
	header = perfdata_header(report->data);
	error = report_filters_parse(report->settings, header->first_sample_ns,
				     header->last_sample_ns, &report->filters);
	error = error ? error : choose_layout(report);
	if (!error && report->windows.windows.count)
		error = windows_can_be_summed(report->data);
	if (!error)
		error = report->windows.windows.count
				? windows_check_choice(&report->windows, &report->settings->choice)
				: sample_choice_check(&report->settings->choice, report->data);
	error = error ? error : report_check_keys(report);
	if (!error && report_tells_tracepoints(report))
		error = guarded_begin(*path, "tell lines apart otherwise, with -s comm,dso,symbol");
	return error;
}

/* What the recorder lost; of windows, what all of them did. */
static const u64 *losses_of(const struct report *report)
{
	const struct perfdata_extra *extra = perfdata_extra(report->data);

	if (extra && report->windows.windows.count)
		return report->profile->totals.losses;
	return extra ? extra->losses : NULL;
}

static void gather_facts(struct report *report)
{
	report->facts = (struct report_facts){
		.profile = report->profile,
		.losses = losses_of(report),
		.lbr = report->lbr.stacks ? &report->lbr : NULL,
		.lbr_is_stitched = report->settings->stitch != LBR_PLAIN,
		.idle_skipped = perfdata_header(report->data)->idle_skipped,
	};
}

/* Before the report is shown, so that it can say so; nobody waits for it. */
static void fetch_missing(struct report *report)
{
	size_t missing = symbolizer_missing(report->symbolizer);

	if (missing && !symbolizer_fetch_missing(report->symbolizer))
		report->facts.fetching = missing;
	else
		report->facts.fetchable = missing;
}

static void name_and_fold(struct report *report)
{
	profile_forget_lookups(report->profile);
	if (report->named != report->profile->serial)
		symbolizer_run(report->symbolizer, report->profile);
	progress_clear();
	fetch_missing(report);
	report->fold = fold_new(report->profile, choose_fold(report));
	profile_forget_stacks(report->profile); /* from here on there are paths */
	report_apply_patterns(report);
}

/* Counts what was chosen. What a damaged recording still gives is there after an error of -EBADMSG.
 */
static int count(struct report *report)
{
	int error, format_error = 0;

	if (report_tells_tracepoints(report))
		format_error = trace_words_open(report->data, report->symbolizer, &report->trace);
	if (format_error && format_error != -EBADMSG)
		return format_error;
	if (input_has_this_kernel(report->data))
		symbolizer_expect_kernel(report->symbolizer);
	error = report->windows.windows.count ? count_windows(report) : count_samples(report);
	progress_clear();
	return error ? error : format_error;
}

/* Whether there is anything to show. */
static int check_found(const struct report *report, const char *path)
{
	const struct report_settings *settings = report->settings;
	const struct filter_settings *chosen = &report->filters.samples.settings;
	bool is_filtered = chosen->time_count || chosen->cpu_count || chosen->takes_cgroup;

	if (report->windows.windows.count)
		return windows_check_found(
			&(struct wanted_samples){
				.choice = &settings->choice,
				.chosen = chosen,
				/* report_filters_parse() may have taken --cpu for names */
				.comms = settings->comms || !report->filters.comms.count
						 ? settings->comms
						 : settings->choice.cpus,
				.comm_names = &report->filters.comms,
			},
			report->profile, report->windows.windows.count);
	if (report->profile->totals.samples)
		return 0;
	return fail_plain(
		-ENODATA, is_filtered ? "choose more" : "record longer, or oftener with -F",
		"%s has no samples%s", path, is_filtered ? " that the filters leave" : "");
}

static int run(struct report *report, const char *path)
{
	CLEANUP(freep) char *damage = NULL;
	int error;

	open_names(report, path);
	error = count(report);
	if (error && (error != -EBADMSG || !report->profile))
		return error;
	/* A damaged file gives what it can; what is wrong with it is said at the end. */
	if (error)
		damage = must_copy(fail_sentence());
	gather_facts(report);
	error = damage ? 0 : check_found(report, path);
	if (error)
		return error;
	stitching_warn(report->data, report->settings->stitch, report->has_branches);
	name_and_fold(report);
	report_show(report, path);
	pager_finish();
	if (!report->settings->is_quiet)
		input_print_warnings(report->data);
	return damage ? fail_plain(-EBADMSG, NULL, "%s", damage) : STATUS_DONE;
}

/* What is shown of records in place of samples. */
static int show_records(struct report *report, const char *path)
{
	const struct report_settings *settings = report->settings;
	bool has_windows = report->windows.windows.count;

	report_release(report);
	if (has_windows)
		return fail_plain(-EINVAL, "name a file of bpfprof list",
				  "-D, --stats, --tasks and --mmaps are of one recording");
	pager_start();
	return settings->dumps ? dump_recording(path, stdout)
			       : report_print_records(path, settings->records, stdout);
}

static int report_run(const void *settings, struct arguments arguments)
{
	struct report report = {.settings = settings};
	const char *path = NULL;
	int status = report_choose_input(&report, arguments, &path);

	if (!status && (report.settings->dumps || report.settings->records))
		return show_records(&report, path);
	if (!status)
		status = prepare(&report, &path);
	if (!status && report.settings->header_only)
		perfdata_print_header(report.data, report.settings->header_all, stdout);
	else if (!status)
		status = run(&report, path);
	report_release(&report);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "show where the time of a recording went",
	.synopsis = "[options] [FILE]",
	.examples = "bpfprof report\tperf.data: callers with what they called, and call graphs\n"
		    "bpfprof report --no-children -g caller\tWhat used the CPU itself, and who "
		    "called it\n"
		    "bpfprof report -s dso -g none\tOne line a binary\n"
		    "bpfprof report -S malloc,free -G\tOnly these functions, callers first\n"
		    "bpfprof report --time 10%-20% --json\tA part of the recording, for scripts\n"
		    "bpfprof report --since 10m\tWhat the daemon recorded of the last ten minutes\n"
		    "bpfprof report --at '14:00..14:05'\tThe same of these five minutes\n"
		    "perf record -g -o - sleep 1 | bpfprof report -i -\tWhat perf recorded, from a "
		    "pipe\n",
	.options = report_options,
	.settings_bytes = sizeof(struct report_settings),
	.defaults = &report_defaults,
	.run = report_run,
};
