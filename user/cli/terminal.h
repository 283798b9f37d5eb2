/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the terminal can do: width, colour.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* $COLUMNS if it is set, else the columns of the terminal behind `out`, else 80. */
unsigned int terminal_width(FILE *out);

/* Whether TERM says that the terminal can't move its cursor: unset, empty or "dumb". */
bool terminal_is_dumb(void);

/* Whether `out` gets colour: a terminal (or our pager), not dumb, NO_COLOR is unset or empty. */
bool terminal_wants_color(FILE *out, enum color_mode mode);

/* Parses auto, always or never. Returns 0 or -EINVAL with a sentence. */
int terminal_parse_color(const char *text, enum color_mode *ret_mode);

#endif
