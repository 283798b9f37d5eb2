/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When to try again what failed: after a time that doubles with each failure, half of it by chance.
 */
#ifndef CONTINUOUS_PUSH_RETRY_H
#define CONTINUOUS_PUSH_RETRY_H

#include "bpfprof/types.h"

enum { PUSH_RETRY_FIRST_S = 1, PUSH_RETRY_MAX_S = 300 };

struct push_retry {
	u32 failures; /* one after the other */
	u64 until_ns; /* not before; 0: at any time */
	u64 random;   /* state of a generator */
};

/* Nothing has failed yet. Equal seeds give equal times. */
struct push_retry push_retry_seeded(u64 seed);
/* It works. */
void push_retry_reset(struct push_retry *retry);
/* It failed now; who is asked wants `after_s` seconds at least (0: does not say), which counts up
 * to PUSH_RETRY_MAX_S. */
void push_retry_later(struct push_retry *retry, u64 now_ns, u64 after_s);

#endif
