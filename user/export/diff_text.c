/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of a diff, to the byte as perf diff prints it.
 *
 * Source of the layout: output of perf 6.1; tools/perf/builtin-diff.c for the widths.
 */
#include "export/diff_text.h"

#include "export/diff_blocks.h"
#include "export/diff_cells.h"
#include "export/diff_chance.h"
#include "export/text_keys.h"

#include <inttypes.h>
#include <math.h>

enum { RATE_WIDTH = 12 };

/* Titles, and widths where the title does not decide. */
struct figure_column {
	const char *title;
	u32 width;
};

static const struct figure_column figures[] = {
	[FIGURE_BASELINE] = {"Baseline", 0},
	[FIGURE_BASE_PERIOD] = {"Base period", 14},
	[FIGURE_FORMULA] = {"Formula", DIFF_FORMULA_WIDTH},
	[FIGURE_PERIOD] = {"Period", 14},
	[FIGURE_SPREAD] = {"stddev/Hist", 17},
	[FIGURE_INTERVAL] = {"+/-", 6},
	[FIGURE_MARK] = {"*", 1},
};

static const struct figure_column computed[] = {
	[COMPARE_DELTA_ABS] = {"Delta Abs", 7},
	[COMPARE_DELTA] = {"Delta", 7},
	[COMPARE_RATIO] = {"Ratio", 14},
	[COMPARE_WEIGHTED] = {"Weighted diff", 14},
	[COMPARE_CYCLES] = {"[Program Block Range] Cycles Diff", 70},
};

struct column {
	bool is_key;
	u8 what; /* enum diff_figure, or enum entry_field */
	u32 side;
	u32 width; /* of figures */
};

struct table {
	const struct diff_view *view;
	const struct text_style *style;
	const struct comparison *comparison;
	struct key_columns keys;
	VEC(struct column) columns; /* from left */
};

/* --- columns --- */

static const struct figure_column *figure_of(const struct table *table, u8 figure)
{
	return figure == FIGURE_COMPUTED ? &computed[table->comparison->settings.method]
					 : &figures[figure];
}

/* The title of a column; with more than two sides it says of which. */
static void append_title(const struct table *table, struct text *text, const struct column *column)
{
	if (column->is_key) {
		text_append(text, key_column_title(column->what));
		return;
	}
	text_append(text, figure_of(table, column->what)->title);
	if (table->comparison->settings.side_count > 2)
		text_appendf(text, "/%" PRIu32, column->side);
}

static void add_figure(struct table *table, u32 side, enum diff_figure figure)
{
	struct column column = {.what = (u8)figure, .side = side};
	struct text title = {0};

	append_title(table, &title, &column);
	column.width = figure_of(table, column.what)->width;
	if (table->view->rate_name && column.width < RATE_WIDTH)
		column.width = RATE_WIDTH;
	if (column.width < title.length)
		column.width = (u32)title.length;
	*vec_add(&table->columns) = column;
	text_release(&title);
}

static void add_keys(struct table *table)
{
	const struct entry_layout *layout = &table->comparison->settings.list.layout;
	bool has_key = false;

	for (u32 i = 0; i < layout->column_count; i++)
		has_key |= entry_field_is_key(layout->columns[i]) &&
			   !table->style->hides[layout->columns[i]];
	/* If every key were hidden, nothing would say what a line is. */
	for (u32 i = 0; i < layout->column_count; i++) {
		u8 field = layout->columns[i];

		if (entry_field_is_key(field) && (!has_key || !table->style->hides[field]))
			*vec_add(&table->columns) = (struct column){.is_key = true, .what = field};
	}
}

static void add_chance(struct table *table, u32 side)
{
	enum comparison_method method = table->comparison->settings.method;

	if (method == COMPARE_DELTA || method == COMPARE_DELTA_ABS)
		add_figure(table, side, FIGURE_INTERVAL);
	add_figure(table, side, FIGURE_MARK);
}

