/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --push: windows of the store to a server. Private to daemon*.c.
 */
#ifndef CMD_DAEMON_PUSH_H
#define CMD_DAEMON_PUSH_H

#include "cmd/daemon.h"

struct daemon_push;

/* Whether that is asked for. */
bool daemon_push_is_wanted(const struct daemon *daemon);
/* Whether what is asked for can be done, before much is begun. Returns as daemon_push_start(). */
int daemon_push_check(const struct daemon *daemon);
/* Begins to push, if that is asked for; with a store and a thread that keeps names. Returns 0 or a
 * negative errno with a sentence. */
int daemon_push_start(struct daemon *daemon);
/* The settings of the session are new ones. What does not work is said, and it goes on as before.
 */
void daemon_push_reload(struct daemon *daemon);
/* A window is in the store. Returns at once. */
void daemon_push_window(struct daemon *daemon, const struct store_window *window);
/* How it goes, "; push: 12 sent, 3 wait, 0 lost"; "" if nothing is pushed. */
const char *daemon_push_status(struct daemon *daemon, char text[static 96]);
/* What was pushed, and what was not; false: nothing is to be pushed. */
bool daemon_push_totals(struct daemon *daemon, struct push_totals *ret_totals);
/* Sends what can be sent in a few seconds, and frees; NULL is fine. */
void daemon_push_stop(struct daemon_push *push);

#endif
