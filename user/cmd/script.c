/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * script: one sample after the other, as perf script prints them.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cmd/cmd.h"
#include "cmd/guarded.h"
#include "cmd/input.h"
#include "cmd/kernel_files.h"
#include "cmd/script_names.h"
#include "cmd/script_settings.h"
#include "cmd/script_team.h"
#include "cmd/stitching.h"
#include "cmd/unwinding.h"
#include "cmd/windows_read.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <string.h>

/* A field that was asked for has to be recorded by some event. */
static int check_recorded(struct script_fields *fields, const struct script_settings *settings,
			  const struct perfdata *data)
{
	u64 also = 0;
	bool has_cpu = false;
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		has_cpu |= sources[i].has_cpu;
	if (settings->choice.cpus && !has_cpu)
		return fail_plain(-EINVAL, "leave out --cpu",
				  "the samples do not say on which CPU they were taken");
	if (perfdata_header(data)->is_ours || settings->stitch != LBR_PLAIN ||
	    unwinding_is_needed(data))
		also = PRINT_provenance;
	return script_fields_check(fields, data, also);
}

enum { PERF_MAX_STACK = 127 }; /* where perf ends the stacks it shows, if nothing is said */

/* Whether more than samples is printed. */
static bool listens(const struct script_layout *layout)
{
	return layout->dumps || layout->shows;
}

/* Whether the sources of what is printed have to be looked at first, and for what. */
static enum source_wish choose_source(const struct script_settings *settings,
				      const struct script_layout *layout,
				      const struct perfdata *data)
{
	u64 fields = script_fields_any(&layout->fields);
	bool has_inlined = settings->inlined == INLINED_ALWAYS ||
			   (settings->inlined == INLINED_IN_COPIED_STACKS &&
			    unwinding_is_needed(data));

	if (has_inlined && (fields & PRINT_ip) && !layout->hide_chains)
		return SOURCE_INLINED;
	return fields & PRINT_SOURCES ? SOURCE_LINES : SOURCE_NONE;
}

/* Whether addresses are looked for in the source that are only met when code is walked through. */
static bool shows_sources_of_blocks(const struct script_layout *layout)
{
	u64 fields = script_fields_any(&layout->fields);

	return (fields & PRINT_BLOCKS) && (fields & PRINT_SOURCES);
}

/* One recording, and what is printed of it. */
struct reading {
	const struct script_settings *settings;
	const struct script_layout *layout;
	struct perfdata *data;
	const struct filter_settings *chosen;
	struct symbolizer *symbolizer;
	struct lbr_keeper keeper;
};

/* Reader, choice of samples, and then both halves of the printer. */
static int feed_printer(const struct reading *reading, struct script_printer *printer)
{
	const struct script_settings *settings = reading->settings;
	CLEANUP(sample_unwinder_freep) struct sample_unwinder *unwinder = NULL;
	const char *symfs = settings->symbolize.symfs;
	struct lbr_settings lbr = {
		.tier = settings->stitch, .symfs = symfs, .keeper = &reading->keeper};
	struct lbr_tally tally;
	struct event_sink *halves[] = {script_printer_follower(printer),
				       script_printer_sink(printer)};
	struct event_sink *both = tee_new(halves, ARRAY_COUNT(halves));
	struct event_sink *filter = filter_new(
		reading->chosen, unwinding_before(both, reading->data, symfs,
						  settings->symbolize.only_symbols, &unwinder));
	int error = stitching_read(reading->data, &lbr, filter, &tally);

	progress_clear();
	filter_free(filter);
	tee_free(both);
	return error;
}

/* Meets all instructions between branches, in a reading that prints nothing. */
static int find_instructions(const struct reading *reading, struct profile **profile)
{
	CLEANUP(fclosep) FILE *nowhere = fopen("/dev/null", "w");
	struct script_layout blocks = *reading->layout;
	struct script_printer *printer;
	struct script_names *names;
	int error;

	if (!nowhere)
		return fail(-errno, NULL, "cannot open /dev/null");
	for (size_t i = 0; i < ARRAY_COUNT(blocks.fields.of_type); i++)
		blocks.fields.of_type[i] &= PRINT_BLOCKS | PRINT_SOURCES;
	names = script_names_new(reading->symbolizer, *profile);
	printer = script_printer_new(&blocks, reading->data, names, nowhere);
	error = feed_printer(reading, printer);
	script_printer_free(printer);
	*profile = script_names_take(names);
	return error;
}

/* Names all that will be printed, in a reading of its own: sources are looked at once for all
 * addresses of a file. The caller owns the profile. */
