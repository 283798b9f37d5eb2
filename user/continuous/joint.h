/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes one stream of events out of the windows of a store, which stand one after the other.
 *
 * Each window tells of its processes again. What is told again is left out, so that who counts
 * samples goes on knowing the stacks of processes that live on: a window of known stacks costs one
 * look a sample. Another mapping at the same place is another process, or another file: it takes
 * the place of the old one. A window holds all mappings that its samples lie in, so what is left of
 * a process whose number was used again is not asked for.
 *
 * Ids of cgroups become others, one for each path: the kernel's say the same within a boot only.
 *
 * Times become CLOCK_REALTIME, for the clock of samples begins anew with every boot.
 */
#ifndef CONTINUOUS_JOINT_H
#define CONTINUOUS_JOINT_H

#include "event/event.h"

struct joint;

/* Stands in front of `next`, which stays the caller's. Free with joint_free(). */
struct joint *joint_new(struct event_sink *next);
/* Frees; NULL is fine. */
void joint_free(struct joint *joint);
/* The sink to feed; lives as long as the joint. */
struct event_sink *joint_sink(struct joint *joint);
/* From now on so much is added to each time that is not 0. */
void joint_set_clock(struct joint *joint, u64 offset_ns);
/* From now on what has no time, as it holds from a window's beginning on, has this one,
 * CLOCK_REALTIME; 0: none. For who writes a file, which is read in the order of time. */
void joint_set_begin(struct joint *joint, u64 begin_ns);
/* From now on all samples are of this moment, CLOCK_REALTIME; 0: each has its own again. */
void joint_set_moment(struct joint *joint, u64 moment_ns);

#endif
