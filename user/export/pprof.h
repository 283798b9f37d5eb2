/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof: a gzipped protocol buffer that `go tool pprof`, Pyroscope and others read.
 * Source: github.com/google/pprof, proto/profile.proto.
 */
#ifndef EXPORT_PPROF_H
#define EXPORT_PPROF_H

#include "profile/profile.h"

#include <stdio.h>

/*
 * Writes a named profile: for each event the number of samples and their sum (of clocks in
 * nanoseconds), with the thread's name, and pid and cgroup where they are kept, as labels.
 *
 * start_ns, duration_ns  CLOCK_REALTIME; 0: not known
 * Returns 0 or a negative errno without a sentence: it could not be written.
 */
int pprof_write(const struct profile *profile, u64 start_ns, u64 duration_ns, FILE *out);

#endif