/* The columns of a side but the baseline. */
static void add_side(struct table *table, u32 side)
{
	const struct diff_view *view = table->view;

	add_figure(table, side, FIGURE_COMPUTED);
	if (view->show_spread)
		add_figure(table, side, FIGURE_SPREAD);
	if (view->changes)
		add_chance(table, side);
	if (view->show_formula)
		add_figure(table, side, FIGURE_FORMULA);
	if (view->show_period)
		add_figure(table, side, FIGURE_PERIOD);
}

static void choose_columns(struct table *table)
{
	add_figure(table, 0, FIGURE_BASELINE);
	if (table->view->show_period)
		add_figure(table, 0, FIGURE_BASE_PERIOD);
	for (u32 side = 1; side < table->comparison->settings.side_count; side++)
		add_side(table, side);
	add_keys(table);
}

static void find_widths(struct table *table)
{
	const struct comparison *comparison = table->comparison;

	key_columns_begin(&table->keys);
	for (size_t i = 0; i < comparison->sorted_count; i++) {
		const struct entry *entry = comparison_shown(comparison, comparison->sorted[i],
							     &table->keys.list);

		/* perf's columns are as wide as what it leaves out, too. */
		if (comparison->settings.is_strict ||
		    diff_shows(table->view, comparison->sorted[i]))
			key_columns_widen(&table->keys, entry);
	}
}

static u32 width_of(const struct table *table, const struct column *column)
{
	return column->is_key ? table->keys.widths[column->what] : column->width;
}

/* --- cells --- */

/* Figures stand right; of wider columns perf fills up what are numbers from the other side. */
static u32 aligned_width(const struct table *table, const struct column *column, const char *cell)
{
	bool is_number = column->what == FIGURE_COMPUTED && strcmp(cell, "N/A") != 0 &&
			 table->comparison->settings.method == COMPARE_WEIGHTED;

	return is_number ? computed[COMPARE_WEIGHTED].width : column->width;
}

/* Red for what grew by half a point, green for what shrank by that. */
static const char *color_of(const struct table *table, u32 entry, const struct column *column)
{
	const struct comparison *comparison = table->comparison;
	enum comparison_method method = comparison->settings.method;
	double delta;

	if (!table->style->has_color || table->view->rate_name || column->what != FIGURE_COMPUTED ||
	    (method != COMPARE_DELTA && method != COMPARE_DELTA_ABS) ||
	    !comparison_has_figure(comparison, entry, column->side))
		return NULL;
	delta = comparison_delta(comparison, entry, column->side);
	if (fabs(delta) < 0.5)
		return NULL;
	return delta > 0 ? "\033[31m" : "\033[32m";
}

/* A note stands behind the line, or in a column of its own. */
static void append_note(const struct table *table, struct text *line, u32 entry)
{
	const char *separator = table->style->separator;
	struct text note = {0};

	if (!table->view->show_notes)
		return;
	diff_append_note(table->view, &note, entry);
	for (size_t i = 0; separator && i < note.length; i++)
		if (note.bytes[i] == *separator)
			note.bytes[i] = '.';
	if (separator || note.length) {
		text_append(line, separator ? separator : "  ");
		text_append(line, text_view(&note));
	}
	text_release(&note);
}

/* --- lines --- */

/* Returns how many columns of the terminal it takes. */
static u32 append_cell(struct table *table, struct text *line, struct diff_place place,
		       const struct column *column)
{
	size_t begin = line->length;
	struct text cell = {0};
	const char *color;
	u32 width;

	if (column->is_key) {
		const struct entry *shown = comparison_shown(table->comparison, place.entry,
							     &table->keys.list);

		key_columns_append(&table->keys, line, shown, column->what);
		return (u32)(line->length - begin);
	}
	place.side = column->side;
	diff_append_figure(table->view, &cell, (enum diff_figure)column->what, place);
	color = color_of(table, place.entry, column);
	width = table->style->separator ? 0 : aligned_width(table, column, text_view(&cell));
	text_append(line, color);
	text_appendf(line, "%*s", (int)width, text_view(&cell));
	text_append(line, color ? "\033[m" : NULL);
	if (width < cell.length)
		width = (u32)cell.length;
	text_release(&cell);
	return width;
}

