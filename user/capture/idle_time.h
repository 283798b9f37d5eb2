/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long each CPU has been idle. Some virtual machines do not run perf's timer on an idle CPU;
 * the ticks that are then missing are idle time, not losses.
 */
#ifndef CAPTURE_IDLE_TIME_H
#define CAPTURE_IDLE_TIME_H

#include "base/cursor.h"

/* Idle time since boot by CPU number, in ns, from the text of /proc/stat; 0 for CPUs that are not
 * in it. Pure. `ret_ns` has `cpu_count` elements. */
void idle_time_parse(struct bytes text, u64 *ret_ns, u32 cpu_count);
/* The same for this machine now; all 0 if it does not tell. */
void idle_time_read(u64 *ret_ns, u32 cpu_count);

#endif
