/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many windows into one perf.data.
 */
#ifndef CMD_WINDOWS_MERGE_H
#define CMD_WINDOWS_MERGE_H

#include "cmd/asked_windows.h"
#include "event/event.h"

/*
 * Writes the samples of all windows as one recording with the clock CLOCK_REALTIME, which stock
 * perf reads, with the events of all windows. Windows that cannot be read are counted in
 * windows->damaged.
 *
 * path         "-": a stream on standard output
 * ret_samples  how many were written
 * Returns 0, or a negative errno with a sentence.
 */
int windows_merge(struct asked_windows *windows, const struct filter_settings *filter,
		  const char *path, u64 *ret_samples);

#endif
