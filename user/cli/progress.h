/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One moving line on stderr, on a terminal, for work that takes longer than 300 ms.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "bpfprof/types.h"

/* Shows how far `what` has come, with a bar and the time left; `total` 0 is unknown. Cheap: looks
 * at the clock now and then, draws at most ten times a second. */
void progress_show(const char *what, u64 done, u64 total);

/* Shows `line` as it is in place of the last one (the status of a recording). */
void progress_line(const char *line);

/* Wipes the line, so that other output starts on a clean one. */
void progress_clear(void);

#endif
