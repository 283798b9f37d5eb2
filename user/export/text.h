/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report as text, in the layout of perf report --stdio.
 */
#ifndef EXPORT_TEXT_H
#define EXPORT_TEXT_H

#include "export/report.h"

#include <stdio.h>

struct text_style {
	FILE *out;
	const char *separator; /* between columns, instead of alignment; NULL: aligned */
	bool is_quiet;	       /* no comment lines */
	bool has_color;
	bool has_nanoseconds; /* times to the nanosecond */
	const u32 *widths;    /* of the first columns; 0: as wide as need be. Borrowed */
	u32 width_count;
	bool hides[FIELD_COUNT]; /* columns that would say the same in every line */
};

/* One event: its comment lines, table and call graphs, and the blank lines behind. Bytes that could
 * steer a terminal are escaped. */
void report_write_text(const struct report_view *view, const struct text_style *style);

#endif
