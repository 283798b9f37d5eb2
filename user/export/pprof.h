/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof: a gzipped protocol buffer that `go tool pprof`, Pyroscope and others read.
 * Source: github.com/google/pprof, proto/profile.proto.
 */
#ifndef EXPORT_PPROF_H
#define EXPORT_PPROF_H

#include "profile/profile.h"

#include <stdio.h>

struct pprof_settings {
	u64 start_ns, duration_ns; /* CLOCK_REALTIME; 0: not known */
	/* Names of threads are outermost frames, and samples have no labels: a server that makes a
	 * series of each set of labels would have one for each thread. */
	bool names_are_frames;
	/* Only samples whose row of labels is of this group; NULL: all. Borrowed. */
	const u32 *groups;
	u32 group;
};

/*
 * Writes a named profile: for each event the number of samples and their sum (of clocks in
 * nanoseconds), with the thread's name, and pid and tid where they are kept, as labels. Of the
 * tables there is what these samples need.
 *
 * Returns 0 or a negative errno without a sentence: it could not be written.
 */
int pprof_write(const struct profile *profile, const struct pprof_settings *settings, FILE *out);

#endif
