/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which CPUs there are.
 */
#ifndef HOST_CPUS_H
#define HOST_CPUS_H

#include "bpfprof/types.h"

#include <stddef.h>

/* The CPUs online now, ascending; owned by the caller. Returns 0 or a negative errno with a
 * sentence. */
int cpus_online(u32 **ret_cpus, size_t *ret_count);
/* One more than the highest number of the CPUs that are there, online or not; at least 1. */
u32 cpus_present(void);

#endif
