/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --metrics and --metrics-file. Private to daemon*.c.
 */
#ifndef CMD_DAEMON_METRICS_H
#define CMD_DAEMON_METRICS_H

#include "cmd/daemon.h"

struct daemon_metrics;

/* Whether somebody is to be answered. */
bool daemon_metrics_is_wanted(const struct daemon *daemon);
/* Begins to answer and writes the file, as far as that is asked for; the rate must be known.
 * Returns 0 or a negative errno with a sentence. */
int daemon_metrics_start(struct daemon *daemon);
/* The settings of the session are new ones. What does not work is said, and left. */
void daemon_metrics_reload(struct daemon *daemon);
/* A window has ended; NULL: it could not be written. */
void daemon_metrics_window(struct daemon *daemon, const struct store_window *window);
/* Ends it, and frees; NULL is fine. */
void daemon_metrics_stop(struct daemon_metrics *metrics);

#endif