static void append_line(struct table *table, struct text *line, struct diff_place place)
{
	const char *separator = table->style->separator;

	place.is_bare = separator != NULL;
	for (size_t i = 0; i < table->columns.count; i++) {
		const struct column *column = &table->columns.items[i];
		u32 printed;

		if (!separator || i)
			text_append(line, separator ? separator : "  ");
		printed = append_cell(table, line, place, column);
		if (i + 1 < table->columns.count && printed < width_of(table, column))
			text_append_padded(line, NULL, width_of(table, column) - printed);
	}
	append_note(table, line, place.entry);
	text_append(line, "\n");
}

static void write_comments(const struct table *table)
{
	const struct diff_view *view = table->view;
	FILE *out = table->style->out;
	struct text name = {0};

	text_append_printable(&name, view->source->name);
	fprintf(out, "%s# Event '%s'", view->is_first ? "" : "\n", text_view(&name));
	if (view->rate_name)
		fprintf(out, " (%s a second)", view->rate_name);
	fputs("\n#\n", out);
	if (view->show_names)
		fputs("# Data files:\n", out);
	for (u32 side = 0; view->show_names && side < table->comparison->settings.side_count;
	     side++) {
		text_truncate(&name, 0);
		text_append_printable(&name, view->names[side]);
		fprintf(out, "#  [%" PRIu32 "] %s %s\n", side, text_view(&name),
			side ? "" : "(Baseline)");
	}
	if (view->show_names)
		fputs("#\n", out);
	text_release(&name);
}

static void write_dots(const struct table *table)
{
	FILE *out = table->style->out;

	fputc('#', out);
	for (size_t i = 0; i < table->columns.count; i++) {
		fputs(i ? "  " : " ", out);
		for (u32 k = 0; k < width_of(table, &table->columns.items[i]); k++)
			fputc('.', out);
	}
	fputs("\n#\n", out);
}

static void write_titles(const struct table *table)
{
	FILE *out = table->style->out;
	const char *separator = table->style->separator;
	struct text title = {0};

	fputs("# ", out);
	for (size_t i = 0; i < table->columns.count; i++) {
		const struct column *column = &table->columns.items[i];
		int width = (int)width_of(table, column);

		if (i)
			fputs(separator ? separator : "  ", out);
		text_truncate(&title, 0);
		append_title(table, &title, column);
		fprintf(out, "%*s", column->is_key ? -width : width, text_view(&title));
	}
	if (separator && table->view->show_notes)
		fprintf(out, "%sNote", separator);
	fputc('\n', out);
	text_release(&title);
	if (!separator)
		write_dots(table);
}

/* All lines of an entry. */
static void write_entry(struct table *table, struct text *line, u32 entry)
{
	const struct diff_view *view = table->view;
	u32 count = view->blocks ? block_changes_lines(view->blocks, entry) : 1;

	for (u32 i = 0; i < count; i++) {
		text_truncate(line, 0);
		append_line(table, line, (struct diff_place){.entry = entry, .line = i});
		fwrite(text_view(line), 1, line->length, table->style->out);
	}
}

void diff_write_text(const struct diff_view *view, const struct text_style *style)
{
	struct table table = {
		.view = view,
		.style = style,
		.comparison = view->comparison,
		.keys = {.style = style},
	};
	struct text line = {0};

	choose_columns(&table);
	find_widths(&table);
	if (!style->is_quiet) {
		write_comments(&table);
		write_titles(&table);
	}
	for (size_t i = 0; i < view->comparison->sorted_count; i++) {
		if (diff_shows(view, view->comparison->sorted[i]))
			write_entry(&table, &line, view->comparison->sorted[i]);
	}
	if (view->blocks && !style->is_quiet)
		diff_write_blocks_left_out(view, style->out);
	if (view->changes && !style->is_quiet)
		diff_write_chance(view->changes, style->out);
	text_release(&line);
	vec_release(&table.columns);
	key_columns_release(&table.keys);
}
