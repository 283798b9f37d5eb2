/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls beyond what a sample carries, from what was seen in all of them. Private to lbr/.
 */
#ifndef LBR_EXTEND_H
#define LBR_EXTEND_H

#include "lbr/graph.h"
#include "lbr/threads.h"

struct extension {
	struct places *places;
	const struct graph *graph; /* solved */
	struct thread_facts *thread;
	const struct snapshot *snapshot;
	struct stack *stack;
};

/*
 * Goes on behind the last call of a stack to the thread's start, if there is one way that was ever
 * seen and has as many calls as the register numbers say. Nothing, if there are several, or one of
 * them ends in a function that nobody was seen calling, or if one on the way is called by other
 * functions than were seen calling it.
 *
 * Returns how many calls were looked at. What comes of it depends on the last frame and its
 * register and on the thread's constant, but not on the calls before, if all of them have room.
 */
u32 extend_to_start(const struct extension *extension);

#endif
