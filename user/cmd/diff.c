/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff: read recordings, count, name, and show what changed.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/diff_settings.h"
#include "cmd/diff_verdict.h"
#include "cmd/dump.h"
#include "cmd/input.h"
#include "export/export.h"
#include "symbolize/symbolize.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { JSON_VERSION = 1 }; /* raised when a key goes or means something else */

static const char default_sort[] = "dso,symbol";

struct diff {
	const struct diff_settings *settings;
	struct diff_file *files; /* the first is the baseline */
	u32 file_count, side_count;
	struct name_list comms, dsos, symbols;
	struct entry_layout layout;
	struct names_cache *cache;	 /* NULL: none */
	struct names_cache *store_names; /* NULL: none */
	struct symbolizer *symbolizer;
	struct profile *profile;
	u64 quantum_ns; /* by which samples are told apart; 0: they are not */
	struct fold *fold;
	double *seconds; /* by side, of rates; else NULL */
	char **names;	 /* by side */
	struct diff_verdict verdict;
};

static void diff_release(struct diff *diff)
{
	fold_free(diff->fold);
	names_choice_close(diff->cache, diff->symbolizer, diff->settings->is_quiet);
	names_choice_close_kept(diff->store_names, diff->settings->is_quiet);
	symbolizer_free(diff->symbolizer);
	profile_free(diff->profile);
	name_list_release(&diff->comms);
	name_list_release(&diff->dsos);
	name_list_release(&diff->symbols);
	diff_files_close(diff->files, diff->file_count);
	free(diff->files);
	free(diff->seconds);
	for (u32 side = 0; diff->names && side < diff->side_count; side++)
		free(diff->names[side]);
	free(diff->names);
	diff_verdict_release(&diff->verdict);
}

/* --- what was asked for --- */

static int choose_layout(struct diff *diff)
{
	const char *sort = diff->settings->sort;
	CLEANUP(freep) char *all = NULL;
	struct entry_layout_settings layout = {0};
	int error;

	if (!sort || *sort == '+')
		all = must_format("%s%s%s", default_sort, sort ? "," : "", sort ? sort + 1 : "");
	layout.sort = all ? all : sort;
	error = entry_layout_parse(&layout, &diff->layout);
	if (!error && diff->settings->method == COMPARE_CYCLES &&
	    !entry_layout_has_key(&diff->layout, FIELD_SYMBOL))
		error = fail_plain(-EINVAL, "let symbol be among the keys of -s",
				   "-c cycles: blocks of code are lines of functions");
	return error;
}

/* A config file may name wdiff alone. */
static int check_weights(const struct diff_settings *settings)
{
	if (settings->method != COMPARE_WEIGHTED || settings->base_weight || settings->is_strict)
		return 0;
	return fail_plain(-EINVAL, "give them with -c wdiff:W1,W2",
			  "diff.compute of the config file is wdiff, which needs weights");
}

static int check_order(const struct diff *diff)
{
	if (diff->settings->order < diff->side_count)
		return 0;
	return fail_plain(-EINVAL, "0 is the baseline, 1 the first recording behind it",
			  "-o %u: there are only %u recordings", diff->settings->order,
			  diff->side_count);
}

static int prepare(struct diff *diff, struct arguments arguments)
{
	const struct diff_settings *settings = diff->settings;
	int error = diff_files_choose(settings, arguments, &diff->files, &diff->file_count,
				      &diff->side_count);

	if (!error)
		error = diff_settings_check(settings);
	if (!error)
		error = check_weights(settings);
	if (!error)
		error = check_order(diff);
	if (!error && settings->streams && diff->file_count > 2)
		error = fail_plain(-EINVAL, "name two", "--stream compares two recordings");
	if (!error)
		error = diff_verdict_parse(&settings->fail_if, &diff->verdict);
	if (!error)
		error = choose_layout(diff);
	if (!error)
		error = name_list_read(settings->comms, &diff->comms);
	if (!error)
		error = name_list_read(settings->dsos, &diff->dsos);
	if (!error)
		error = name_list_read(settings->symbols, &diff->symbols);
	return error ? error : diff_files_open(diff->files, diff->file_count, settings);
}

/* --- reading --- */

