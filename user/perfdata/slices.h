/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a recording in several parts at once, one behind the other in time, each by a consumer
 * of its own.
 */
#ifndef PERFDATA_SLICES_H
#define PERFDATA_SLICES_H

#include "event/event.h"

struct perfdata;

/* Who reads a part. */
struct perfdata_slice {
	struct event_sink *before; /* hears all that was before it, but for samples: who ran, and
				    * what was mapped; and is asked for the chains of samples */
	struct event_sink *sink;   /* hears the part as perfdata_read() would hand it over */
};

/* In how many parts it is worth to be read, `most` at most; 1: it is short, or what a sample says
 * depends on the ones before it. */
u32 perfdata_slices(struct perfdata *data, u32 most);
/* Whether nearly all call chains of the second half of a recording were seen in the first, as far
 * as some thousands of them say. */
bool perfdata_repeats(struct perfdata *data);

/*
 * Hands a recording over in so many parts of about the same length, on all CPUs. The last one's
 * sink hears of losses that are told at the end; on_end all.
 *
 * Returns as perfdata_read(); if sinks return something, what the earliest did.
 */
int perfdata_read_slices(struct perfdata *data, const struct perfdata_slice *slices, u32 count);

/*
 * One of several readers that take turns: each hears some parts as above, and what is no sample of
 * those between them. Each may have a thread of its own.
 */
struct perfdata_part;

/* What is heard before each part goes to `slice` (borrowed), as perfdata_read_slices() has it. Free
 * with perfdata_parts_end(). */
struct perfdata_part *perfdata_part_new(struct perfdata *data, const struct perfdata_slice *slice);

/* So many events there are to be read. */
size_t perfdata_event_count(struct perfdata *data);

/* Hands over the events [from, to), counted from 0 in order of time; `from` is not before the last
 * call's `to`. Returns 0 or what the sink returned. */
int perfdata_part_read(struct perfdata_part *part, size_t from, size_t to);

/* So many events have been read by all of them: for who wants to see it, see
 * perfdata_on_progress(). */
void perfdata_tell_progress(struct perfdata *data, size_t done);

/*
 * Frees the readers, when together they have read everything, or when it was given up.
 *
 * error  a negative errno that ended it, with a sentence; 0: the last one's sink hears of losses
 *        that are told at the end; on_end all
 * Returns as perfdata_read_slices().
 */
int perfdata_parts_end(struct perfdata *data, struct perfdata_part *const *parts, u32 count,
		       int error);

#endif
