/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counters whose overflows are sampled: one a CPU and event, our program on each.
 */
#ifndef CAPTURE_PERF_EVENTS_H
#define CAPTURE_PERF_EVENTS_H

#include "capture/bpf_object.h"
#include "capture/capture.h"

struct perf_events;

/* Checks the events of the settings against what the kernel allows. `settings` must outlive
 * the result. Returns 0 or a negative errno with a sentence. */
int perf_events_new(const struct capture_settings *settings, struct perf_events **ret_events);
/* Closes and frees; NULL is fine. */
void perf_events_free(struct perf_events *events);

/* Which samples of each clock the programs are to keep, into the settings of the programs. */
void perf_events_clock_modes(const struct perf_events *events, u8 ret_modes[SOURCES_MAX]);

/*
 * Opens the counters of one CPU, stopped, with their programs.
 *
 * output_fd  event whose ring takes what the kernel says about them (throttling)
 * Returns 0; -ENODEV (no sentence): the CPU is offline; or a negative errno with a sentence.
 */
int perf_events_open_cpu(struct perf_events *events, u32 cpu, const struct programs *programs,
			 int output_fd);
/* Closes the counters of a CPU that went offline; what they counted stays in the sums. */
void perf_events_close_cpu(struct perf_events *events, u32 cpu);

/* Starts all counters that are open. */
void perf_events_enable(struct perf_events *events);
/*
 * From now on events that have a rate come so often on each CPU, and on those that come later.
 *
 * ret_periods  by source, where the programs look what a sample of a clock stands for
 * Returns 0 or a negative errno without a sentence: then it is as it was on some of them.
 */
int perf_events_set_rate(struct perf_events *events, u32 hz, volatile u64 *ret_periods);
/* Reads how far they have counted, for perf_events_reckon(). */
void perf_events_read(struct perf_events *events);
/* Stops them, and reads them. */
void perf_events_disable(struct perf_events *events);

/* The rows of capture_sources(). Borrowed; ids and branch bits are complete after the last open. */
const struct event_source *perf_events_sources(struct perf_events *events, u32 *ret_count);

/* What was seen of one CPU, by us and by the machine. */
struct cpu_seen {
	const struct cpu_counters *counters;
	u64 idle_ns; /* while the counters ran */
};

/*
 * Compares what was counted with what our programs saw, CPU by CPU, and adds what never reached
 * them to the counter of its reason, and to the overflows.
 *
 * seen        `cpu_count` of them
 * ret_counts  by enum counter; added to
 * Returns how many overflows there should have been; where that is not known (the kernel adapts the
 * period), as many as were seen.
 */
u64 perf_events_reckon(const struct perf_events *events, const struct cpu_seen *seen, u32 cpu_count,
		       u64 *ret_counts);

#endif
