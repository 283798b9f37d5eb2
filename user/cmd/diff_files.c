/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recordings of a diff: opened, filtered each by itself, and read into one profile.
 */
#include "cmd/diff_settings.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cmd/input.h"
#include "cmd/stitching.h"
#include "cmd/unwinding.h"
#include "cmd/windows_found.h"
#include "cmd/windows_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What --time says of one file, owned by the caller: "FIRST:SECOND", or the same for all. */
static int times_of(const char *times, u32 file, char **ret_times)
{
	const char *part = times;

	*ret_times = NULL;
	for (u32 i = 0; part && strchr(times, ':') && i < file; i++) {
		part = strchr(part, ':');
		if (part)
			part++;
	}
	if (times && !part)
		return fail_plain(-EINVAL, "part them by \":\", one for each recording",
				  "--time '%s' says nothing of recording %u", times, file + 1);
	if (part && *part != ':' && *part)
		*ret_times = must_format("%.*s", (int)strcspn(part, ":"), part);
	return 0;
}

static int choose_samples(struct diff_file *file, u32 number, const struct sample_choice *choice)
{
	const struct perfdata_header *header = perfdata_header(file->data);
	struct sample_choice own = *choice;
	CLEANUP(freep) char *times = NULL;
	int error = times_of(choice->times, number, &times);

	if (error)
		return error;
	own.times = file->times && !file->windows ? file->times : times;
	return sample_choice_read(&own, header->first_sample_ns, header->last_sample_ns,
				  &file->chosen);
}

/* As perf, rather than to show nothing. */
static int check_cpus(const struct diff_file *file)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(file->data, &count);

	for (u32 i = 0; i < count && file->chosen.settings.cpu_count; i++)
		if (!sources[i].has_cpu)
			return fail_plain(-EINVAL, "leave --cpu out, or record with -a",
					  "%s: samples of '%s' do not say on which CPU they were "
					  "taken",
					  file->path, sources[i].name);
	return 0;
}

/* Blocks of code are told by branches, and what they took by the cycles of these. */
static int check_branches(const struct diff_file *file, const struct diff_settings *settings)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(file->data, &count);

	if (settings->method != COMPARE_CYCLES && !settings->streams)
		return 0;
	for (u32 i = 0; i < count; i++)
		if (sources[i].has_branches && !event_source_has_call_stacks(&sources[i]))
			return 0;
	return fail_plain(-EINVAL, "record with -b, where the CPU counts cycles of branches",
			  "%s: %s has no branches", settings->streams ? "--stream" : "-c cycles",
			  file->path);
}

static int open_recording(struct diff_file *file)
{
	if (file->windows)
		return windows_open_first(file->windows, perfdata_open_window, &file->data,
					  &file->path);
	if (access(file->path, R_OK))
		return fail(-errno, "name the recordings: bpfprof diff OLD NEW", "cannot open %s",
			    file->path);
	return perfdata_open(file->path, &file->data);
}

/* Opens one; its number is that of its times in --time. */
static int open_file(struct diff_file *file, u32 number, const struct diff_settings *settings)
{
	int error = open_recording(file);

	if (!error && file->windows)
		error = windows_can_be_summed(file->data);
	if (!error)
		error = file->windows ? windows_check_choice(file->windows, &settings->choice)
				      : sample_choice_check(&settings->choice, file->data);
	if (!error)
		error = choose_samples(file, number, &settings->choice);
	if (!error)
		error = check_cpus(file);
	return error ? error : check_branches(file, settings);
}

int diff_files_open(struct diff_file *files, u32 count, const struct diff_settings *settings)
{
	int error = 0;

	for (u32 i = 0; !error && i < count; i++)
		error = open_file(&files[i], i, settings);
	return error;
}

bool diff_files_are_from_elsewhere(const struct diff_file *files, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (input_is_from_elsewhere(files[i].data))
			return true;
	return false;
}

void diff_files_close(struct diff_file *files, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		chosen_samples_release(&files[i].chosen);
		branch_history_free(files[i].history);
		perfdata_close(files[i].data);
		files[i].data = NULL;
		if (files[i].windows)
			asked_windows_release(files[i].windows);
		free(files[i].windows);
	}
}

/* --- reading --- */

/* Sees when samples were taken. */
struct span_sink {
	struct passing_sink passing; /* first */
	struct diff_file *file;
};

