/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How pushing goes, in a file of the store: for those who ask while the daemon runs, or ran.
 *
 * A line each: "bpfprof pushes 1", and names with values. Names that are not known are passed over.
 */
#ifndef CONTINUOUS_PUSH_STATE_H
#define CONTINUOUS_PUSH_STATE_H

#include "continuous/push.h"

struct push_state {
	u64 time_ns; /* when it was so, CLOCK_REALTIME */
	char url[256];
	struct push_totals totals;
};

/* "STORE/pushes"; owned by the caller. */
char *push_state_path(const char *store);
/* Replaces the file as a whole. Returns 0 or a negative errno with a sentence. */
int push_state_write(const char *store, const struct push_state *state);
/* Returns 0, -ENOENT (nothing was ever pushed), or a negative errno with a sentence. */
int push_state_read(const char *store, struct push_state *ret_state);

#endif
