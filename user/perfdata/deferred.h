/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks that come in records of their own: the kernel walks them when the thread goes back to
 * user space, once for all samples since it left, which have a cookie in their place.
 *
 * The walk over the file finds them all, so nothing waits for them when samples are decoded.
 * Cookies are of one thread and never come twice while a machine is up. Source:
 * include/uapi/linux/perf_event.h, PERF_RECORD_CALLCHAIN_DEFERRED, and
 * include/linux/unwind_deferred_types.h, Linux 6.19.
 */
#ifndef PERFDATA_DEFERRED_H
#define PERFDATA_DEFERRED_H

#include "base/cursor.h"
#include "base/idmap.h"
#include "base/vec.h"

struct decoder;
struct perfdata;

/* Zeroed memory is one without stacks. */
struct deferred_stacks {
	struct idmap row_of_cookie; /* row + 1 */
	VEC(struct bytes) stacks;   /* as words of a call chain stand in the file; borrowed */
	VEC(u64) wanted;	    /* the cookie of each sample that has one */
};

/* Takes in what follows the header of such a record; one that makes no sense is passed over. */
void deferred_add(struct deferred_stacks *deferred, struct cursor body);
/* There is a sample with this chain, count in front, of which the last word may be a cookie. */
void deferred_want(struct deferred_stacks *deferred, const struct decoder *decoder,
		   struct bytes chain);
/* The words of a stack; no start: it is not there. `deferred` may be NULL. */
struct bytes deferred_find(const struct deferred_stacks *deferred, u64 cookie);
/* When all records have been seen: warns of the samples whose stack is not there. */
void deferred_say_missing(struct perfdata *data);
/* Frees the contents. */
void deferred_release(struct deferred_stacks *deferred);

#endif
