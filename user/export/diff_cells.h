/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands in the cells of a diff; private to this folder.
 */
#ifndef EXPORT_DIFF_CELLS_H
#define EXPORT_DIFF_CELLS_H

#include "base/text.h"
#include "export/diff_text.h"

enum { DIFF_FORMULA_WIDTH = 70 };

enum diff_figure {
	FIGURE_BASELINE,
	FIGURE_BASE_PERIOD,
	FIGURE_COMPUTED,
	FIGURE_FORMULA,
	FIGURE_PERIOD,
	FIGURE_SPREAD,	 /* of blocks of code */
	FIGURE_INTERVAL, /* these need the view's changes */
	FIGURE_MARK,
};

struct diff_place {
	u32 entry, side;
	u32 line;     /* of the entry's; only those of blocks of code have more than one */
	bool is_bare; /* between separators, where perf leaves the sign of per cent out, and 0 */
};

/* Appends a figure without padding; " " if there is none. */
void diff_append_figure(const struct diff_view *view, struct text *cell, enum diff_figure figure,
			struct diff_place place);
/* Appends whether an entry is new, gone, or what it is now; nothing if none of these. */
void diff_append_note(const struct diff_view *view, struct text *note, u32 entry);

/* Whether the view shows an entry at all. */
bool diff_shows(const struct diff_view *view, u32 entry);
/* What a verdict (enum significance_verdict) is called in files for programs. */
const char *diff_verdict_name(u8 verdict);

#endif