static int measure(struct diff *diff)
{
	if (!diff->settings->shows_rates)
		return 0;
	diff->seconds = must_alloc_array(diff->side_count, sizeof(*diff->seconds));
	for (u32 i = 0; i < diff->file_count; i++) {
		double seconds = diff_file_seconds(&diff->files[i]);

		if (seconds <= 0)
			return fail_plain(-EINVAL, "leave --rate out",
					  "%s does not say how long it took", diff->files[i].path);
		diff->seconds[diff->files[i].side] += seconds;
	}
	return 0;
}

/* Whether frames are told apart by their lines. */
static bool needs_lines(const struct diff *diff)
{
	return entry_layout_has_source(&diff->layout) || diff->settings->streams;
}

static struct symbolizer *new_symbolizer(const struct diff *diff)
{
	const struct diff_settings *settings = diff->settings;
	struct symbolize_settings symbolize = settings->symbolize;

	symbolize.is_from_elsewhere = diff_files_are_from_elsewhere(diff->files, diff->file_count);
	symbolize.raw_names = !settings->demangle;
	symbolize.caches[CACHE_OF_STORE] = diff->store_names;
	symbolize.caches[NAMES_CACHES_MAX - 1] = diff->cache;
	symbolize.only_symbols = symbolize.returns_are_exact = settings->is_strict;
	if (needs_lines(diff) || settings->method == COMPARE_CYCLES)
		symbolize.source = SOURCE_LINES;
	/* All are read at the same time, and one line can only show one of them. */
	if (!settings->is_quiet)
		input_show_progress(diff->files[0].data, &symbolize);
	return symbolizer_new(&symbolize);
}

/* --- writing --- */

/* The event of a file that is the same as the baseline's; NO_SOURCE: it has none. */
static u32 find_source(const struct diff *diff, const struct diff_file *file,
		       const struct event_source *wanted)
{
	for (u32 i = 0; i < file->source_count; i++) {
		const struct event_source *source =
			&diff->profile->sources.items[file->first_source + i];

		if (source->type == wanted->type && source->config == wanted->config)
			return file->first_source + i;
	}
	return NO_SOURCE;
}

/* Whether a period of the event is nanoseconds of a CPU: cpu-clock and task-clock.
 * Source: linux/perf_event.h, PERF_TYPE_SOFTWARE. */
static bool counts_time(const struct event_source *source)
{
	return source->type == PERF_TYPE_SOFTWARE && (source->config == PERF_COUNT_SW_CPU_CLOCK ||
						      source->config == PERF_COUNT_SW_TASK_CLOCK);
}

static struct comparison *compare(const struct diff *diff, u32 base)
{
	const struct diff_settings *settings = diff->settings;
	const struct filter_settings *chosen = &diff->files[0].chosen.settings;
	CLEANUP(freep)
	struct comparison_run *runs = must_alloc_array(diff->file_count, sizeof(*runs));
	struct comparison_settings comparison = {
		.list =
			{
				.layout = diff->layout,
				.has_children = settings->children,
				.by_path = settings->is_verbose,
				.is_relative = settings->is_relative,
				.comms = {diff->comms.items, diff->comms.count},
				.dsos = {diff->dsos.items, diff->dsos.count},
				.symbols = {diff->symbols.items, diff->symbols.count},
				.pids = chosen->pids,
				.pid_count = chosen->pid_count,
				.tids = chosen->tids,
				.tid_count = chosen->tid_count,
			},
		.runs = runs,
		.run_count = diff->file_count,
		.side_count = diff->side_count,
		.method = settings->method,
		.base_weight = settings->base_weight,
		.other_weight = settings->other_weight,
		.order = settings->order,
		.side_seconds = diff->seconds,
		.paired_only = settings->paired_only,
		.is_strict = settings->is_strict,
	};

	for (u32 i = 0; i < diff->file_count; i++)
		runs[i] = (struct comparison_run){
			.source = i ? find_source(diff, &diff->files[i],
						  &diff->profile->sources.items[base])
				    : base,
			.side = diff->files[i].side,
		};
	return comparison_new(diff->fold, &comparison);
}

static struct text_style choose_style(const struct diff *diff)
{
	const struct diff_settings *settings = diff->settings;

	return (struct text_style){
		.out = stdout,
		.separator = settings->separator,
		.is_quiet = settings->is_quiet,
		.has_color = !settings->separator && terminal_wants_color(stdout, settings->color),
		.hides =
			{
				[FIELD_COMM] = diff->comms.count == 1,
				[FIELD_DSO] = diff->dsos.count == 1,
				[FIELD_SYMBOL] = diff->symbols.count == 1,
			},
	};
}

