/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the callers of each LBR sample of a recording: the addresses of their CALLs, newest first,
 * a line a sample ("-": none). To be held against true stacks.
 *
 * usage: chains FILE plain|certain|likely|live [SYMFS]
 *
 * live: certain, but without hearing the recording before, as while it is being made.
 * On stderr: how the stacks ended, and what a sample took.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "lbr/lbr.h"
#include "perfdata/perfdata.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct printer {
	struct event_sink sink;
	struct lbr_stitcher *stitcher;
	u64 samples;
};

static int print_calls(struct event_sink *sink, const struct sample *sample)
{
	struct printer *printer = (struct printer *)sink;
	size_t count;
	const u64 *calls = lbr_stitcher_calls(printer->stitcher, &count);

	for (size_t i = 0; i < count; i++)
		printf(i ? " %llx" : "%llx", (unsigned long long)calls[i]);
	puts(count ? "" : "-");
	printer->samples++;
	(void)sample;
	return 0;
}

static int read_into(const char *path, struct lbr_stitcher *stitcher, struct event_sink *sink)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	const struct event_source *sources;
	int error = perfdata_open(path, &data);
	u32 count;

	if (error)
		return error;
	sources = perfdata_sources(data, &count);
	lbr_stitcher_set_sources(stitcher, sources, count);
	return perfdata_read(data, sink);
}

static u32 depth_of(const char *path)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;

	return perfdata_open(path, &data) ? 0 : perfdata_header(data)->branch_depth;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print_tally(const struct lbr_tally *tally, double took, u64 samples)
{
	fprintf(stderr,
		"stacks %llu: whole by hardware %llu, became whole %llu, longer %llu, "
		"shortened %llu, likely %llu\n",
		(unsigned long long)tally->stacks, (unsigned long long)tally->whole_by_hardware,
		(unsigned long long)tally->became_whole, (unsigned long long)tally->became_longer,
		(unsigned long long)tally->shortened, (unsigned long long)tally->likely);
	for (int end = 0; end < LBR_END_COUNT; end++)
		if (tally->ends[end])
			fprintf(stderr, "  %llu: %s\n", (unsigned long long)tally->ends[end],
				lbr_end_words((u8)end));
	if (samples)
		fprintf(stderr, "  %.0f ns a sample\n", took * 1e9 / (double)samples);
}

int main(int argc, char **argv)
{
	struct lbr_settings settings = {.tier = LBR_CERTAIN};
	struct printer printer = {.sink.on_sample = print_calls};
	double start = seconds();
	int error = 0;

	if (argc < 3)
		return 2;
	settings.depth = depth_of(argv[1]);
	settings.symfs = argc > 3 ? argv[3] : NULL;
	if (!strcmp(argv[2], "plain"))
		settings.tier = LBR_PLAIN;
	if (!strcmp(argv[2], "likely"))
		settings.tier = LBR_LIKELY;
	printer.stitcher = lbr_stitcher_new(&settings, &printer.sink);
	if (strcmp(argv[2], "live") != 0)
		error = read_into(argv[1], printer.stitcher,
				  lbr_stitcher_learning_sink(printer.stitcher));
	if (!error)
		error = read_into(argv[1], printer.stitcher, lbr_stitcher_sink(printer.stitcher));
	print_tally(lbr_stitcher_tally(printer.stitcher), seconds() - start, printer.samples);
	lbr_stitcher_free(printer.stitcher);
	if (error)
		fprintf(stderr, "%s\n", fail_sentence());
	return error ? 1 : 0;
}
