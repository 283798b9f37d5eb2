/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the daemon's pushes go, for list. Private to this folder.
 */
#ifndef CMD_LIST_PUSHES_H
#define CMD_LIST_PUSHES_H

#include "base/json_writer.h"

/* Prints comment lines, none if the daemon of this store has never pushed. */
void list_pushes_text(const char *store);
/* Writes the key "push", unless it has never pushed. */
void list_pushes_json(const char *store, struct json_writer *json);

#endif
