/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who belongs to whom among what runs: threads to processes, processes to parents.
 */
#ifndef HOST_PROCESS_TREE_H
#define HOST_PROCESS_TREE_H

#include "base/idmap.h"
#include "bpfprof/types.h"

#include <stddef.h>

/* The process that a thread belongs to; 0: it has ended. */
u32 process_of_thread(u32 tid);

struct process_parent {
	u32 pid, parent;
};

/* Every process that /proc shows, owned by the caller. What begins or ends meanwhile may be
 * missing. Returns 0 or a negative errno with a sentence. */
int processes_parents(struct process_parent **ret_rows, size_t *ret_count);

/* Moves to the front of `rows` who descends from a process in the set `family`, in any number of
 * steps, and is not in it; adds them to it. Returns how many. Pure. */
size_t processes_descending(struct process_parent *rows, size_t count, struct idmap *family);

#endif