static int find_sources(const struct reading *reading, struct profile **ret_profile)
{
	const struct script_settings *settings = reading->settings;
	CLEANUP(sample_unwinder_freep) struct sample_unwinder *unwinder = NULL;
	struct builder_settings counting = {.max_stack = UINT16_MAX};
	struct lbr_settings lbr = {.tier = settings->stitch,
				   .symfs = settings->symbolize.symfs,
				   .keeper = &reading->keeper};
	struct lbr_tally tally;
	u32 count;
	const struct event_source *sources = perfdata_sources(reading->data, &count);
	struct profile_builder *builder = profile_builder_new(&counting, sources, count);
	struct event_sink *filter = filter_new(
		reading->chosen,
		unwinding_before(profile_builder_sink(builder), reading->data, lbr.symfs,
				 settings->symbolize.only_symbols, &unwinder));
	int error = stitching_read(reading->data, &lbr, filter, &tally);

	*ret_profile = profile_builder_take(builder);
	profile_builder_free(builder);
	filter_free(filter);
	if (shows_sources_of_blocks(reading->layout) && (!error || error == -EBADMSG))
		error = find_instructions(reading, ret_profile);
	symbolizer_run(reading->symbolizer, *ret_profile);
	progress_clear();
	return error == -EBADMSG ? 0 : error; /* what is damaged will be met again */
}

enum { DUMP_BUFFER_BYTES = 1 << 18 }; /* dumps are written word by word */

static struct symbolizer *new_symbolizer(const struct script_settings *settings,
					 const struct script_layout *layout, struct perfdata *data,
					 struct names_cache *const caches[NAMES_CACHES_MAX])
{
	struct symbolize_settings symbolize = settings->symbolize;

	/* On a terminal the samples themselves show how far it is. */
	if (!settings->quiet && !isatty(STDOUT_FILENO))
		input_show_progress(data, &symbolize);
	symbolize.is_from_elsewhere = input_is_from_elsewhere(data);
	symbolize.source = (u8)choose_source(settings, layout, data);
	symbolize.returns_are_exact = symbolize.only_symbols || unwinding_is_needed(data) ||
				      shows_sources_of_blocks(layout);
	memcpy(symbolize.caches, caches, sizeof(symbolize.caches));
	return symbolizer_new(&symbolize);
}

/* Reads it with one printer. */
static int print_in_order(const struct reading *reading, struct script_names *names)
{
	const struct script_settings *settings = reading->settings;
	const struct script_layout *layout = reading->layout;
	struct script_printer *printer;
	int error, format_error, write_error;

	if (listens(layout) && !isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, DUMP_BUFFER_BYTES);
	printer = script_printer_new(layout, reading->data, names, stdout);
	format_error = script_printer_read_formats(printer);
	if (format_error && format_error != -EBADMSG) {
		script_printer_free(printer);
		return format_error;
	}
	if (listens(layout))
		perfdata_listen(reading->data, script_printer_listener(printer),
				settings->in_file_order ? ORDER_IN_FILE : ORDER_DELIVERED);
	error = feed_printer(reading, printer);
	write_error = script_printer_finish(printer);
	script_printer_free(printer);
	if (write_error && !error)
		error = fail(write_error, NULL, "cannot write to standard output");
	return error ? error : format_error;
}

/* How many threads are to print: more than one only if what is printed of a sample follows from it
 * and what was told before, and if there is enough to do. */
static u32 choose_width(const struct reading *reading)
{
	const struct script_layout *layout = reading->layout;
	struct perfdata *data = reading->data;

	if (!script_lines_stand_alone(layout, data) || stitching_is_possible(data) ||
	    unwinding_is_needed(data) || choose_source(reading->settings, layout, data))
		return 1;
	return perfdata_slices(data, (u32)parallel_width());
}

static int print_side_by_side(const struct reading *reading, struct script_names *names, u32 width)
{
	struct script_work work = {
		.layout = reading->layout,
		.data = reading->data,
		.names = names,
		.chosen = reading->chosen,
		.out = stdout,
	};
	int error = script_team_print(&work, width);

	progress_clear();
	return error;
}

static int print_samples(const struct reading *reading)
{
	const struct script_settings *settings = reading->settings;
	struct script_names *names;
	struct profile *known = NULL;
	u32 width = choose_width(reading);
	int error = 0;

	if (choose_source(settings, reading->layout, reading->data))
		error = find_sources(reading, &known);
	if (error) {
		profile_free(known);
		return error;
	}
	names = script_names_new(reading->symbolizer, known);
	if (width > 1)
		error = print_side_by_side(reading, names, width);
	else
		error = print_in_order(reading, names);
	stitching_warn(reading->data, settings->stitch, false);
	script_names_free(names);
	return error;
}

/* Opens a recording, and sees what it can give. */
static int open_recording(const struct script_settings *settings, const char *path,
			  struct script_layout *layout, struct chosen_samples *chosen,
			  struct perfdata **ret_data)
{
	int error = listens(&settings->layout) ? perfdata_open_listed(path, ret_data)
					       : perfdata_open(path, ret_data);

