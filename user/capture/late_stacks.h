/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks whose walk met code without a table yet: their samples wait, for a moment, until it has
 * been made, and the walk goes on here with the bytes that the programs have copied.
 */
#ifndef CAPTURE_LATE_STACKS_H
#define CAPTURE_LATE_STACKS_H

#include "bpfprof/event.h"
#include "capture/side_band.h"
#include "capture/unwind_tables.h"
#include "event/event.h"

struct late_stacks;

/* Nothing waits. The tables (borrowed) are asked for what is missing. */
struct late_stacks *late_stacks_new(struct unwind_tables *tables, u32 max_stack);
/* Frees; what still waits is forgotten. NULL is fine. */
void late_stacks_free(struct late_stacks *late);

/* To be fed with everything about processes: what is mapped where. Lives as long as the stacks. */
struct event_sink *late_stacks_processes(struct late_stacks *late);
/* A sink for samples that hands them to `next`, but for those whose rest has been taken before:
 * they are kept back. Lives as long as the stacks. */
struct event_sink *late_stacks_samples(struct late_stacks *late, struct event_sink *next);
/* The rest of the stack of a sample that follows. */
void late_stacks_take_rest(struct late_stacks *late, const struct stack_rest *rest);

/* Whether samples have come that wait to learn what was mapped; NULL: false. */
bool late_stacks_want_processes(const struct late_stacks *late);
/*
 * side_band_drain(); on the way, samples that wait learn what was mapped when they were taken.
 *
 * late       NULL is fine
 * side_band  hands all that it tells to `sink`, behind which late_stacks_processes() is
 */
int late_stacks_drain_side_band(struct late_stacks *late, struct side_band *side_band, u64 until_ns,
				struct event_sink *sink);

/* Walks on as far as tables are there, and hands over the samples that are done, or that have
 * waited for a second at `now_ns` (CLOCK_MONOTONIC; ~0: all). Returns 0 or what the sink returned.
 */
int late_stacks_work(struct late_stacks *late, u64 now_ns);
/* The same for all that wait, once nothing is recorded any more: their tables are made, if that
 * takes no longer than a second. */
int late_stacks_finish(struct late_stacks *late);
/* The time up to which all samples have been handed over, at most `time_ns`. NULL is fine. */
u64 late_stacks_round_ns(const struct late_stacks *late, u64 time_ns);

/* Corrects what the programs have counted before the stacks were whole, by enum counter. */
void late_stacks_totals(const struct late_stacks *late, u64 *counters);

#endif
