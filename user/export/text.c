/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of the report, to the byte as perf report --stdio prints it.
 *
 * Source of the layout: output of perf 6.1; tools/perf/util/hist.c and sort.c for widths.
 */
#include "export/text.h"

#include "export/text_graph.h"
#include "export/text_keys.h"

#include <inttypes.h>
#include <string.h>

enum {
	PERCENT_WIDTH = 8,
	GUEST_WIDTH = 9,
	NUMBER_WIDTH = 12,
};

struct figure_column {
	const char *title;
	u32 width;
};

static const struct figure_column figures[FIELD_COUNT] = {
	[FIELD_CHILDREN] = {"Children", PERCENT_WIDTH},
	[FIELD_OVERHEAD] = {"Overhead", PERCENT_WIDTH},
	[FIELD_OVERHEAD_SYS] = {"sys", PERCENT_WIDTH},
	[FIELD_OVERHEAD_US] = {"usr", PERCENT_WIDTH},
	[FIELD_OVERHEAD_GUEST_SYS] = {"guest sys", GUEST_WIDTH},
	[FIELD_OVERHEAD_GUEST_US] = {"guest usr", GUEST_WIDTH},
	[FIELD_SAMPLE] = {"Samples", NUMBER_WIDTH},
	[FIELD_PERIOD] = {"Period", NUMBER_WIDTH},
};

struct table {
	const struct report_view *view;
	const struct text_style *style;
	const struct entry_list *list;
	struct key_columns keys;
	u8 fields[FIELD_COUNT]; /* shown, from left */
	u32 field_count;
	u32 widths[FIELD_COUNT]; /* by field */
};

/* --- cells --- */

static const char *title_of(const struct table *table, u8 field)
{
	bool is_self = field == FIELD_OVERHEAD && table->list->settings.has_children &&
		       !table->list->settings.layout.is_strict;

	if (entry_field_is_key(field))
		return key_column_title(field);
	return is_self ? "Self" : figures[field].title;
}

static u32 width_of(const struct table *table, u8 field)
{
	return table->widths[field];
}

static void append_figure(const struct table *table, struct text *line, const struct entry *entry,
			  u8 field)
{
	bool is_aligned = !table->style->separator;
	int width = (int)width_of(table, field);
	u64 value = entry_value(entry, field);
	u64 total = table->list->total_period;

	if (field == FIELD_CHILDREN && !table->list->settings.has_children)
		text_appendf(line, " %*s", width - 1, "N/A");
	else if (field == FIELD_SAMPLE || field == FIELD_PERIOD)
		text_appendf(line, " %*" PRIu64, is_aligned ? width - 1 : 1, value);
	else
		text_append_percent(line, table->style, " ", is_aligned ? width - 2 : 1,
				    total ? 100.0 * (double)value / (double)total : 0.0);
}

/* --- widths --- */

static void find_widths(struct table *table)
{
	key_columns_begin(&table->keys);
	for (size_t i = 0; i < table->list->entries.count; i++)
		key_columns_widen(&table->keys, &table->list->entries.items[i]);
}

/* What the user says, or as wide as need be. A cell of a key is cut there. */
static void set_width(struct table *table, u32 column)
{
	const struct text_style *style = table->style;
	u8 field = table->fields[column];
	u32 given = column < style->width_count ? style->widths[column] : 0;

	table->widths[field] = entry_field_is_key(field) ? table->keys.widths[field]
							 : figures[field].width;
	if (!given)
		return;
	table->widths[field] = given;
	if (entry_field_is_key(field)) {
		table->keys.widths[field] = given;
		table->keys.is_cut[field] = true;
	}
}

static void choose_fields(struct table *table)
{
	const struct entry_layout *layout = &table->list->settings.layout;
	bool has_key = false;

	for (u32 i = 0; i < layout->column_count; i++) {
		u8 field = layout->columns[i];

		has_key |= entry_field_is_key(field) && !table->style->hides[field];
	}
	/* If every key were hidden, nothing would say what a line is. */
	for (u32 i = 0; i < layout->column_count; i++)
		if (!has_key || !table->style->hides[layout->columns[i]])
			table->fields[table->field_count++] = layout->columns[i];
	for (u32 i = 0; i < table->field_count; i++)
		set_width(table, i);
}

/* --- lines --- */

/* perf's "1K": whole thousands above one thousand, by one letter. */
static void write_sample_count(FILE *out, u64 count)
{
	static const char units[] = " KMG";
	u32 unit = 0;

	while (count > 1000 && unit + 2 < sizeof(units)) {
		count /= 1000;
		unit++;
	}
	fprintf(out, "# Samples: %" PRIu64 "%c", count, units[unit]);
}

static void write_comments(const struct table *table)
{
	FILE *out = table->style->out;
	const struct entry_list *list = table->list;
	struct text name = {0};

	text_append_printable(&name, table->view->source->name);
	write_sample_count(out,
			   list->settings.is_relative ? list->shown_samples : list->all_samples);
	fprintf(out, " of event '%s'", text_view(&name));
	if (table->view->times)
		fprintf(out, " (time slices: %s)", table->view->times);
	fprintf(out, "\n# Event count (approx.): %" PRIu64 "\n",
		list->settings.is_relative ? list->total_period : list->all_period);
	if (table->view->socket)
		fprintf(out, "# Processor Socket: %u\n", *table->view->socket);
	fputs("#\n", out);
	text_release(&name);
}

static void write_titles(const struct table *table)
{
	FILE *out = table->style->out;
	const char *separator = table->style->separator;

	fputs("# ", out);
	for (u32 i = 0; i < table->field_count; i++) {
		u8 field = table->fields[i];
		int width = (int)width_of(table, field);

		if (i)
			fputs(separator ? separator : "  ", out);
		fprintf(out, "%*.*s", entry_field_is_key(field) ? -width : width, width,
			title_of(table, field));
	}
	fputc('\n', out);
	if (separator)
		return;
	fputc('#', out);
	for (u32 i = 0; i < table->field_count; i++) {
		fputs(i ? "  " : " ", out);
		for (u32 k = 0; k < width_of(table, table->fields[i]); k++)
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
			append_figure(table, line, entry, field);
		printed = line->length - begin;
		if (!is_last && printed < width_of(table, field))
			text_append_padded(line, NULL, width_of(table, field) - printed);
	}
	text_append(line, "\n");
}

void report_write_text(const struct report_view *view, const struct text_style *style)
{
	struct table table = {
		.view = view,
		.style = style,
		.list = view->list,
		.keys = {.style = style, .list = view->list},
	};
	struct text line = {0};

	find_widths(&table);
	choose_fields(&table);
	if (!style->is_quiet) {
		write_comments(&table);
		write_titles(&table);
	}
	for (size_t i = 0; i < view->list->entries.count; i++) {
		u32 entry = view->list->sorted[i];
		const struct entry *row = &view->list->entries.items[entry];

		if (!report_shows(view, row))
			continue;
		text_truncate(&line, 0);
		append_line(&table, &line, row);
		text_append_graph(&line, view, style, entry);
		fwrite(text_view(&line), 1, line.length, style->out);
	}
	fputs("\n\n", style->out);
	text_release(&line);
	key_columns_release(&table.keys);
}
