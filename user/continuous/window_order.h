/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In which order a window tells its sums. Private to window*.c.
 */
#ifndef CONTINUOUS_WINDOW_ORDER_H
#define CONTINUOUS_WINDOW_ORDER_H

#include "bpfprof/types.h"

#include <stddef.h>

/* A sum to come. */
struct told_sum {
	u64 time_ns;
	const u8 *key;	     /* a struct sum_key somewhere */
	const u8 *addresses; /* of its chain, behind their head */
	u32 count;	     /* of these */
	u32 row;
	u32 samples, cpu;
};

/* Puts those side by side that zstd tells in few bytes after each other, and that are of times near
 * to each other where they are many. */
void window_order_sums(struct told_sum *sums, size_t count);

#endif
