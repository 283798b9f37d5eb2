/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time, in nanoseconds.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "bpfprof/types.h"

#include <time.h>

/* What a clock shows now: CLOCK_MONOTONIC … */
static inline u64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* A time in nanoseconds as the C library takes it. */
static inline struct timespec clock_timespec(u64 ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

#endif
