/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_event_open(2), as all of capture/ calls it. Private to capture/.
 */
#ifndef CAPTURE_PERF_OPEN_H
#define CAPTURE_PERF_OPEN_H

#include "bpfprof/types.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens an event for all tasks of one CPU. The kernel writes attr->size where that is not its own.
 * Returns the descriptor or a negative errno, without a sentence. */
static inline int perf_open_cpu(struct perf_event_attr *attr, u32 cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

#endif
