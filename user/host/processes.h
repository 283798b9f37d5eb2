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

/*
 * Hands over fork (synthesized), name and mappings of processes
 * that run, with time 0, as perf does. A process that ends meanwhile is passed over.
 *
 * pids       only these and their threads; NULL: all
 * files      gives the mappings their build ids
 * Returns 0, what the sink returned, or a negative errno with a sentence.
 */
int processes_scan(const u32 *pids, size_t pid_count, struct file_ids *files,
		   struct event_sink *sink, struct scan_result *ret_result);

#endif
