/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that hands events on in the order of their times, for those who cannot do with less: the
 * live kernel tells of processes and of samples in streams of their own.
 */
#ifndef EVENT_SORTER_H
#define EVENT_SORTER_H

#include "event/event_sink.h"

/*
 * Keeps a copy of every event until a round says that all that is older has come, and hands what is
 * older to `next` (borrowed) then, before the round itself; equal times stay in order. What comes
 * too late for its round goes with the next one. The end hands over everything.
 * Free with sorter_free().
 */
struct event_sink *sorter_new(struct event_sink *next);
/* Frees, also what is still kept; NULL is fine. */
void sorter_free(struct event_sink *sorter);

#endif
