/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why an event cannot be sampled.
 */
#ifndef CAPTURE_OPEN_FAILURE_H
#define CAPTURE_OPEN_FAILURE_H

#include "bpfprof/types.h"

struct perf_event_attr;

/* Says what the kernel said when `name` was to be opened on `cpu` by `wanted`, and what can be done
 * about it. Tries once without branch stacks, to tell whether those are what it refuses. Returns
 * `error`, a negative errno. */
int open_failure_tell(int error, const struct perf_event_attr *wanted, const char *name, u32 cpu);

#endif
