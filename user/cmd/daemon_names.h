/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of what was sampled, kept before their binaries can go. Private to this folder.
 */
#ifndef CMD_DAEMON_NAMES_H
#define CMD_DAEMON_NAMES_H

#include "event/event.h"

struct daemon_names;

/* Opens a folder of names that takes at most `max_bytes` (0: no limit), and keeps those of the
 * kernel. Reading a large binary takes a second or more of a busy machine: that is done beside,
 * with the lowest priority. Signals must be blocked by now. Returns 0 or a negative errno with a
 * sentence.
 */
int daemon_names_open(const char *directory, u64 max_bytes, struct daemon_names **ret_names);
/* Reads what still waits, holds the limit, and frees; NULL is fine. */
void daemon_names_close(struct daemon_names *names);
/* Wants those of a binary that runs; a struct window_settings.take_binary, `names` its context.
 * True once they are kept, or cannot be. */
bool daemon_names_take(void *names, const struct mapping *binary);

#endif
