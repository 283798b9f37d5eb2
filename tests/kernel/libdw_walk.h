/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks copied stacks with libdw: somebody else's answer to what ours must equal.
 */
#ifndef TESTS_KERNEL_LIBDW_WALK_H
#define TESTS_KERNEL_LIBDW_WALK_H

#include "bpfprof/event.h"
#include "event/event.h"

#include <stdbool.h>

enum { LIBDW_FRAMES_MAX = 4096 };

struct libdw_stack {
	u64 frames[LIBDW_FRAMES_MAX]; /* innermost first; of callers: the return address */
	u32 count;
	u64 missed;	 /* the first address that it wanted and is not in the copy; 0: none */
	const char *why; /* libdw's message if it stopped for an error, else NULL */
};

struct libdw_walker;

/* `table` (borrowed) says what is mapped at the time of each walk. Free with libdw_walker_free().
 */
struct libdw_walker *libdw_walker_new(const struct process_table *table);
/* Frees; NULL is fine. */
void libdw_walker_free(struct libdw_walker *walker);

/* Walks what the programs have copied. A pc outside of every file gives one frame. */
void libdw_walk(struct libdw_walker *walker, const struct proof_record *proof,
		struct libdw_stack *ret_stack);

/* Whether libdw has call frame information for `pc` in the process that was walked last. Without,
 * it follows the frame pointer and hopes. */
bool libdw_has_rule(struct libdw_walker *walker, u64 pc);

#endif