static const char *rate_name(const struct diff *diff, const struct event_source *source)
{
	if (!diff->seconds)
		return NULL;
	return counts_time(source) ? "CPU seconds" : "events";
}

/* Of rates and where only what perf has is wanted, chance is not told. */
static struct changes *judge(const struct diff *diff, const struct comparison *comparison)
{
	if (diff->settings->is_strict || diff->seconds || diff->settings->method == COMPARE_CYCLES)
		return NULL;
	return changes_new(comparison, diff->settings->alpha_percent / 100, diff->quantum_ns);
}

/* Who writes the events, one after the other. */
struct writing {
	struct diff *diff;
	struct text_style style;
	struct json_writer *json; /* NULL: text or CSV */
};

static void write_view(const struct writing *writing, const struct diff_view *view)
{
	const struct diff_settings *settings = writing->diff->settings;

	if (settings->paths && writing->json) {
		diff_write_paths_json(view, writing->json, settings->least_percent);
		return;
	}
	if (writing->json) {
		diff_write_json(view, writing->json);
		return;
	}
	if (settings->paths) {
		diff_write_paths(view, &writing->style, settings->least_percent);
		return;
	}
	if (!settings->csv) {
		diff_write_text(view, &writing->style);
		return;
	}
	if (view->is_first)
		diff_write_csv_header(view, stdout);
	diff_write_csv(view, stdout);
}

static void write_source(const struct writing *writing, u32 source_row)
{
	struct diff *diff = writing->diff;
	const struct diff_settings *settings = diff->settings;
	CLEANUP(comparison_freep) struct comparison *comparison = compare(diff, source_row);
	CLEANUP(changes_freep) struct changes *changes = judge(diff, comparison);
	bool has_blocks = settings->method == COMPARE_CYCLES;
	CLEANUP(block_changes_freep)
	struct block_changes *blocks = has_blocks ? block_changes_new(comparison) : NULL;
	const struct event_source *source = &diff->profile->sources.items[source_row];
	struct diff_view view = {
		.comparison = comparison,
		.changes = changes,
		.blocks = blocks,
		.show_spread = settings->show_spread,
		.only_marked = settings->only_significant,
		.source = source,
		.names = (const char *const *)diff->names,
		.show_names = diff->file_count > 2 || settings->is_verbose || diff->files[0].times,
		.show_period = settings->show_period,
		.show_formula = settings->show_formula,
		.show_notes = !settings->is_strict && !has_blocks,
		.rate_name = rate_name(diff, source),
		.rate_scale = counts_time(source) ? 1e-9 : 1,
		.is_first = source_row == 0,
	};

	write_view(writing, &view);
	if (changes)
		diff_verdict_ask(&diff->verdict, changes);
}

static void write_sources(const struct writing *writing)
{
	for (u32 i = 0; i < writing->diff->files[0].source_count; i++)
		write_source(writing, i);
}

static void write_json(struct writing *writing)
{
	CLEANUP(json_writer_freep) struct json_writer *json = json_writer_new(stdout);

	writing->json = json;
	json_object(json, NULL);
	json_u64(json, "version", JSON_VERSION);
	json_double(json, "alpha", writing->diff->settings->alpha_percent / 100, 6);
	json_array(json, "events");
	write_sources(writing);
	json_array_end(json);
	json_object_end(json);
}

/* The ways through the code, of each event that both have. */
static void write_streams(const struct diff *diff)
{
	const struct event_source *sources = diff->profile->sources.items;

	for (u32 i = 0; i < diff->files[0].source_count; i++) {
		u32 other = find_source(diff, &diff->files[1], &sources[i]);
		const struct stream_source both[] = {
			{i, branch_history_marks(diff->files[0].history)},
			{other, branch_history_marks(diff->files[1].history)},
		};
		CLEANUP(streams_freep) struct streams *streams = NULL;

		if (other == NO_SOURCE)
			continue;
		streams = streams_new(diff->fold, both);
		diff_write_streams(streams, diff->fold, stdout);
	}
}

/* What each time of the store holds, and what is missing of it. */
static void describe_windows(const struct diff *diff)
{
	const struct diff_settings *settings = diff->settings;

	if (!diff->files[0].windows || settings->is_quiet || settings->json || settings->csv)
		return;
	for (u32 i = 0; i < diff->file_count; i++)
		asked_windows_describe(diff->files[i].windows, clock_ns(CLOCK_REALTIME), stdout);
}

