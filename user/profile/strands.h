/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where entries stand in the stacks, for call graphs. Private to the folder.
 *
 * Rows are put into an order in which those whose stacks begin alike stand together. So where an
 * entry stands in the stacks of many rows is told at once: by a path and a span of rows.
 */
#ifndef PROFILE_STRANDS_H
#define PROFILE_STRANDS_H

#include "profile/entry_list.h"
#include "profile/path_order.h"

/* A row of the fold with a stack. */
struct placed_row {
	u64 weight, samples;
	u32 row;   /* of the fold's rows */
	u32 place; /* of its path, without what max_stack cuts off: in the order of paths, or (if
		    * there is none) path_id */
	u32 own;   /* from 1: its own entry, if that is looked for */
};

/* Chains of an entry that begin at the same place. */
struct strand {
	path_id start; /* its frame is their first one */
	u32 from, to;  /* of the placed rows, [from, to) */
	bool is_own;   /* of rows whose own entry it is; else those are left out */
};

struct strands {
	struct path_order order; /* empty: nobody needs it */
	VEC(struct placed_row) rows;
	VEC(struct strand) items; /* by entry */
	u32 *starts;		  /* by entry, and one more: where its strands begin */
};

/* Finds the strands of all entries of at least this period (children's if counted), if that has
 * not been done. */
void strands_find(struct entry_list *list, u64 least_period);
/* Those of an entry of at least this period; the first call finds those of all such entries.
 * `ret_count` of them, borrowed; NULL if it is below. */
const struct strand *strands_of(struct entry_list *list, u32 entry, u64 least_period,
				u32 *ret_count);
/* Frees; NULL is fine. */
void strands_free(struct strands *strands);

#endif
