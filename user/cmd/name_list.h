/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names to choose by, as perf takes them: "a,b,c", or file://PATH with one name a line.
 */
#ifndef CMD_NAME_LIST_H
#define CMD_NAME_LIST_H

#include "base/vec.h"

struct name_list {
	const char **items; /* with count and capacity as in a VEC(const char *) */
	size_t count, capacity;
	char *text; /* what the items point into */
};

/* Reads a list; NULL gives an empty one. Returns 0, or a negative errno with a sentence if a
 * file:// list cannot be read. name_list_release() it. */
int name_list_read(const char *list, struct name_list *ret_names);
/* Frees the contents; empty again. For CLEANUP too. */
void name_list_release(struct name_list *names);

#endif
