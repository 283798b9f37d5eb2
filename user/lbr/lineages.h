/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes have the same code at the same addresses, so that a chain of addresses that one
 * of them has taught need not be learned from the others: those that execute the same file again,
 * with the same libraries, where addresses are not random. Private to lbr/.
 *
 * 16 bytes for each process that was.
 */
#ifndef LBR_LINEAGES_H
#define LBR_LINEAGES_H

#include "base/idmap.h"
#include "base/vec.h"
#include "event/event.h"

struct lineage {
	u64 hash;	 /* of the files it mapped, and of whatever else covered something */
	bool is_sampled; /* else of all that it mapped */
};

/* Zeroed: empty. */
struct lineages {
	struct idmap row_of; /* process → row + 1 */
	VEC(struct lineage) rows;
	u32 last_pid, last_row; /* that were asked for; last_row 0: nothing */
};

/* A process maps a file; `covers`: over another one. */
void lineages_map(struct lineages *lineages, const struct mapping *mapping, bool covers);
/* It executes another program. */
void lineages_exec(struct lineages *lineages, u32 pid);
/* It is a copy of its parent. */
void lineages_fork(struct lineages *lineages, const struct thread_life *life);
/* What stands for all that a sample of the process can have addresses of: equal ones have equal
 * code there. */
u64 lineages_sampled(struct lineages *lineages, u32 pid);
/* Frees what they have; they are empty then. */
void lineages_release(struct lineages *lineages);

#endif
