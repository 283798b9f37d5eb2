/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call graphs as text, and what text.c shares with them; private to this folder.
 */
#ifndef EXPORT_TEXT_GRAPH_H
#define EXPORT_TEXT_GRAPH_H

#include "export/text.h"

#include "base/text.h"

/* Appends `lead` and a share with two decimals in at least `width` columns, coloured as perf does
 * it.
 */
void text_append_percent(struct text *text, const struct text_style *style, const char *lead,
			 int width, double percent);

/* Appends the name of a frame, or its address. */
void text_append_frame(struct text *text, const struct fold *fold, frame_id frame);

/* Appends the call graph of an entry (a row of the list's entries); nothing if it has none. */
void text_append_graph(struct text *text, const struct report_view *view,
		       const struct text_style *style, u32 entry);

#endif
