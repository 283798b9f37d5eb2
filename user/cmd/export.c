/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export: windows of the store, or a recording, for other tools.
 */
#include "export/export.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/asked_windows.h"
#include "cmd/cmd.h"
#include "cmd/input.h"
#include "cmd/names_choice.h"
#include "cmd/option_rows.h"
#include "cmd/sample_choice.h"
#include "cmd/windows_found.h"
#include "cmd/windows_merge.h"
#include "cmd/windows_read.h"
#include "symbolize/symbolize.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum export_format { EXPORT_FOLDED, EXPORT_PERFDATA, EXPORT_PPROF };

struct export_settings {
	struct window_choice windows;
	const char *input, *output;
	struct sample_choice choice;
	struct names_choice names;
	const char *symfs;
	enum export_format format;
	bool is_quiet;
};

#define FIELD(field) offsetof(struct export_settings, field)

static const char *const format_names[] = {
	[EXPORT_FOLDED] = "folded",
	[EXPORT_PERFDATA] = "perfdata",
	[EXPORT_PPROF] = "pprof",
};

static int parse_format(void *settings, const char *argument)
{
	struct export_settings *export = settings;

	for (size_t i = 0; i < ARRAY_COUNT(format_names); i++) {
		if (strcmp(argument, format_names[i]) != 0)
			continue;
		export->format = (enum export_format)i;
		return 0;
	}
	return fail_plain(-EINVAL, "there are folded, perfdata and pprof", "no such format");
}

static const struct export_settings export_defaults = {.names = NAMES_CHOICE_DEFAULTS};

static const struct option_row export_options[] = {
	CALL(0, "format", "folded|perfdata|pprof", parse_format,
	     "a line a stack (default); one perf.data of all windows; gzipped pprof"),
	TEXT('o', "output", output, "FILE", "where to (default: standard output)"),
	TEXT('i', "input", input, "FILE", "a recording, in place of the store"),
	HEADING("The store of the daemon"),
	STORE_ROW(windows),
	STORE_TIME_ROWS(windows),
	HEADING("Filters"),
	TEXT(0, "pid", choice.pids, "LIST", "only these processes"),
	TEXT(0, "tid", choice.tids, "LIST", "only these threads"),
	TEXT(0, "cpu", choice.cpus, "LIST", "only these CPUs: 0,2-3"),
	CGROUP_ROWS(choice),
	HEADING("Names"),
	TEXT(0, "symfs", symfs, "DIRECTORY", "look for programs and libraries below this folder"),
	NAMES_CHOICE_ROWS,
	FLAG('q', "quiet", is_quiet, "no progress"),
	{.kind = OPTION_END},
};

/* A recording is one window. */
static int find_windows(const struct export_settings *settings, struct arguments arguments,
			struct asked_windows *windows)
{
	const char *path = settings->input;

	if (arguments.count > 1 || (arguments.count && path))
		return fail_plain(-EINVAL, NULL, "one recording at a time: %s",
				  arguments.items[arguments.count - 1]);
	if (arguments.count)
		path = arguments.items[0];
	if (path && window_choice_is_made(&settings->windows))
		return fail_plain(-EINVAL, "leave one of them out",
				  "%s is a recording, and times are of a store", path);
	if (!path)
		return asked_windows_find(&settings->windows, clock_ns(CLOCK_REALTIME), windows);
	*vec_add(&windows->windows) = (struct asked_window){.path = must_copy(path)};
	return 0;
}

/* --- formats --- */

static int write_named(const struct export_settings *settings, const struct asked_windows *windows,
		       struct profile *profile, FILE *out)
{
	size_t count = windows->windows.count;
	const struct store_window *first = &windows->windows.items[0].facts;
	const struct store_window *last = &windows->windows.items[count - 1].facts;
	struct fold *fold;

	if (settings->format == EXPORT_PPROF)
		return pprof_write(profile,
				   &(struct pprof_settings){
					   .start_ns = first->start_ns,
					   .duration_ns = last->end_ns - first->start_ns,
				   },
				   out);
	fold = fold_new(profile, FOLD_BY_FUNCTION);
	for (u32 i = 0; i < profile->sources.count; i++)
		folded_write(fold, i, out);
	fold_free(fold);
	return ferror(out) ? -EIO : 0;
}

static void name_all(const struct export_settings *settings, const struct asked_windows *windows,
		     struct profile *profile)
{
	struct names_cache *kept = asked_windows_names(windows);
	struct names_cache *own = names_choice_open(&settings->names);
	struct symbolize_settings symbolize = {.symfs = settings->symfs};
	struct symbolizer *symbolizer;

