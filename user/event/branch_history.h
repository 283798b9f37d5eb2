/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that puts the branches of a sample into its call chain: what ran before, and not only who
 * called. Each branch becomes two frames, where it went and where it came from.
 */
#ifndef EVENT_BRANCH_HISTORY_H
#define EVENT_BRANCH_HISTORY_H

#include "event/event_sink.h"

#include <stddef.h>

enum branch_end { NO_BRANCH, BRANCH_TO, BRANCH_FROM };

/* What frame.mark stands for: how the branch went that the frame is an end of. */
struct branch_mark {
	u8 end;		 /* enum branch_end */
	u32 flags;	 /* enum branch_flag */
	u32 iterations;	 /* of the loop that was left here, not shown otherwise; 0: none */
	u32 loop_cycles; /* that one of them took */
};

/* Which end of the chain is shown first: what is left out depends on it, as in perf. */
enum history_order { HISTORY_NEWEST_FIRST, HISTORY_OLDEST_FIRST };

struct branch_history;

/* In front of `next`, which stays the caller's. Free with branch_history_free(). */
struct branch_history *branch_history_new(enum history_order order, struct event_sink *next);
/* The sink; lives as long as the history. */
struct event_sink *branch_history_sink(struct branch_history *history);
/* What the marks of frames stand for: rows from 1, row 0 is no branch. Borrowed until the next
 * event. */
const struct branch_mark *branch_history_marks(const struct branch_history *history);
/* Frees; NULL is fine. */
void branch_history_free(struct branch_history *history);

#endif
