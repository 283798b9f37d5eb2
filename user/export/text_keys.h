/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key columns of a table: threads, binaries, symbols, in the cells of perf report --stdio.
 */
#ifndef EXPORT_TEXT_KEYS_H
#define EXPORT_TEXT_KEYS_H

#include "base/text.h"
#include "export/text.h"

/* Zeroed but for style and list it is ready for use; release with key_columns_release(). */
struct key_columns {
	const struct text_style *style;
	const struct entry_list *list; /* whose entries come next */
	u32 widths[FIELD_COUNT];
	bool is_cut[FIELD_COUNT]; /* no cell may be wider */
	struct text cell;	  /* the text at hand */
};

/* The title of a key's column. */
const char *key_column_title(u8 field);
/* Makes the columns at least as wide as their titles. */
void key_columns_begin(struct key_columns *columns);
/* Makes the columns wide enough for an entry, all of them: whichever are shown. */
void key_columns_widen(struct key_columns *columns, const struct entry *entry);
/* The cell of a key, padded as perf pads it. */
void key_columns_append(struct key_columns *columns, struct text *line, const struct entry *entry,
			u8 field);
/* Frees the contents. */
void key_columns_release(struct key_columns *columns);

#endif