static void write_output(struct diff *diff)
{
	struct writing writing = {.diff = diff, .style = choose_style(diff)};

	diff->names = must_alloc_array(diff->side_count, sizeof(*diff->names));
	for (u32 side = 0; side < diff->side_count; side++)
		diff->names[side] = diff_side_name(diff->files, diff->file_count, side);
	if (diff->settings->json) {
		write_json(&writing);
		return;
	}
	if (!diff->settings->csv)
		pager_start();
	describe_windows(diff);
	if (diff->settings->streams)
		write_streams(diff);
	else
		write_sources(&writing);
	pager_finish();
}

/* --- the command --- */

/* Reads all recordings. What is wrong with a damaged one is said at the end, when what it gives has
 * been shown. */
static int read_recordings(struct diff *diff, char **ret_damage)
{
	const struct diff_settings *settings = diff->settings;
	struct diff_reading how = {
		.keep = entry_layout_labels(&diff->layout, &diff->files[0].chosen.settings),
		.skip_chains = !settings->children && !settings->paths && !settings->streams,
		.has_streams = settings->streams,
		.stitch = settings->stitch,
		.symfs = settings->symbolize.symfs,
		.like_perf = settings->is_strict,
		.shows_progress = !settings->is_quiet,
		.count_blocks = settings->method == COMPARE_CYCLES,
		.slices_time = !settings->is_strict,
	};
	int error = diff_files_read(diff->files, diff->file_count, how, &diff->profile,
				    &diff->quantum_ns);

	progress_clear();
	if (error == -EBADMSG)
		*ret_damage = must_copy(fail_sentence());
	else if (!error)
		error = diff_files_check_found(diff->files, diff->file_count, settings,
					       &diff->comms, diff->profile);
	return error && error != -EBADMSG ? error : measure(diff);
}

static int run(struct diff *diff)
{
	CLEANUP(freep) char *damage = NULL;
	int error;

	diff->cache = names_choice_open(&diff->settings->names);
	diff->store_names = diff->files[0].windows ? asked_windows_names(diff->files[0].windows)
						   : names_choice_open_beside(diff->files[0].path);
	diff->symbolizer = new_symbolizer(diff);
	if (diff->files[0].data && input_has_this_kernel(diff->files[0].data))
		symbolizer_expect_kernel(diff->symbolizer);
	error = read_recordings(diff, &damage);
	if (error)
		return error;
	symbolizer_run(diff->symbolizer, diff->profile);
	progress_clear();
	diff->fold = fold_new(diff->profile, needs_lines(diff) ? FOLD_BY_LINE : FOLD_BY_FUNCTION);
	write_output(diff);
	for (u32 i = 0; i < diff->file_count && !diff->settings->is_quiet; i++)
		input_print_warnings(diff->files[i].data);
	error = diff_verdict_tell(&diff->verdict);
	return damage ? fail_plain(-EBADMSG, NULL, "%s", damage) : error;
}

static int dump_files(const struct diff *diff)
{
	int error = 0;

	for (u32 i = 0; i < diff->file_count && !error && diff->settings->dumps; i++)
		error = dump_recording(diff->files[i].path, stdout);
	return error;
}

static int diff_run(const void *settings, struct arguments arguments)
{
	struct diff diff = {.settings = settings};
	int status = prepare(&diff, arguments);

	if (!status)
		status = dump_files(&diff);
	if (!status)
		status = run(&diff);
	diff_release(&diff);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "show what changed between recordings",
	.synopsis = "[options] [OLD] [NEW] [MORE...] | OLD... : NEW...",
	.examples =
		"bpfprof diff\tperf.data.old against perf.data\n"
		"bpfprof diff before.data after.data\tShares, what changed most first\n"
		"bpfprof diff -c ratio -p a.data b.data c.data\tTwo recordings against a first "
		"one, with their periods\n"
		"bpfprof diff -s dso\tOne line a binary\n"
		"bpfprof diff --significant a1.data a2.data a3.data : b1.data b2.data "
		"b3.data\tThree runs against three: only what is beyond chance\n"
		"bpfprof diff --time 0%-50%:50%-100% a.data a.data\tThe halves of a recording\n"
		"bpfprof diff --before '14:00..14:05' --after '15:00..15:05'\tWhat changed on this "
		"machine, as the daemon recorded it\n",
	.options = diff_options,
	.settings_bytes = sizeof(struct diff_settings),
	.defaults = &diff_defaults,
	.run = diff_run,
};
