/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words that this program was started with. Private to this folder.
 */
#ifndef CMD_COMMAND_LINE_H
#define CMD_COMMAND_LINE_H

#include <stddef.h>

struct command_line {
	char *text; /* what the words point into */
	const char **words;
	size_t count;
};

/* Reads it; empty if it cannot be read. command_line_release() it. */
struct command_line command_line_read(void);
/* Frees. */
void command_line_release(struct command_line *line);

#endif
