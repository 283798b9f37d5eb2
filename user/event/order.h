/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorting by time: (time, place) pairs, stable, almost-sorted input cheap.
 */
#ifndef EVENT_ORDER_H
#define EVENT_ORDER_H

#include "bpfprof/types.h"

#include <stddef.h>

struct timed {
	u64 time_ns; /* 0 sorts before everything, as in perf */
	u64 place;   /* whatever the caller needs to find the event again */
	u64 extra;   /* and what it wants to know of it; goes along, as does … */
	u64 who;     /* … of whom it is */
};

/* Sorts by time; equal times keep their order. O(n) for a few sorted runs interleaved, O(n log n)
 * otherwise. */
void order_by_time(struct timed *events, size_t count);

#endif
