/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorts a stream's events by time and lets user/lbr/ put stacks together; reads a file twice and
 * writes it anew.
 */
#include "cmd/live_stitching.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/stitching.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct live_stitching {
	struct perfdata_writer_settings settings; /* of what is left in the end */
	const struct event_source *recorded;
	struct event_source *written; /* the same with call chains */
	bool is_stream;
	struct lbr_stitcher *stitcher; /* of a stream */
	struct event_sink *sorter;
	struct lbr_tally tally;
};

/* What can be read again when it has been written. */
static bool is_file(const char *path)
{
	struct stat status;

	return strcmp(path, "-") && (stat(path, &status) || S_ISREG(status.st_mode));
}

static struct event_source *without_branches(const struct event_source *sources, u32 count)
{
	struct event_source *copies = must_alloc_array(count, sizeof(*copies));

	for (u32 i = 0; i < count; i++) {
		copies[i] = sources[i];
		copies[i].has_branches = false;
		copies[i].branch_bits = 0;
		copies[i].sample_bits &= ~(u64)PERF_SAMPLE_BRANCH_STACK;
	}
	return copies;
}

struct live_stitching *live_stitching_new(struct perfdata_writer_settings *settings)
{
	struct live_stitching *stitching = must_alloc(sizeof(*stitching));

	stitching->recorded = settings->sources;
	stitching->written = without_branches(settings->sources, settings->source_count);
	stitching->is_stream = !is_file(settings->path);
	stitching->settings = *settings;
	stitching->settings.sources = stitching->written;
	stitching->settings.command_line = NULL; /* they are not ours */
	stitching->settings.command_words = 0;
	if (stitching->is_stream)
		settings->sources = stitching->written;
	return stitching;
}

void live_stitching_free(struct live_stitching *stitching)
{
	if (!stitching)
		return;
	sorter_free(stitching->sorter);
	lbr_stitcher_free(stitching->stitcher);
	free(stitching->written);
	free(stitching);
}

struct event_sink *live_stitching_sink(struct live_stitching *stitching, struct event_sink *next)
{
	struct lbr_settings settings = {.tier = LBR_CERTAIN,
					.depth = stitching->settings.branch_depth};

	if (!stitching->is_stream)
		return next;
	stitching->stitcher = lbr_stitcher_new(&settings, next);
	lbr_stitcher_set_sources(stitching->stitcher, stitching->recorded,
				 stitching->settings.source_count);
	stitching->sorter = sorter_new(lbr_stitcher_sink(stitching->stitcher));
	return stitching->sorter;
}

/* --- a file, once more --- */

enum { ROUND_SAMPLES = 10000 };

/* On the way to the writer: events come in order, so there can be a round at any time. */
struct rounds {
	struct passing_sink passing; /* first */
	u32 samples;
};

static int pass_sample(struct event_sink *sink, const struct sample *sample)
{
	struct rounds *rounds = (struct rounds *)sink;
	int error = sink_call(rounds->passing.next, on_sample, sample);

	if (!error && ++rounds->samples % ROUND_SAMPLES == 0)
		error = sink_call(rounds->passing.next, on_round, sample->time_ns);
	return error;
}

/* Among what the writer is told in the end. */
static int drop_loss(struct event_sink *sink, const struct loss *loss)
{
	(void)sink;
	(void)loss;
	return 0;
}

static int rewrite(struct live_stitching *stitching, struct perfdata *data,
		   struct perfdata_writer *writer)
{
	struct lbr_settings settings = {.tier = LBR_CERTAIN};
	struct rounds rounds = {.samples = 0};

	passing_sink_init(&rounds.passing, perfdata_writer_sink(writer));
	rounds.passing.sink.on_sample = pass_sample;
	rounds.passing.sink.on_loss = drop_loss;
	return stitching_read(data, &settings, &rounds.passing.sink, &stitching->tally);
}

/* Writes to `path` what is in `data`. */
static int write_stitched(struct live_stitching *stitching, struct perfdata *data, const char *path,
			  const struct perfdata_extra *extra)
{
	struct perfdata_writer_settings settings = stitching->settings;
	struct perfdata_writer *writer;
	int error, close_error;

	settings.path = path;
	settings.command_line = perfdata_header(data)->command_line;
	settings.command_words = (int)perfdata_header(data)->command_words;
	error = perfdata_writer_open(&settings, &writer);
	if (error)
		return error;
	error = rewrite(stitching, data, writer);
	perfdata_writer_set_extra(writer, extra);
	if (!error && perfdata_writer_dropped(writer))
		error = fail_plain(-ENOSPC, "free some space", "cannot write %s", path);
	close_error = perfdata_writer_close(writer);
	return error ? error : close_error;
}

int live_stitching_finish(struct live_stitching *stitching, const struct perfdata_extra *extra)
{
	const char *path = stitching->settings.path;
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	CLEANUP(freep) char *stitched = NULL;
	int error;

	if (stitching->is_stream) {
		stitching->tally = *lbr_stitcher_tally(stitching->stitcher);
		return 0;
	}
	stitched = must_format("%s.stitched", path);
	error = perfdata_open(path, &data);
	if (!error)
		error = write_stitched(stitching, data, stitched, extra);
	if (!error && rename(stitched, path))
		error = fail(-errno, NULL, "cannot rename %s", stitched);
	if (!error)
		return 0;
	unlink(stitched);
	return fail_while(error,
			  "putting the stacks of %s together, which are left as the CPU "
			  "recorded them (bpfprof report --stitch-lbr)",
			  path);
}

/* --- words --- */

void live_stitching_print(const struct live_stitching *stitching)
{
	char stacks[NUMBER_TEXT_BYTES], whole[NUMBER_TEXT_BYTES], part[NUMBER_TEXT_BYTES];
	const struct lbr_tally *tally = &stitching->tally;
	u64 all_whole = tally->whole_by_hardware + tally->became_whole, per_mille;

	if (!tally->stacks)
		return;
	per_mille = all_whole * 1000 / tally->stacks; /* rounded down: 100.0% is all of them */
	fprintf(stderr, "bpfprof: %s of %s stacks of branch records whole (%.1f%%), ",
		number_format_count(all_whole, whole), number_format_count(tally->stacks, stacks),
		(double)per_mille / 10);
	fprintf(stderr, "%s of them were cut by the CPU\n",
		number_format_count(tally->became_whole, part));
	for (u32 end = 0; end < LBR_END_COUNT; end++)
		if (end != LBR_END_WHOLE && tally->ends[end])
			fprintf(stderr, "bpfprof: %8s cut: %s\n",
				number_format_count(tally->ends[end], part),
				lbr_end_words((u8)end));
	if (tally->binaries_missing)
		fprintf(stderr,
			"bpfprof: %8s binaries could not be read, their calls are not checked\n",
			number_format_count(tally->binaries_missing, part));
}
