/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles on disk that wait to be pushed: a file each, oldest first, as many as a limit allows.
 *
 * DIRECTORY/START-END-PART.push: a line that says what it is, a line with the name that the server
 * is to know it by, a line with the bytes of the body, the body. What is not whole (the machine
 * went down while it was written) is passed over and removed.
 */
#ifndef CONTINUOUS_PUSH_SPOOL_H
#define CONTINUOUS_PUSH_SPOOL_H

#include "base/cursor.h"
#include "base/text.h"
#include "bpfprof/types.h"

#include <stddef.h>

/* One series of a window. */
struct push_profile {
	u64 start_ns, end_ns; /* CLOCK_REALTIME */
	u32 part;	      /* which one of that window, from 0 */
	const char *name;     /* "bpfprof{host=a,unit=b}"; one line */
	struct bytes body;    /* what is sent */
};

struct push_spool;

/*
 * Opens the folder, made if it is not there, readable by its owner only.
 *
 * ret_spool  push_spool_close() it
 * Returns 0, or a negative errno with a sentence.
 */
int push_spool_open(const char *directory, struct push_spool **ret_spool);
/* Frees; the files stay. NULL is fine. */
void push_spool_close(struct push_spool *spool);

/* At most so many bytes on disk; what is beyond goes at once, oldest first. Returns how many
 * profiles went. */
u64 push_spool_limit(struct push_spool *spool, u64 max_bytes);

/*
 * Puts one at its place by time; holds the limit, and so may remove older ones.
 *
 * ret_removed  how many went for it
 * Returns 0, or a negative errno with a sentence (-ENOSPC …): then it is not there. One that is
 * larger than the limit alone counts as removed.
 */
int push_spool_add(struct push_spool *spool, const struct push_profile *profile, u64 *ret_removed);

/*
 * Reads the oldest. Its name and body lie in `storage`, which the caller releases.
 *
 * Returns 0, -ENOENT (there is none) or -EBADMSG (it is not whole; remove it), without a sentence.
 */
int push_spool_oldest(struct push_spool *spool, struct text *storage,
		      struct push_profile *ret_profile);
/* Removes the oldest. */
void push_spool_remove_oldest(struct push_spool *spool);

/* How many wait. */
size_t push_spool_count(const struct push_spool *spool);
/* What they take on disk. */
u64 push_spool_bytes(const struct push_spool *spool);

#endif
