/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much a recording takes: frames, ring, memory, descriptors.
 */
#ifndef CAPTURE_SIZES_H
#define CAPTURE_SIZES_H

#include "capture/capture.h"

/* Whether we take stacks of so many frames. Returns 0 or a negative errno with a sentence. */
int sizes_check_depth(u32 max_stack);
/* At how many frames the kernel cuts the stacks that it walks itself. */
u16 sizes_kernel_depth(void);

/* Bytes of the ring: what was asked for, or what holds the samples of half a second. */
u64 sizes_ring_bytes(const struct capture_settings *settings, size_t cpu_count);

/* Bytes of the ring of rests: what the stacks of a quarter of a second take while everything that
 * runs is new, within limits. */
u64 sizes_rest_bytes(const struct capture_settings *settings, size_t cpu_count);

/* Slots for the counts of one CPU in one window, a power of two: as many as it can have samples,
 * within limits. `cpu_count` CPUs have tables. */
u32 sizes_count_slots(const struct capture_settings *settings, size_t cpu_count);

/* How many segments the space for unwind tables may have, at least one. */
u32 sizes_unwind_segments(const struct capture_settings *settings);

/* Raises our limit of descriptors if need be: one for each event and CPU can be more than we may
 * have by default. Not before the command has been forked: it shall have the limit that we were
 * given. Returns 0 or a negative errno with a sentence. */
int sizes_allow_descriptors(const struct capture_settings *settings, size_t cpu_count);

#endif