static int see_sample(struct event_sink *sink, const struct sample *sample)
{
	struct span_sink *span = (struct span_sink *)sink;
	struct diff_file *file = span->file;

	if (!file->first_ns || sample->time_ns < file->first_ns)
		file->first_ns = sample->time_ns;
	if (sample->time_ns > file->last_ns)
		file->last_ns = sample->time_ns;
	return sink_call(span->passing.next, on_sample, sample);
}

static bool knows_chain(struct event_sink *sink, const struct sample *sample)
{
	return sink_call(((struct span_sink *)sink)->passing.next, knows_chain, sample);
}

/* Whose a sample is decides over its lines, later: 100% are all samples. */
static int read_file(struct diff_file *file, const struct diff_reading *reading,
		     struct event_sink *sink)
{
	CLEANUP(sample_unwinder_freep) struct sample_unwinder *unwinder = NULL;
	struct filter_settings settings = file->chosen.settings;
	struct span_sink span = {.file = file};
	struct lbr_settings lbr = {.tier = reading->stitch, .symfs = reading->symfs};
	struct event_sink *filter;
	struct lbr_tally tally;
	int error;

	settings.pid_count = settings.tid_count = 0;
	if (reading->skip_chains)
		perfdata_skip_chains(file->data);
	else
		sink = unwinding_before(sink, file->data, reading->symfs, reading->like_perf,
					&unwinder);
	filter = filter_new(&settings, sink);
	passing_sink_init(&span.passing, filter);
	span.passing.sink.on_sample = see_sample;
	span.passing.sink.knows_chain = knows_chain;
	if (reading->has_streams) {
		file->history = branch_history_new(HISTORY_NEWEST_FIRST, &span.passing.sink);
		error = perfdata_read(file->data, branch_history_sink(file->history));
		filter_free(filter);
		return error;
	}
	error = reading->skip_chains ? perfdata_read(file->data, &span.passing.sink)
				     : stitching_read(file->data, &lbr, &span.passing.sink, &tally);
	filter_free(filter);
	return error;
}

/* All that was recorded, whatever lies in between. */
static double windows_seconds(const struct asked_windows *windows)
{
	u64 ns = 0;

	for (size_t i = 0; i < windows->windows.count; i++) {
		const struct store_window *window = &windows->windows.items[i].facts;

		ns += window->end_ns > window->start_ns ? window->end_ns - window->start_ns : 0;
	}
	return (double)ns / 1e9;
}

double diff_file_seconds(const struct diff_file *file)
{
	const struct filter_settings *chosen = &file->chosen.settings;
	const struct perfdata_extra *extra = perfdata_extra(file->data);
	u64 ns = 0;

	if (file->windows)
		return windows_seconds(file->windows);
	if (!chosen->time_count && extra && extra->wall_ns)
		return (double)extra->wall_ns / 1e9;
	if (!chosen->time_count)
		ns = file->last_ns - file->first_ns;
	for (size_t i = 0; i < chosen->time_count; i++) {
		const struct time_range *range = &chosen->times[i];
		u64 start = range->start_ns > file->first_ns ? range->start_ns : file->first_ns;
		u64 end = range->end_ns < file->last_ns ? range->end_ns : file->last_ns;

		ns += end > start ? end - start : 0;
	}
	return (double)ns / 1e9;
}

/* Slices of whole windows, of which samples may be sums; 0: there are too few windows. */
static u64 quantum_of_windows(const struct diff_file *files, u32 count)
{
	enum { LEAST_WINDOWS = 8 };
	CLEANUP(freep) u64 *lengths = must_alloc_array(count, sizeof(*lengths));
	u64 longest_ns = 0, quantum_ns;

	for (u32 i = 0; i < count; i++) {
		const struct asked_windows *windows = files[i].windows;
		size_t window_count = windows->windows.count;
		const struct store_window *last = &windows->windows.items[window_count - 1].facts;

		if (window_count < LEAST_WINDOWS)
			return 0;
		lengths[i] = last->end_ns - windows->windows.items[0].facts.start_ns;
		for (size_t w = 0; w < window_count; w++) {
			const struct store_window *window = &windows->windows.items[w].facts;

			if (window->end_ns > window->start_ns + longest_ns)
				longest_ns = window->end_ns - window->start_ns;
		}
	}
	quantum_ns = changes_quantum(lengths, count);
	return quantum_ns > longest_ns ? quantum_ns : longest_ns;
}

