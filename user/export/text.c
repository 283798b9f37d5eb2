/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of the report, to the byte as perf report --stdio prints it: one line an entry.
 */
#include "export/text.h"

#include "base/parallel.h"
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

/* Lines that are made at the same time, on all CPUs, and then written in their order. The first
 * ones have the largest graphs, so each is a piece; most have none. With a graph each, one a CPU
 * fills a screen, and who reads it does not wait for more. */
enum { PIECES = 64, MORE_LINES = 8, MOST_LINES = 512 };

struct pieces {
	const struct table *table;
	size_t first; /* line of the first piece */
	size_t lines; /* of each */
	struct text texts[PIECES];
};

/* The frame of a line's entry. */
static const struct folded_frame *line_frame(const struct entry_list *list, size_t line)
{
	return &list->fold->frames.items[list->entries.items[list->sorted[line]].frame];
}

/* Gets from memory what lines will look at: the entry of one, the frame of one that comes sooner,
 * and of one that comes next where that is. Always inlined: see row_index_expect(). */
static __attribute__((always_inline)) inline void expect_lines(const struct entry_list *list,
							       size_t line)
{
	enum { STEP = 8 };

	if (line + 3 * STEP >= list->entries.count)
		return;
	__builtin_prefetch(&list->entries.items[list->sorted[line + 3 * STEP]]);
	__builtin_prefetch(line_frame(list, line + 2 * STEP));
	__builtin_prefetch(
		&list->fold->profile->locations.items[line_frame(list, line + STEP)->location]);
}

static void make_piece(void *context, size_t piece)
{
	struct pieces *pieces = context;
	struct table table = *pieces->table;
	const struct report_view *view = table.view;
	struct text *text = &pieces->texts[piece];
	size_t from = pieces->first + piece * pieces->lines, to = from + pieces->lines;

	/* what cells are put together in is each thread's own */
	table.keys.cell = (struct text){0};
	text_truncate(text, 0);
	for (size_t i = from; i < to && i < view->list->entries.count; i++) {
		u32 entry = view->list->sorted[i];
		const struct entry *row = &view->list->entries.items[entry];

		expect_lines(view->list, i);
		if (!report_shows(view, row))
			continue;
		append_line(&table, text, row);
		text_append_graph(text, view, table.style, entry);
	}
	key_columns_release(&table.keys);
}

static size_t first_pieces(void)
{
	size_t width = parallel_width();

	return width < PIECES ? width : PIECES;
}

static void write_lines(struct table *table)
{
	const struct report_view *view = table->view;
	struct pieces pieces = {.table = table, .lines = 1};
	size_t count = view->list->entries.count, most = first_pieces();

	if (!table->style->is_quiet)
		write_titles(table);
	call_tree_prepare(view->list, view->graph);
	while (pieces.first < count) {
		size_t left = count - pieces.first, all = most * pieces.lines;
		size_t used = ((left < all ? left : all) + pieces.lines - 1) / pieces.lines;

		parallel_run(used, make_piece, &pieces);
		for (size_t i = 0; i < used; i++)
			fwrite(text_view(&pieces.texts[i]), 1, pieces.texts[i].length,
			       table->style->out);
		if (!pieces.first)
			fflush(table->style->out);
		else if (pieces.lines < MOST_LINES)
			pieces.lines *= MORE_LINES;
		pieces.first += all;
		most = PIECES;
	}
	for (size_t i = 0; i < PIECES; i++)
		text_release(&pieces.texts[i]);
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
