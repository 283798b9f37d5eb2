/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Streams: equal chains of lines, whose branches may have gone at different speed.
 *
 * Source of the rules: Linux 6.1, tools/perf/util/stream.c; util/callchain.c,
 * callchain_avg_cycles().
 */
#include "profile/streams.h"

#include "base/memory.h"

#include <string.h>

/* What the frames of a chain took in one recording. */
struct speed {
	u64 *cycles; /* by frame, summed over `samples`; NULL: not seen there */
	u64 samples;
};

struct finding {
	const struct fold *fold;
	struct streams *streams;
	frame_id *frames; /* room for the deepest chain */
	u32 *marks;
	struct intern chains;	  /* as bytes: row of the stream, from 1 */
	VEC(struct speed) speeds; /* by stream, two each */
};

static u32 list_frames(const struct finding *finding, path_id path)
{
	u32 depth = 0;

	for (; path; path = finding->fold->paths.items[path].caller) {
		finding->frames[depth] = finding->fold->paths.items[path].frame;
		finding->marks[depth++] = finding->fold->paths.items[path].mark;
	}
	return depth;
}

/* The row of the chain in finding->frames. */
static u32 stream_of(struct finding *finding, u32 depth)
{
	struct streams *streams = finding->streams;
	u32 row = intern_bytes(&finding->chains, finding->frames, depth * sizeof(*finding->frames));

	if (row > streams->rows.count) {
		*vec_add(&streams->rows) = (struct stream){.first = (u32)streams->frames.count,
							   .depth = depth};
		for (u32 i = 0; i < depth; i++)
			*vec_add(&streams->frames) = finding->frames[i];
		*vec_add(&finding->speeds) = (struct speed){0};
		*vec_add(&finding->speeds) = (struct speed){0};
	}
	return row - 1;
}

static void add_row(struct finding *finding, const struct folded_row *row, u32 side,
		    const struct branch_mark *marks)
{
	u32 depth = list_frames(finding, row->path);
	u32 stream = stream_of(finding, depth);
	struct speed *speed = &finding->speeds.items[stream * 2 + side];

	finding->streams->rows.items[stream].sides[side].period += row->weight;
	if (!speed->cycles)
		speed->cycles = must_alloc_array(depth, sizeof(*speed->cycles));
	speed->samples += row->samples;
	for (u32 i = 0; i < depth; i++) {
		const struct branch_mark *mark = &marks[finding->marks[i]];

		if (finding->marks[i] && mark->end == BRANCH_FROM)
			speed->cycles[i] += row->samples *
					    ((mark->flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT);
	}
}

/* --- the hottest --- */

static const double HOT_PERCENT = 0.5; /* as in perf, of call graphs and so of streams */

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/* Of equal ones the one that was seen first. */
static int compare_first(const void *left, const void *right)
{
	const struct stream *a = left, *b = right;
	int order = compare_numbers(b->sides[0].period, a->sides[0].period);

	return order ? order : compare_numbers(b->sides[1].period, a->sides[1].period);
}

static void mark_hottest(struct streams *streams, u32 side)
{
	const u64 least = (u64)((double)streams->periods[side] * (HOT_PERCENT / 100));

	for (u32 i = 0; i < STREAMS_SHOWN; i++) {
		struct stream *hottest = NULL;

		for (size_t k = 0; k < streams->rows.count; k++) {
			struct stream *row = &streams->rows.items[k];

			if (!row->sides[side].is_hot && row->sides[side].period >= least &&
			    row->sides[side].period &&
			    (!hottest || row->sides[side].period > hottest->sides[side].period))
				hottest = row;
		}
		if (hottest)
			hottest->sides[side].is_hot = true;
	}
}

/* Leaves only what is among the hottest of either. */
static void keep_hottest(struct streams *streams)
{
	size_t count = 0;

	for (u32 side = 0; side < 2; side++)
		mark_hottest(streams, side);
	for (size_t i = 0; i < streams->rows.count; i++) {
		const struct stream *row = &streams->rows.items[i];

		if (row->sides[0].is_hot || row->sides[1].is_hot)
			streams->rows.items[count++] = *row;
	}
	streams->rows.count = count;
	if (count)
		qsort(streams->rows.items, count, sizeof(*streams->rows.items), compare_first);
}

/* Fills in how long they took. */
static void finish_rows(struct finding *finding)
{
	for (size_t i = 0; i < finding->speeds.count; i++) {
		struct speed *speed = &finding->speeds.items[i];
		struct stream *row = &finding->streams->rows.items[i / 2];

		for (u32 k = 0; speed->samples && k < row->depth; k++)
			row->sides[i % 2].cycles += speed->cycles[k] / speed->samples;
		free(speed->cycles);
	}
}

struct streams *streams_new(const struct fold *fold, const struct stream_source sources[2])
{
	struct finding finding = {
		.fold = fold,
		.streams = must_alloc(sizeof(*finding.streams)),
		.frames = must_alloc_array((size_t)fold->deepest + 1, sizeof(*finding.frames)),
		.marks = must_alloc_array((size_t)fold->deepest + 1, sizeof(*finding.marks)),
	};

	for (size_t i = 0; i < fold->rows.count; i++) {
		const struct folded_row *row = &fold->rows.items[i];

		for (u32 side = 0; side < 2; side++) {
			if (row->source != sources[side].source)
				continue;
			finding.streams->periods[side] += row->weight;
			if (row->path)
				add_row(&finding, row, side, sources[side].marks);
		}
	}
	finish_rows(&finding);
	keep_hottest(finding.streams);
	vec_release(&finding.speeds);
	intern_release(&finding.chains);
	free(finding.frames);
	free(finding.marks);
	return finding.streams;
}

void streams_free(struct streams *streams)
{
	if (!streams)
		return;
	vec_release(&streams->rows);
	vec_release(&streams->frames);
	free(streams);
}

void streams_freep(struct streams **streams)
{
	streams_free(*streams);
}
