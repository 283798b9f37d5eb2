/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns of tables: which ones, how wide, and the cells of figures.
 *
 * Source of the layout: output of perf 6.1; tools/perf/ui/hist.c for figures of groups.
 */
#include "export/text_table.h"

#include "base/parallel.h"
#include "export/text_graph.h"

#include <inttypes.h>
#include <string.h>

enum {
	PERCENT_WIDTH = 8,
	GUEST_WIDTH = 9,
	NUMBER_WIDTH = 12,
	LEAST_ENTRIES = 1 << 12, /* of a part: less is not worth a thread */
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

/* --- cells --- */

const char *table_title(const struct table *table, u8 field)
{
	bool is_self = field == FIELD_OVERHEAD && table->list->settings.has_children &&
		       !table->list->settings.layout.is_strict;

	if (entry_field_is_key(field))
		return key_column_title(field);
	return is_self ? "Self" : figures[field].title;
}

void table_write_title(const struct table *table, u8 field)
{
	int width = (int)table->widths[field];

	fprintf(table->style->out, "%*.*s", entry_field_is_key(field) ? -width : width, width,
		table_title(table, field));
}

static void append_value(const struct table *table, struct text *line, const struct entry *entry,
			 u8 field, u64 total)
{
	bool is_aligned = !table->style->separator;
	int width = (int)table->cell_widths[field];
	u64 value = entry_value(entry, field);

	if (field == FIELD_CHILDREN && !table->list->settings.has_children)
		text_appendf(line, " %*s", width - 1, "N/A");
	else if (field == FIELD_SAMPLE || field == FIELD_PERIOD)
		text_appendf(line, " %*" PRIu64, is_aligned ? width - 1 : 1, value);
	else
		text_append_percent(line, table->style, " ", is_aligned ? width - 2 : 1,
				    total ? 100.0 * (double)value / (double)total : 0.0);
}

void table_append_figure(const struct table *table, struct text *line, const struct entry *entry,
			 const struct entry *others, u8 field)
{
	const struct entry_list *list = table->list;

	append_value(table, line, entry, field, list->total_period);
	for (u32 i = 0; i < list->settings.member_count; i++)
		append_value(table, line, &others[i], field, list->member_totals[i].total_period);
}

/* --- widths --- */

/* Of a part of the entries. */
struct widening {
	struct key_columns keys;
	size_t from, to;
};

static void widen_part(void *context, size_t part)
{
	struct widening *widening = (struct widening *)context + part;
	const struct entry *entries = widening->keys.list->entries.items;

	for (size_t i = widening->from; i < widening->to; i++)
		key_columns_widen(&widening->keys, &entries[i]);
}

static void find_widths(struct table *table)
{
	size_t count = table->list->entries.count, parts = count / LEAST_ENTRIES;
	size_t most = parallel_width();
	struct widening *widenings;

	parts = parts > most ? most : parts + !parts;
	widenings = must_alloc_array(parts, sizeof(*widenings));
	key_columns_begin(&table->keys);
	for (size_t i = 0; i < parts; i++)
		widenings[i] = (struct widening){
			.keys = table->keys,
			.from = count * i / parts,
			.to = count * (i + 1) / parts,
		};
	parallel_run(parts, widen_part, widenings);
	for (size_t i = 0; i < parts; i++) {
		for (u32 field = 0; field < FIELD_COUNT; field++)
			if (widenings[i].keys.widths[field] > table->keys.widths[field])
				table->keys.widths[field] = widenings[i].keys.widths[field];
		key_columns_release(&widenings[i].keys);
	}
	free(widenings);
}

static void set_figure_width(struct table *table, u8 field, u32 given)
{
	u32 width = figures[field].width, events = table->list->settings.member_count + 1;

	table->cell_widths[field] = given ? given : width;
	table->widths[field] = given > width * events ? given : width * events;
}

/* What the user says, or as wide as need be. A cell of a key is cut there. */
static void set_width(struct table *table, u32 column)
{
	const struct text_style *style = table->style;
	u8 field = table->fields[column];
	u32 given = column < style->width_count ? style->widths[column] : 0;

	if (!entry_field_is_key(field)) {
		set_figure_width(table, field, given);
		return;
	}
	table->widths[field] = given ? given : table->keys.widths[field];
	if (!given)
		return;
	table->keys.widths[field] = given;
	table->keys.is_cut[field] = true;
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

/* --- comments --- */

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

/* Over the event, or the group. */
static struct entry_totals totals_of(const struct entry_list *list)
{
	struct entry_totals totals = {list->total_period, list->all_period, list->all_samples,
				      list->shown_samples};

	for (u32 i = 0; i < list->settings.member_count; i++) {
		totals.total_period += list->member_totals[i].total_period;
		totals.all_period += list->member_totals[i].all_period;
		totals.all_samples += list->member_totals[i].all_samples;
		totals.shown_samples += list->member_totals[i].shown_samples;
	}
	return totals;
}

void table_write_comments(const struct table *table)
{
	const struct report_view *view = table->view;
	FILE *out = table->style->out;
	bool is_relative = table->list->settings.is_relative;
	struct entry_totals totals = totals_of(table->list);
	struct text name = {0};

	text_append_printable(&name, view->events ? view->events : view->source->name);
	write_sample_count(out, is_relative ? totals.shown_samples : totals.all_samples);
	fprintf(out, " of event%s '%s'", view->events || view->is_leader ? "s" : "",
		text_view(&name));
	if (view->times)
		fprintf(out, " (time slices: %s)", view->times);
	fprintf(out, "\n# %s: %" PRIu64 "\n",
		view->memory_keys ? "Total weight " : "Event count (approx.)",
		is_relative ? totals.total_period : totals.all_period);
	if (view->memory_keys)
		fprintf(out, "# Sort order   : %s\n", view->memory_keys);
	if (view->socket)
		fprintf(out, "# Processor Socket: %u\n", *view->socket);
	fputs("#\n", out);
	text_release(&name);
}

/* --- the table --- */

struct table table_of(const struct report_view *view, const struct text_style *style)
{
	struct table table = {
		.view = view,
		.style = style,
		.list = view->list,
		.keys = {.style = style, .list = view->list},
	};

	find_widths(&table);
	choose_fields(&table);
	return table;
}

void table_release(struct table *table)
{
	key_columns_release(&table->keys);
}
