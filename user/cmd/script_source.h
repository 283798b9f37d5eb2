/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of source files, as script prints them below a sample or an instruction. Private to
 * script_*.c.
 */
#ifndef CMD_SCRIPT_SOURCE_H
#define CMD_SCRIPT_SOURCE_H

#include "base/text.h"
#include "profile/profile.h"

/* The source files that were read, and which line each thread was shown last. */
struct source_code;

/* A line, counted from 1, and its file. */
struct source_place {
	const char *path;
	string_id file; /* the same for equal paths */
	u32 line;
};

/* Reads nothing yet. */
struct source_code *source_code_new(void);
/* Frees; NULL is fine. */
void source_code_free(struct source_code *code);
/*
 * Appends a line's number and text, and the line's end: "|12       	return 0;". Nothing if that
 * is what the thread was shown last, as in perf, or if there is no such file or line. Only regular
 * files are opened, and of at most 16 MiB.
 */
void source_code_append(struct source_code *code, struct text *text, u32 tid,
			const struct source_place *place);
/* The thread has ended: another one of its number has been shown nothing. */
void source_code_forget(struct source_code *code, u32 tid);

#endif
