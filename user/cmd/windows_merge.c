/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many windows into one perf.data: window after window through the joint, which leaves out what
 * they repeat, into a writer.
 */
#include "cmd/windows_merge.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cmd/windows_read.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <string.h>
#include <time.h>

struct merging {
	struct passing_sink passing; /* first: in front of the writer */
	u64 samples;		     /* that went through it */
	struct asked_windows *windows;
	struct perfdata *first; /* says what the events are */
	struct perfdata_writer *writer;
	struct joint *joint;
	u64 wall_ns;
	u64 losses[COUNTERS_MAX];
};

static int count_sample(struct event_sink *sink, const struct sample *sample)
{
	struct merging *merging = (struct merging *)sink;

	merging->samples += sample_count(sample);
	return sink_call(merging->passing.next, on_sample, sample);
}

static bool has_events_of(const struct perfdata *data, const struct perfdata *first)
{
	u32 count, first_count;
	const struct event_source *sources = perfdata_sources(data, &count);
	const struct event_source *wanted = perfdata_sources(first, &first_count);

	if (count != first_count)
		return false;
	for (u32 i = 0; i < count; i++)
		if (sources[i].type != wanted[i].type || sources[i].config != wanted[i].config ||
		    strcmp(sources[i].name, wanted[i].name) != 0)
			return false;
	return true;
}

static void add_extra(struct merging *merging, const struct perfdata *data)
{
	const struct perfdata_extra *extra = perfdata_extra(data);

	if (!extra)
		return;
	merging->wall_ns += extra->wall_ns;
	for (size_t i = 0; i < COUNTERS_MAX; i++)
		merging->losses[i] += extra->losses[i];
}

/* Returns an error of the writer; what is wrong with a window is counted. */
static int merge_window(struct merging *merging, const struct asked_window *window)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	const struct perfdata_header *header;
	int error = perfdata_open_window(window->path, &data);

	if (error || !has_events_of(data, merging->first)) {
		merging->windows->damaged++;
		return 0;
	}
	header = perfdata_header(data);
	joint_set_clock(merging->joint,
			header->has_clock ? header->wall_clock_ns - header->clock_ns : 0);
	error = perfdata_read(data, joint_sink(merging->joint));
	add_extra(merging, data);
	if (error == -EBADMSG) {
		merging->windows->damaged++;
		error = 0;
	}
	return error ? error : perfdata_writer_flush(merging->writer);
}

static int merge_all(struct merging *merging)
{
	size_t count = merging->windows->windows.count;
	struct perfdata_extra extra = {0};
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		error = merge_window(merging, &merging->windows->windows.items[i]);
		progress_show("writing windows", i + 1, count);
	}
	extra.wall_ns = merging->wall_ns;
	memcpy(extra.losses, merging->losses, sizeof(extra.losses));
	perfdata_writer_set_extra(merging->writer, &extra);
	return error;
}

static int open_writer(struct merging *merging, const char *path)
{
	static const char *const words[] = {"bpfprof", "export"};
	const struct perfdata_header *header = perfdata_header(merging->first);
	u32 count;
	const struct event_source *sources = perfdata_sources(merging->first, &count);
	u64 first_ns = merging->windows->windows.items[0].facts.start_ns;
	struct perfdata_writer_settings settings = {
		.path = path,
		.sources = sources,
		.source_count = count,
		.command_line = words,
		.command_words = ARRAY_COUNT(words),
		.compress = true,
		.clock_id = CLOCK_REALTIME,
		.wall_clock_ns = first_ns,
		.clock_ns = first_ns,
		.frequency_hz = sources[0].is_frequency ? (u32)sources[0].rate : 0,
		.idle_skipped = header->idle_skipped,
	};

	return perfdata_writer_open(&settings, &merging->writer);
}

int windows_merge(struct asked_windows *windows, const struct filter_settings *filter,
		  const char *path, u64 *ret_samples)
{
	CLEANUP(perfdata_closep) struct perfdata *first = NULL;
	struct merging merging = {.windows = windows};
	struct event_sink *filtering;
	const char *first_path;
	int error = windows_open_first(windows, perfdata_open_window, &first, &first_path), ending;

	merging.first = first;
	if (!error)
		error = open_writer(&merging, path);
	if (error)
		return error;
	passing_sink_init(&merging.passing, perfdata_writer_sink(merging.writer));
	merging.passing.sink.on_sample = count_sample;
	filtering = filter_new(filter, &merging.passing.sink);
	merging.joint = joint_new(filtering);
	error = merge_all(&merging);
	joint_free(merging.joint);
	filter_free(filtering);
	ending = perfdata_writer_close(merging.writer);
	*ret_samples = merging.samples;
	return error ? error : ending;
}
