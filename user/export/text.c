/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of the report, to the byte as perf report --stdio prints it: one line an entry.
 */
#include "export/text.h"

#include "export/text_graph.h"
#include "export/text_hierarchy.h"
#include "export/text_table.h"

static void write_titles(const struct table *table)
{
	FILE *out = table->style->out;
	const char *separator = table->style->separator;

	fputs("# ", out);
	for (u32 i = 0; i < table->field_count; i++) {
		if (i)
			fputs(separator ? separator : "  ", out);
		table_write_title(table, table->fields[i]);
	}
	fputc('\n', out);
	if (separator)
		return;
	fputc('#', out);
	for (u32 i = 0; i < table->field_count; i++) {
		fputs(i ? "  " : " ", out);
		for (u32 k = 0; k < table->widths[table->fields[i]]; k++)
			fputc('.', out);
	}
	fputs("\n#\n", out);
}

static void append_line(struct table *table, struct text *line, const struct entry *entry)
{
	const char *separator = table->style->separator;

	for (u32 i = 0; i < table->field_count; i++) {
		u8 field = table->fields[i];
		bool is_last = i + 1 == table->field_count;
		size_t begin, printed;

		if (!separator || i)
			text_append(line, separator ? separator : "  ");
		begin = line->length;
		if (entry_field_is_key(field))
			key_columns_append(&table->keys, line, entry, field);
		else
			table_append_figure(table, line, entry, entry_others(table->list, entry),
					    field);
		printed = line->length - begin;
		if (!is_last && printed < table->widths[field])
			text_append_padded(line, NULL, table->widths[field] - printed);
	}
	text_append(line, "\n");
}

static void write_lines(struct table *table)
{
	const struct report_view *view = table->view;
	struct text line = {0};

	if (!table->style->is_quiet)
		write_titles(table);
	for (size_t i = 0; i < view->list->entries.count; i++) {
		u32 entry = view->list->sorted[i];
		const struct entry *row = &view->list->entries.items[entry];

		if (!report_shows(view, row))
			continue;
		text_truncate(&line, 0);
		append_line(table, &line, row);
		text_append_graph(&line, view, table->style, entry);
		fwrite(text_view(&line), 1, line.length, table->style->out);
	}
	text_release(&line);
}

void report_write_text(const struct report_view *view, const struct text_style *style)
{
	struct table table = table_of(view, style);

	if (!style->is_quiet)
		table_write_comments(&table);
	if (view->is_hierarchy)
		text_write_hierarchy(&table);
	else
		write_lines(&table);
	fputs("\n\n", style->out);
	table_release(&table);
}
