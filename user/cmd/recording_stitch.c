/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorts what the kernel says by time, and lets user/lbr/ put stacks together.
 */
#include "cmd/recording_stitch.h"

#include "base/memory.h"
#include "base/number.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

struct stitching {
	const struct event_source *sources;
	struct event_source *written; /* the same as in the file */
	u32 count, depth;
	struct lbr_stitcher *stitcher;
	struct event_sink *sorter;
};

struct stitching *stitching_new(const struct event_source *sources, u32 count, u32 depth)
{
	struct stitching *stitching = must_alloc(sizeof(*stitching));

	*stitching = (struct stitching){.sources = sources, .count = count, .depth = depth};
	stitching->written = must_alloc_array(count, sizeof(*sources));
	for (u32 i = 0; i < count; i++) {
		struct event_source *written = &stitching->written[i];

		*written = sources[i];
		written->has_branches = false;
		written->branch_bits = 0;
		written->sample_bits &= ~(u64)PERF_SAMPLE_BRANCH_STACK;
	}
	return stitching;
}

void stitching_free(struct stitching *stitching)
{
	if (!stitching)
		return;
	sorter_free(stitching->sorter);
	lbr_stitcher_free(stitching->stitcher);
	free(stitching->written);
	free(stitching);
}

const struct event_source *stitching_sources(const struct stitching *stitching)
{
	return stitching->written;
}

struct event_sink *stitching_sink(struct stitching *stitching, struct event_sink *next)
{
	struct lbr_settings settings = {.tier = LBR_CERTAIN, .depth = stitching->depth};

	stitching->stitcher = lbr_stitcher_new(&settings, next);
	lbr_stitcher_set_sources(stitching->stitcher, stitching->sources, stitching->count);
	stitching->sorter = sorter_new(lbr_stitcher_sink(stitching->stitcher));
	return stitching->sorter;
}

const struct lbr_tally *stitching_tally(const struct stitching *stitching)
{
	if (!stitching || !stitching->stitcher)
		return NULL;
	return lbr_stitcher_tally(stitching->stitcher);
}

void stitching_print(const struct lbr_tally *tally)
{
	char stacks[NUMBER_TEXT_BYTES], whole[NUMBER_TEXT_BYTES], part[NUMBER_TEXT_BYTES];
	u64 all_whole = tally->whole_by_hardware + tally->became_whole;

	if (!tally->stacks)
		return;
	fprintf(stderr, "bpfprof: %s of %s stacks of branch records whole (%.1f%%), ",
		number_format_count(all_whole, whole), number_format_count(tally->stacks, stacks),
		(double)(all_whole * 1000 / tally->stacks) / 10);
	fprintf(stderr, "%s of them cut by the CPU\n",
		number_format_count(tally->became_whole, part));
	for (u8 end = 0; end < LBR_END_COUNT; end++)
		if (end != LBR_END_WHOLE && tally->ends[end])
			fprintf(stderr, "bpfprof: %8s cut: %s\n",
				number_format_count(tally->ends[end], part), lbr_end_words(end));
	if (tally->binaries_missing)
		fprintf(stderr,
			"bpfprof: %8s binaries could not be read, their calls are not checked\n",
			number_format_count(tally->binaries_missing, part));
}
