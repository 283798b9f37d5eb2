/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums of windows, made after their time by a thread with the lowest priority: a quarter of an hour
 * takes as long as a report of it. Private to this folder.
 */
#ifndef CMD_DAEMON_SUMS_H
#define CMD_DAEMON_SUMS_H

#include "continuous/continuous.h"

struct daemon_sums;

/* Starts the thread. Signals must be blocked by now. Returns 0 or a negative errno with a
 * sentence. */
int daemon_sums_open(const char *directory, struct daemon_sums **ret_sums);
/* From now on the thread takes at most that share of a CPU, on average over what it makes; 0: as
 * much as it gets. Does nothing if `sums` is NULL. */
void daemon_sums_limit(struct daemon_sums *sums, double share);
/* Gives up what is being made, and frees; NULL is fine. */
void daemon_sums_close(struct daemon_sums *sums);
/* A window was written: takes what was made into account, and gives the thread the next to make.
 * Does nothing while it is at work, or if `sums` is NULL. */
void daemon_sums_go_on(struct daemon_sums *sums, struct store *store);

#endif
