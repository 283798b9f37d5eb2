/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places in the source as perf writes them: "list.c:123", and what stands for one that is not
 * known.
 */
#ifndef PROFILE_SOURCE_TEXT_H
#define PROFILE_SOURCE_TEXT_H

#include "base/text.h"
#include "profile/tables.h"

/*
 * Appends the place of a location in the source: "file:line" without the file's folder. Where it is
 * not known, as in perf: "??:0" in a program's functions, "name+offset" (decimal) in the kernel's,
 * in linkage tables and in functions without symbol, "binary[address]" where none is known.
 *
 * line  the location's row of `lines` that is meant, innermost or of a caller; 0: it has none
 * Returns whether the place is known.
 */
bool source_text_append(struct text *text, const struct profile *profile,
			const struct location_row *location, u32 line);

/* The length of the file's name in a text of source_text_append(); 0: it names none. */
size_t source_text_file_length(const char *text);

#endif
