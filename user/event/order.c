/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorting by time with a natural merge sort: runs that are sorted already are found and merged.
 *
 * A recording is a few sorted streams (rings of CPUs) one behind the other in short rounds, so it
 * has far fewer runs than events; a file in order costs one pass. Where runs follow each other in
 * time but for their ends, as rounds do, only those ends are moved.
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

/* The first of [from, to) that is later than `time_ns`, or as late if `or_equal`; they are sorted.
 */
static size_t first_later(const struct timed *events, size_t from, size_t to, u64 time_ns,
			  bool or_equal)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		bool is_later = events[middle].time_ns > time_ns ||
				(or_equal && events[middle].time_ns == time_ns);

		if (is_later)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* Room for what is moved aside, made when it is needed: mostly that is little. */
typedef VEC(struct timed) spare_room;

/* Merges the runs [from, middle) and [middle, to); equal times: the first run goes first. */
static void merge(struct timed *events, spare_room *room, const size_t bounds[3])
{
	size_t middle = bounds[1];
	/* What is not later than the second run's start, and not earlier than the first one's end,
	 * is in its place. */
	size_t at = first_later(events, bounds[0], middle, events[middle].time_ns, false);
	size_t to = first_later(events, middle, bounds[2], events[middle - 1].time_ns, true);
	size_t left = 0, count = middle - at, right = middle;
	struct timed *spare = vec_reserve(room, count);

	memcpy(spare, events + at, count * sizeof(*spare));
	while (left < count) {
		bool takes_left = right == to || spare[left].time_ns <= events[right].time_ns;

		events[at++] = takes_left ? spare[left++] : events[right++];
	}
}

/* Merges neighbouring runs, each with the next. Returns how many are left. */
static size_t merge_pairs(struct timed *events, spare_room *room, size_t *starts, size_t runs)
{
	size_t left = 0;

	for (size_t run = 0; run < runs; run += 2) {
		size_t from = starts[run], to = starts[run + 1];

		if (run + 2 <= runs) {
			merge(events, room, (const size_t[]){from, to, starts[run + 2]});
			to = starts[run + 2];
		}
		starts[left++] = from;
		starts[left] = to;
	}
	return left;
}

void order_by_time(struct timed *events, size_t count)
{
	CLEANUP(freep) size_t *starts = NULL;
	spare_room room = {0};
	size_t runs;

	if (count < 2)
		return;
	find_runs(events, count, &starts, &runs);
	if (runs == 1)
		return;
	while (runs > 1)
		runs = merge_pairs(events, &room, starts, runs);
	vec_release(&room);
}
