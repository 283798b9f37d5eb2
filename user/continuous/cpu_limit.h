/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the rate at which sampling costs as much CPU time as it may.
 *
 * What it costs has a part that goes with the rate, the BPF programs, and one that hardly does,
 * this process. The first is learned as time for each hertz, within some seconds; the second is
 * averaged over some minutes. Pure: no clock.
 */
#ifndef CONTINUOUS_CPU_LIMIT_H
#define CONTINUOUS_CPU_LIMIT_H

#include "bpfprof/types.h"

struct cpu_limit {
	double share;	   /* that it may cost, of one CPU: 0.005; 0: no limit */
	u32 wanted_hz;	   /* never above */
	u32 hz;		   /* now */
	u32 steps;	   /* until now */
	double own;	   /* share of this process, averaged */
	double bpf_per_hz; /* share of the programs, for each hertz */
};

/* What was spent since the last step. */
struct cpu_limit_spent {
	u64 own_ns, bpf_ns, wall_ns;
};

/* Begins at the wanted rate. */
struct cpu_limit cpu_limit_of(double share, u32 wanted_hz);
/* Takes in what was spent, about once a second. Returns the rate to go on with, at least 1. */
u32 cpu_limit_step(struct cpu_limit *limit, const struct cpu_limit_spent *spent);

#endif
