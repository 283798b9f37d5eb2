/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which CPUs there are.
 */
#ifndef HOST_CPUS_H
#define HOST_CPUS_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

/* The CPUs online now, ascending; owned by the caller. Returns 0 or a negative errno with a
 * sentence. */
int cpus_online(u32 **ret_cpus, size_t *ret_count);
/* One more than the highest number of the CPUs that are there, online or not; at least 1. */
u32 cpus_present(void);

/* For who wants to know again and again: it keeps the kernel's list open. */
struct cpus_watch;

/* Free with cpus_watch_free(). */
struct cpus_watch *cpus_watch_new(void);
/* Whether other CPUs are online than when that was asked last. True also if it is asked for the
 * first time, or cannot be told. */
bool cpus_watch_changed(struct cpus_watch *watch);
/* Whether since that was asked last one may have gone and come back, so that the list is the same:
 * some device came, went or changed, or the machine slept. True also as above. */
bool cpus_watch_may_be_back(struct cpus_watch *watch);
/* Frees; NULL is fine. */
void cpus_watch_free(struct cpus_watch *watch);

#endif
