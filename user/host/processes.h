/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What runs now, as events: the start-up scan of /proc.
 */
#ifndef HOST_PROCESSES_H
#define HOST_PROCESSES_H

#include "event/event.h"
#include "host/file_ids.h"

struct scan_result {
	u64 processes, threads, mappings;
	u64 unreadable; /* processes whose maps could not be read (they ended, or no permission) */
};

struct scan_request {
	const u32 *pids; /* only these and their threads; NULL: all */
	size_t pid_count;
	struct file_ids *files; /* gives the mappings their build ids */
	/* When that is so; 0: before the recording, as perf has it. At any other time all that is
	 * known of a process is replaced, so none is told whose mappings cannot be read. */
	u64 time_ns;
};

/*
 * Hands over fork (synthesized), name and mappings of processes that run. A process that ends
 * meanwhile is passed over.
 *
 * Returns 0, what the sink returned, or a negative errno with a sentence.
 */
int processes_scan(const struct scan_request *request, struct event_sink *sink,
		   struct scan_result *ret_result);

#endif
