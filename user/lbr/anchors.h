/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that were seen on a thread's stack, by their bodies. A zeroed `struct anchors` is an
 * empty set. Private to lbr/.
 */
#ifndef LBR_ANCHORS_H
#define LBR_ANCHORS_H

#include "base/vec.h"
#include "bpfprof/types.h"

#include <stdbool.h>

enum { ANCHORS_MAX = 1024, SLOT_UNKNOWN = UINT16_MAX };

/* A function that was seen on the stack, or in a register. */
struct anchor {
	u64 seen_first_ns, seen_last_ns; /* a frame of its */
	u64 first_ns, last_ns;		 /* in a register */
	u32 body;
	u16 slot;      /* that register's; SLOT_UNKNOWN: it was in none, or they have no numbers */
	u16 count;     /* that often at `slot`; stops at its largest */
	bool is_moved; /* and elsewhere, too */
};

struct anchors {
	VEC(struct anchor) rows; /* at most ANCHORS_MAX */
	u16 *slots;		 /* row + 1 by body, open addressing, at most half full; 0: free */
	u32 slot_count;		 /* 0 or a power of two */
};

/* The function's; NULL if there is none. Borrowed until the next anchors_make(). */
struct anchor *anchors_find(const struct anchors *anchors, u32 body);
/* The same, made if it is not there: first seen at `time_ns`, of no slot. NULL if there would be
 * too many. */
struct anchor *anchors_make(struct anchors *anchors, u32 body, u64 time_ns);
/* Frees; the set is empty again. */
void anchors_release(struct anchors *anchors);

#endif
