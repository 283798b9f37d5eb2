/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of what was sampled, kept before their binaries can go. Private to this folder.
 */
#ifndef CMD_DAEMON_NAMES_H
#define CMD_DAEMON_NAMES_H

#include "event/event.h"

struct names_cache;

/* Opens a folder of names that takes at most `max_bytes` (0: no limit), and keeps those of the
 * kernel. Returns 0 or a negative errno with a sentence. */
int daemon_names_open(const char *directory, u64 max_bytes, struct names_cache **ret_names);
/* Holds the limit, and frees; NULL is fine. */
void daemon_names_close(struct names_cache *names);
/* Keeps those of a binary that runs; a struct window_settings.take_binary, `names` its context. */
bool daemon_names_take(void *names, const struct mapping *binary);

#endif
