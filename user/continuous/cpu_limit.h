/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the rate at which sampling costs as much CPU time as it may.
 *
 * What it costs has a part that goes with the rate, the BPF programs, and one that hardly does,
 * the thread that samples. The first is learned as time for each hertz, within some seconds; the
 * second, which comes in bursts at the end of windows, is the mean of the last two minutes. What
 * else is done beside it, names and sums, comes when it comes. So all that was spent is held
 * against what could be, and the difference is made up for within a minute or two: it is the mean
 * that keeps to the limit. Pure: no clock.
 */
#ifndef CONTINUOUS_CPU_LIMIT_H
#define CONTINUOUS_CPU_LIMIT_H

#include "bpfprof/types.h"

#include <stdbool.h>

enum { CPU_LIMIT_OWN_STEPS = 120 };

struct cpu_limit {
	double share;  /* that it may cost, of one CPU: 0.005; 0: no limit */
	u32 wanted_hz; /* never above */
	u32 hz;	       /* now */
	u32 steps;     /* until now */
	/* Shares of the thread that samples, step by step, the newest over the oldest. */
	float own[CPU_LIMIT_OWN_STEPS];
	double bpf_per_hz; /* share of the programs, for each hertz */
	double left_s;	   /* of what may be spent; negative: spent beyond that */
};

/* What was spent since the last step. */
struct cpu_limit_spent {
	u64 own_ns;  /* by the thread that samples */
	u64 else_ns; /* by all that is done beside it */
	u64 bpf_ns, wall_ns;
};

/* Begins at the wanted rate. */
struct cpu_limit cpu_limit_of(double share, u32 wanted_hz);
/* Whether it costs less than it may, so that to look at it now and then is enough. */
bool cpu_limit_has_room(const struct cpu_limit *limit);
/* Takes in what was spent, about once a second, or every few where there is room. Returns the rate
 * to go on with, at least 1. */
u32 cpu_limit_step(struct cpu_limit *limit, const struct cpu_limit_spent *spent);

#endif
