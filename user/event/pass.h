/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that hands every event on as it is: what stands between a producer and a consumer begins
 * as one, and puts members of its own in place of those that it has something to do for. Whether
 * frames may be left out (knows_chain) is not asked behind it, unless it says so itself.
 */
#ifndef EVENT_PASS_H
#define EVENT_PASS_H

#include "event/event_sink.h"

struct passing_sink {
	struct event_sink sink; /* first: both have one address */
	struct event_sink *next;
};

/* Lets all members hand over to `next`, which stays the caller's. */
void passing_sink_init(struct passing_sink *passing, struct event_sink *next);

#endif