	symbolize.caches[CACHE_OF_STORE] = kept;
	symbolize.caches[NAMES_CACHES_MAX - 1] = own;
	if (!settings->is_quiet)
		symbolize.on_progress = progress_show;
	symbolizer = symbolizer_new(&symbolize);
	symbolizer_run(symbolizer, profile);
	progress_clear();
	names_choice_close(own, symbolizer, settings->is_quiet);
	symbolizer_free(symbolizer);
	names_choice_close_kept(kept, settings->is_quiet);
}

static int open_output(const char *path, FILE **ret_out)
{
	*ret_out = stdout;
	if (!path || !strcmp(path, "-"))
		return 0;
	*ret_out = fopen(path, "we");
	return *ret_out ? 0 : fail(-errno, NULL, "cannot write %s", path);
}

static int export_profile(const struct export_settings *settings, struct asked_windows *windows,
			  const struct wanted_samples *wanted)
{
	const struct builder_settings counting = {.keep = KEEP_PID, .max_stack = UINT16_MAX};
	struct profile *profile = NULL;
	FILE *out;
	int error = windows_read(windows,
				 (struct windows_reading){.builder = &counting,
							  .filter = wanted->chosen,
							  .shows_progress = !settings->is_quiet},
				 &profile);

	progress_clear();
	if (!error && windows->directory)
		error = windows_check_found(wanted, profile, windows->windows.count);
	if (!error)
		error = open_output(settings->output, &out);
	if (!error) {
		name_all(settings, windows, profile);
		error = write_named(settings, windows, profile, out);
		if (out != stdout && fclose(out) && !error)
			error = -errno;
		if (error)
			error = fail(error, NULL, "cannot write %s",
				     settings->output ? settings->output : "standard output");
	}
	profile_free(profile);
	return error;
}

static int check_output(const struct export_settings *settings)
{
	if (settings->format == EXPORT_FOLDED || (settings->output && *settings->output) ||
	    !isatty(STDOUT_FILENO))
		return 0;
	return fail_plain(-EINVAL, "name a file with -o", "%s is nothing for a terminal",
			  format_names[settings->format]);
}

/* Whether what is there can be summed is told by one of them. */
static int check_windows(const struct asked_windows *windows)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	const char *path;
	int error = windows_open_first(windows, perfdata_open_window, &data, &path);

	return error ? error : windows_can_be_summed(data);
}

/* Leaves no recording of nothing behind. */
static void remove_output(const char *path)
{
	struct stat status;

	if (path && !stat(path, &status) && S_ISREG(status.st_mode))
		unlink(path);
}

static int export_perfdata(const struct export_settings *settings, struct asked_windows *windows,
			   const struct wanted_samples *wanted)
{
	u64 samples;
	int error = windows_merge(windows, wanted->chosen,
				  settings->output ? settings->output : "-", &samples);

	if (error || samples || !windows->directory)
		return error;
	remove_output(settings->output);
	return windows_refuse_empty(wanted, windows->windows.count);
}

static int export_run(const void *settings, struct arguments arguments)
{
	const struct export_settings *export = settings;
	CLEANUP(asked_windows_release) struct asked_windows windows = {0};
	CLEANUP(chosen_samples_release) struct chosen_samples chosen = {0};
	const struct wanted_samples wanted = {&export->choice, &chosen.settings};
	int error = check_output(export);

	error = error ? error : find_windows(export, arguments, &windows);
	error = error ? error : sample_choice_read(&export->choice, 0, 0, &chosen);
	error = error ? error : check_windows(&windows);
	error = error ? error : windows_check_choice(&windows, &export->choice);
	if (error)
		return error;
	if (export->format == EXPORT_PERFDATA)
		error = export_perfdata(export, &windows, &wanted);
	else
		error = export_profile(export, &windows, &wanted);
	progress_clear();
	if (!error && windows.damaged && !export->is_quiet)
		fprintf(stderr, "bpfprof: %llu windows could not be read, or not to their end\n",
			(unsigned long long)windows.damaged);
	return error;
}

const struct command command_export = {
	.name = "export",
	.summary = "write what the daemon recorded, or a recording, for other tools",
	.synopsis = "[options] [FILE]",
	.examples = "bpfprof export --since 1h | flamegraph.pl >hour.svg\tA flame graph of an "
		    "hour\n"
		    "bpfprof export --yesterday --format pprof -o day.pb.gz\tFor go tool pprof\n"
		    "bpfprof export --at '14:00..14:05' --format perfdata -o five.data\tFor perf "
		    "report, as one recording\n",
	.options = export_options,
	.settings_bytes = sizeof(struct export_settings),
	.defaults = &export_defaults,
	.run = export_run,
};
