/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was seen, sent, left out and lost: the sums of a recording.
 */
#ifndef CAPTURE_COUNTERS_H
#define CAPTURE_COUNTERS_H

#include "bpfprof/event.h"
#include "capture/capture.h"

/*
 * Adds up what the programs counted on each CPU. Pure.
 *
 * overflows becomes the sum over all events and CPUs; the other rows are those of the programs.
 */
void counters_sum(const struct cpu_counters *cpus, u32 cpu_count, struct capture_totals *totals);

#endif
