/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that passes on only the samples of some pids, threads, CPUs, cgroups and times, and all
 * else.
 */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include "event/event_sink.h"

#include <stddef.h>

struct time_range {
	u64 start_ns, end_ns; /* both inclusive, as perf's --time */
};

/* Empty lists let everything pass. Borrowed: must outlive the filter. */
struct filter_settings {
	const u32 *pids, *tids, *cpus;
	size_t pid_count, tid_count, cpu_count;
	const struct time_range *times;
	size_t time_count;
	/* Whether samples of a cgroup of this path pass. NULL: all do; else those do not whose
	 * cgroup nothing has been told of. */
	bool (*takes_cgroup)(const void *chosen, const char *path);
	const void *chosen_cgroups;
};

/* A sink in front of `next`; both stay the caller's. Free with filter_free(). */
struct event_sink *filter_new(const struct filter_settings *settings, struct event_sink *next);
/* Frees; NULL is fine. */
void filter_free(struct event_sink *filter);

#endif
