/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A diff as text, in the layout of perf diff.
 */
#ifndef EXPORT_DIFF_TEXT_H
#define EXPORT_DIFF_TEXT_H

#include "export/text.h"

/* What is shown of one event. All borrowed. */
struct diff_view {
	const struct comparison *comparison;
	const struct changes *changes;	    /* NULL: chance is not told */
	const struct block_changes *blocks; /* of COMPARE_CYCLES, else NULL */
	bool show_spread;		    /* a column of them */
	bool only_marked;		    /* only lines that changed beyond chance */
	const struct event_source *source;
	const char *const *names; /* of the sides; the first is the baseline */
	bool show_names;	  /* a list of them, above the table */
	bool show_period, show_formula;
	bool show_notes; /* what is new, gone or moved */
	/* Of rates: what one is a number of, and how many of them one period is. NULL: shares. */
	const char *rate_name;
	double rate_scale;
	bool is_first; /* no event came before */
};

/* One event: its comment lines and table. Bytes that could steer a terminal are escaped. */
void diff_write_text(const struct diff_view *view, const struct text_style *style);

#endif
