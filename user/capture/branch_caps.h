/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel says of the branch records of a PMU, and which kinds of them it is asked for.
 * Private to this folder.
 */
#ifndef CAPTURE_BRANCH_CAPS_H
#define CAPTURE_BRANCH_CAPS_H

#include "bpfprof/types.h"

#include <linux/perf_event.h>
#include <stdbool.h>

struct capture_settings;

/* How many branch records the PMU of this perf_event_attr.type has, as the folder `sysfs` ("/sys",
 * or a test's) says; 0: it does not say. */
u32 branch_caps_depth(const char *sysfs, u32 type);

/* The same of all events of the settings: the most that one has, 0 if one does not say. */
u32 branch_caps_depth_of_all(const struct capture_settings *settings);

/* Makes the kernel take branch stacks with the event, of the kinds that the settings name. */
void branch_caps_ask(const struct capture_settings *settings, struct perf_event_attr *attr);

/* Leaves out of what the event asks for the next of the bits in `extras`, which are not needed.
 * Returns false if none is left. */
bool branch_caps_ask_less(struct perf_event_attr *attr, u64 extras);

#endif
