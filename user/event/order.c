/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorting by time with a natural merge sort: runs that are sorted already are found and merged.
 *
 * A recording is a few sorted streams (rings of CPUs) one behind the other in short rounds, so it
 * has far fewer runs than events; a file in order costs one pass.
 */
#include "event/order.h"

#include "base/memory.h"
#include "base/vec.h"

#include <stdbool.h>
#include <string.h>

/* ret_starts: where each run starts, and the end of the last. */
static void find_runs(const struct timed *events, size_t count, size_t **ret_starts,
		      size_t *ret_runs)
{
	VEC(size_t) starts = {0};

	*vec_add(&starts) = 0;
	for (size_t i = 1; i < count; i++)
		if (events[i].time_ns < events[i - 1].time_ns)
			*vec_add(&starts) = i;
	*vec_add(&starts) = count;
	*ret_starts = starts.items;
	*ret_runs = starts.count - 1;
}

/* Merges [from, middle) and [middle, to) of `in` into `out`; equal times: the first run goes first.
 */
static void merge(const struct timed *in, struct timed *out, size_t from, size_t middle, size_t to)
{
	size_t left = from, right = middle;

	for (size_t at = from; at < to; at++) {
		bool takes_left = right == to ||
				  (left < middle && in[left].time_ns <= in[right].time_ns);

		out[at] = in[takes_left ? left++ : right++];
	}
}

/* Merges neighbouring runs of `in` into `out`. Returns how many runs are left. */
static size_t merge_pairs(const struct timed *in, struct timed *out, size_t *starts, size_t runs)
{
	size_t left = 0;

	for (size_t run = 0; run < runs; run += 2) {
		size_t from = starts[run];
		size_t middle = starts[run + 1];
		size_t to = run + 2 <= runs ? starts[run + 2] : middle;

		merge(in, out, from, middle, to);
		starts[left++] = from;
		starts[left] = to;
	}
	return left;
}

void order_by_time(struct timed *events, size_t count)
{
	CLEANUP(freep) struct timed *spare = NULL;
	CLEANUP(freep) size_t *starts = NULL;
	struct timed *in = events, *out;
	size_t runs;

	if (count < 2)
		return;
	find_runs(events, count, &starts, &runs);
	if (runs == 1)
		return;
	spare = must_resize_array(NULL, count, sizeof(*spare));
	out = spare;
	while (runs > 1) {
		struct timed *merged = out;

		runs = merge_pairs(in, out, starts, runs);
		out = in;
		in = merged;
	}
	if (in != events)
		memcpy(events, in, count * sizeof(*events));
}