/* How long a slice of time is, for all of them. */
static u64 choose_quantum(const struct diff_file *files, u32 count)
{
	CLEANUP(freep) u64 *lengths = must_alloc_array(count, sizeof(*lengths));

	if (files[0].windows)
		return quantum_of_windows(files, count);
	for (u32 i = 0; i < count; i++) {
		const struct perfdata_header *header = perfdata_header(files[i].data);

		if (header->last_sample_ns > header->first_sample_ns)
			lengths[i] = header->last_sample_ns - header->first_sample_ns;
	}
	return changes_quantum(lengths, count);
}

/* One reading of all recordings, each by itself. */
struct reading {
	struct diff_file *files;
	const struct diff_reading *how;
	struct builder_settings settings;
	struct profile **profiles;
	int *errors;
	char **sentences; /* why; a thread's last one is its own */
};

static int read_windows(struct reading *reading, size_t number)
{
	struct diff_file *file = &reading->files[number];
	struct filter_settings filter = file->chosen.settings;

	filter.pid_count = filter.tid_count = 0;
	return windows_read(file->windows,
			    (struct windows_reading){
				    .builder = &reading->settings,
				    .filter = &filter,
				    .shows_progress = number == 0 && reading->how->shows_progress,
				    .by_window = reading->settings.details.quantum_ns != 0,
			    },
			    &reading->profiles[number]);
}

static void read_recording(struct reading *reading, size_t file)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(reading->files[file].data, &count);
	struct profile_builder *builder = profile_builder_new(&reading->settings, sources, count);

	reading->errors[file] = read_file(&reading->files[file], reading->how,
					  profile_builder_sink(builder));
	reading->profiles[file] = profile_builder_take(builder);
	profile_builder_free(builder);
}

static void read_alone(void *context, size_t file)
{
	struct reading *reading = context;

	if (reading->files[file].windows)
		reading->errors[file] = read_windows(reading, file);
	else
		read_recording(reading, file);
	if (reading->errors[file])
		reading->sentences[file] = must_copy(fail_sentence());
	if (!reading->profiles[file])
		reading->profiles[file] = profile_new();
}

/* Puts the recordings into the profile of the first one. Returns the first error, but that one is
 * damaged only if nothing worse is the matter. */
static int join_files(struct reading *reading, u32 count)
{
	int error = 0;

	for (u32 i = 0; i < count; i++) {
		reading->files[i].source_count = (u32)reading->profiles[i]->sources.count;
		if (i)
			reading->files[i].first_source = profile_join(reading->profiles[0],
								      reading->profiles[i]);
		if (i)
			profile_free(reading->profiles[i]);
		if (reading->errors[i] &&
		    (!error || (error == -EBADMSG && reading->errors[i] != error)))
			error = fail_plain(reading->errors[i], NULL, "%s", reading->sentences[i]);
		free(reading->sentences[i]);
	}
	return error;
}

int diff_files_check_found(const struct diff_file *files, u32 count,
			   const struct diff_settings *settings, const struct name_list *comms,
			   const struct profile *profile)
{
	const struct wanted_samples wanted = {&settings->choice, &files[0].chosen.settings,
					      settings->comms, comms};
	size_t windows = 0;

	if (!files[0].windows)
		return 0;
	for (u32 i = 0; i < count; i++)
		windows += files[i].windows->windows.count;
	return windows_check_found(&wanted, profile, windows);
}

int diff_files_read(struct diff_file *files, u32 count, struct diff_reading how,
		    struct profile **ret_profile, u64 *ret_quantum_ns)
{
	u64 quantum_ns = how.slices_time ? choose_quantum(files, count) : 0;
	struct reading reading = {
		.files = files,
		.how = &how,
		.settings =
			{
				.keep = how.keep,
				.skip_chains = how.skip_chains,
				.count_blocks = how.count_blocks,
				.details = {.kept = quantum_ns ? 1u << DETAIL_TIME : 0,
					    .quantum_ns = quantum_ns},
			},
		.profiles = must_alloc_array(count, sizeof(*reading.profiles)),
		.errors = must_alloc_array(count, sizeof(*reading.errors)),
		.sentences = must_alloc_array(count, sizeof(*reading.sentences)),
	};
	int error;

	parallel_run(count, read_alone, &reading);
	error = join_files(&reading, count);
	*ret_profile = reading.profiles[0];
	*ret_quantum_ns = quantum_ns;
	free(reading.profiles);
	free(reading.errors);
	free(reading.sentences);
	return error;
}
