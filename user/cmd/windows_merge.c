/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many windows into one perf.data: window after window through the joint, which leaves out what
 * they repeat, into a writer. Each of their events is one of the file's.
 */
#include "cmd/windows_merge.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <string.h>
#include <time.h>

struct merging {
	struct passing_sink passing; /* first: in front of the writer */
	u64 samples;		     /* that went through it */
	struct asked_windows *windows;
	VEC(struct event_source) sources; /* of all windows; names owned */
	VEC(u32) rows;			  /* which of them those of the window are that is read */
	bool idle_skipped;
	bool has_begun; /* a window was handed on */
	struct perfdata_writer *writer;
	struct joint *joint;
	u64 wall_ns;
	u64 losses[COUNTERS_MAX];
};

/* --- events --- */

static bool is_numbered(const struct merging *merging, u32 row)
{
	for (size_t i = 0; i < merging->rows.count; i++)
		if (merging->rows.items[i] == row)
			return true;
	return false;
}

/* The row of an event among those of all windows, new or known. An event that a window has twice
 * is two. */
static u32 source_row(struct merging *merging, const struct event_source *source)
{
	struct event_source *added;

	for (u32 i = 0; i < merging->sources.count; i++) {
		const struct event_source *known = &merging->sources.items[i];

		if (source->type == known->type && source->config == known->config &&
		    !strcmp(source->name, known->name) && !is_numbered(merging, i))
			return i;
	}
	added = vec_add(&merging->sources);
	*added = *source;
	added->name = must_copy(source->name);
	/* events of different windows may have the same ones */
	added->ids = NULL;
	added->id_count = 0;
	return (u32)merging->sources.count - 1;
}

static void number_sources(struct merging *merging, const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	merging->rows.count = 0;
	for (u32 i = 0; i < count; i++) {
		u32 row = source_row(merging, &sources[i]); /* looks at those before it */

		*vec_add(&merging->rows) = row;
	}
}

/* The header of the file is written first, so that the events of all windows have to be known. */
static int collect_sources(struct merging *merging)
{
	const struct asked_windows *windows = merging->windows;
	int error = -ENODATA;

	for (size_t i = 0; i < windows->windows.count; i++) {
		CLEANUP(perfdata_closep) struct perfdata *data = NULL;

		error = perfdata_open_window(windows->windows.items[i].path, &data);
		if (error)
			continue; /* it is counted when it is to be read */
		if (!merging->sources.count)
			merging->idle_skipped = perfdata_header(data)->idle_skipped;
		number_sources(merging, data);
		progress_show("looking at windows", i + 1, windows->windows.count);
	}
	return merging->sources.count ? 0 : error;
}

static void release_sources(struct merging *merging)
{
	for (size_t i = 0; i < merging->sources.count; i++)
		free((char *)merging->sources.items[i].name);
	vec_release(&merging->sources);
	vec_release(&merging->rows);
}

/* --- windows --- */

/* Counts a sample, and gives it the number that its event has in the file. */
static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct merging *merging = (struct merging *)sink;
	struct sample numbered = *sample;

	numbered.source = merging->rows.items[sample->source];
	merging->samples += sample_count(sample);
	return sink_call(merging->passing.next, on_sample, &numbered);
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

	if (error) {
		merging->windows->damaged++;
		return 0;
	}
	number_sources(merging, data);
	header = perfdata_header(data);
	joint_set_clock(merging->joint,
			header->has_clock ? header->wall_clock_ns - header->clock_ns : 0);
	if (merging->has_begun && header->has_clock)
		joint_set_begin(merging->joint, header->wall_clock_ns);
	merging->has_begun = true;
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
	const struct event_source *sources = merging->sources.items; /* of a window at least */
	bool has_rate = merging->sources.count && sources->is_frequency;
	u64 first_ns = merging->windows->windows.items[0].facts.start_ns;
	struct perfdata_writer_settings settings = {
		.path = path,
		.path_remedy = "name another file with -o",
		.sources = sources,
		.source_count = (u32)merging->sources.count,
		.command_line = words,
		.command_words = ARRAY_COUNT(words),
		.compress = true,
		.clock_id = CLOCK_REALTIME,
		.wall_clock_ns = first_ns,
		.clock_ns = first_ns,
		.frequency_hz = has_rate ? (u32)sources->rate : 0,
		.idle_skipped = merging->idle_skipped,
	};

	return perfdata_writer_open(&settings, &merging->writer);
}

/* Writes all windows into the file, which is open. */
static int write_windows(struct merging *merging, const struct filter_settings *filter)
{
	struct event_sink *filtering;
	int error;

	passing_sink_init(&merging->passing, perfdata_writer_sink(merging->writer));
	merging->passing.sink.on_sample = take_sample;
	filtering = filter_new(filter, &merging->passing.sink);
	merging->joint = joint_new(filtering);
	error = merge_all(merging);
	joint_free(merging->joint);
	filter_free(filtering);
	return error;
}

int windows_merge(struct asked_windows *windows, const struct filter_settings *filter,
		  const char *path, u64 *ret_samples)
{
	struct merging merging = {.windows = windows};
	int error = collect_sources(&merging), ending;

	if (!error)
		error = open_writer(&merging, path);
	if (!error) {
		error = write_windows(&merging, filter);
		ending = perfdata_writer_close(merging.writer);
		error = error ? error : ending;
	}
	release_sources(&merging);
	*ret_samples = merging.samples;
	return error;
}
