/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tables have in common, whether lines stand one below the other or in a hierarchy. Private to
 * this folder.
 */
#ifndef EXPORT_TEXT_TABLE_H
#define EXPORT_TEXT_TABLE_H

#include "export/text_keys.h"

struct table {
	const struct report_view *view;
	const struct text_style *style;
	const struct entry_list *list;
	struct key_columns keys;
	u8 fields[FIELD_COUNT]; /* shown, from left */
	u32 field_count;
	u32 widths[FIELD_COUNT];      /* of columns, by field */
	u32 cell_widths[FIELD_COUNT]; /* of figures: a column has one cell for each event */
};

/* A table of the view, with its columns and their widths. Release with table_release(). */
struct table table_of(const struct report_view *view, const struct text_style *style);
/* Frees the contents. */
void table_release(struct table *table);

/* The title of a column. */
const char *table_title(const struct table *table, u8 field);
/* The comment lines above the titles. */
void table_write_comments(const struct table *table);
/* The title of a column, aligned as its cells are. */
void table_write_title(const struct table *table, u8 field);
/* A figure of an entry, and of what the members of a group say beside it (entry_others()). */
void table_append_figure(const struct table *table, struct text *line, const struct entry *entry,
			 const struct entry *others, u8 field);

#endif
