/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every record of a recording in hexadecimal and in words, as perf report -D prints it.
 */
#ifndef CMD_DUMP_H
#define CMD_DUMP_H

#include "bpfprof/types.h"

#include <stdio.h>

/*
 * Dumps the recording at `path` ("-": a stream on stdin).
 *
 * Returns 0, or a negative errno with a sentence: as perfdata_open() and perfdata_read(), after all
 * that is whole has been dumped.
 */
int dump_recording(const char *path, FILE *out);

/* What a dump says of a sample that its record does not: the thread's name, and the file that the
 * CPU was in (NULL: unknown). */
void dump_place(const char *comm, u32 tid, const char *path, FILE *out);

#endif