	if (!error)
		error = check_recorded(&layout->fields, settings, *ret_data);
	if (!error && !window_choice_is_made(&settings->windows))
		error = sample_choice_check(&settings->choice, *ret_data);
	if (!error)
		error = sample_choice_read(&settings->choice,
					   perfdata_header(*ret_data)->first_sample_ns,
					   perfdata_header(*ret_data)->last_sample_ns, chosen);
	layout->symfs = settings->symbolize.symfs;
	if (settings->symbolize.only_symbols && !layout->max_stack)
		layout->max_stack = PERF_MAX_STACK;
	return error;
}

/* One recording. `symbolizer` is made with the first one. */
static int run_one(const struct script_settings *settings, const char *path,
		   struct names_cache *const caches[NAMES_CACHES_MAX],
		   struct symbolizer **symbolizer)
{
	struct script_layout layout = settings->layout;
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	CLEANUP(chosen_samples_release) struct chosen_samples chosen = {0};
	int error = open_recording(settings, path, &layout, &chosen, &data);

	if (!error && script_tells_tracepoints(&layout.fields, data))
		error = guarded_begin(path, "leave out what tracepoints say, with -F -trace");
	if (error)
		return error;
	if (!*symbolizer)
		*symbolizer = new_symbolizer(settings, &layout, data, caches);
	pager_start();
	if (settings->header || settings->header_only)
		perfdata_print_header(data, settings->header_all, stdout);
	if (!settings->header_only)
		error = print_samples(
			&(struct reading){settings, &layout, data, &chosen.settings, *symbolizer,
					  stitching_keeper(caches[NAMES_CACHES_MAX - 1])});
	if (!settings->quiet)
		input_print_warnings(data);
	return error;
}

static int choose_windows(const struct script_settings *settings, struct arguments arguments,
			  struct asked_windows *ret_windows)
{
	int error = input_refuse_recording(settings->input, arguments, settings->choice.times);

	if (!error)
		error = asked_windows_find(&settings->windows, clock_ns(CLOCK_REALTIME),
					   ret_windows);
	return error ? error : windows_check_choice(ret_windows, &settings->choice);
}

/* One window after the other. One that is damaged gives what it can, and what is wrong with it is
 * said in the end. */
static int run_windows(const struct script_settings *settings, struct asked_windows *windows,
		       struct names_cache *const caches[NAMES_CACHES_MAX],
		       struct symbolizer **symbolizer)
{
	CLEANUP(freep) char *damage = NULL;
	int error = 0, first = 0;

	pager_start();
	if (settings->header || settings->header_only)
		asked_windows_describe(windows, clock_ns(CLOCK_REALTIME), stdout);
	for (size_t i = 0; i < windows->windows.count && (!error || error == -EBADMSG); i++) {
		error = run_one(settings, windows->windows.items[i].path, caches, symbolizer);
		if (!error || damage)
			continue;
		first = error;
		damage = must_copy(fail_sentence());
	}
	return damage ? fail_plain(first, NULL, "%s", damage) : 0;
}

static int run(const void *all_settings, struct arguments arguments)
{
	const struct script_settings *settings = all_settings;
	CLEANUP(asked_windows_release) struct asked_windows windows = {0};
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = NULL;
	struct names_cache *caches[NAMES_CACHES_MAX] = {NULL};
	bool has_windows = window_choice_is_made(&settings->windows);
	const char *path = NULL;
	int error = kernel_files_check(&settings->symbolize);

	if (!error)
		error = has_windows ? choose_windows(settings, arguments, &windows)
				    : input_choose(settings->input, arguments, &path);
	if (error)
		return error;
	caches[NAMES_CACHES_MAX - 1] = names_choice_open(&settings->names);
	caches[CACHE_OF_STORE] = has_windows ? asked_windows_names(&windows)
					     : names_choice_open_beside(path);
	if (has_windows)
		error = run_windows(settings, &windows, caches, &symbolizer);
	else
		error = run_one(settings, path, caches, &symbolizer);
	pager_finish();
	names_choice_close(caches[NAMES_CACHES_MAX - 1], symbolizer, settings->quiet);
	names_choice_close_kept(caches[CACHE_OF_STORE], settings->quiet);
	return error;
}

const struct command command_script = {
	.name = "script",
	.summary = "print the samples of a recording, one after the other",
	.synopsis = "[options] [FILE]",
	.examples = "bpfprof script\tprint all samples of perf.data\n"
		    "bpfprof script -F comm,tid,time,ip,sym\tonly some fields\n"
		    "perf record -o - ls | bpfprof script\tread standard input\n"
		    "bpfprof script --since 10m -F +tod\twhat the daemon recorded, by the clock\n",
	.options = script_options,
	.settings_bytes = sizeof(struct script_settings),
	.defaults = &script_defaults,
	.run = run,
};
