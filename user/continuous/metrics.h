/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the daemon tells Prometheus of itself, as text.
 *
 * Source of the format: prometheus.io/docs/instrumenting/exposition_formats, text format 0.0.4.
 */
#ifndef CONTINUOUS_METRICS_H
#define CONTINUOUS_METRICS_H

#include "bpfprof/counters.h"
#include "continuous/push.h"

#include <stdio.h>

/* Sums are since the daemon began, of the windows that have ended. */
struct metrics {
	const char *version;
	u64 samples, losses[COUNTERS_MAX]; /* of windows in the store; by enum counter */
	u64 windows, windows_lost;	   /* written, and those that could not be */
	u64 store_windows, store_bytes;	   /* that are there now */
	u32 rate_hz, wanted_hz;		   /* samples a second on each CPU: now, and if it may */
	u64 bpf_ns, own_ns;		   /* CPU time of the programs and of this process */
	u64 resident_bytes, kernel_bytes;
	u64 window_end_ns; /* of the last one in the store, CLOCK_REALTIME; 0: there is none */
	bool pushes;
	struct push_totals push; /* if it pushes */
};

/* Writes them; `now_ns` (CLOCK_REALTIME) is when. */
void metrics_write(const struct metrics *metrics, u64 now_ns, FILE *out);

#endif
