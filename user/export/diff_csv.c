/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of a diff: keys, the baseline, and what each other side has.
 */
#include "export/diff_csv.h"

#include "export/diff_cells.h"
#include "export/text_keys.h"

#include <inttypes.h>
#include <string.h>

struct record {
	FILE *out;
	bool has_field; /* the next one needs a comma */
};

/* --- fields --- */

static void write_field(struct record *record, const char *text)
{
	if (record->has_field)
		fputc(',', record->out);
	record->has_field = true;
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, record->out);
		return;
	}
	fputc('"', record->out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', record->out);
		fputc(*text, record->out);
	}
	fputc('"', record->out);
}

static void end_record(struct record *record)
{
	fputs("\r\n", record->out);
	record->has_field = false;
}

static void write_u64(struct record *record, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	write_field(record, text);
}

static void write_double(struct record *record, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.9g", value);
	write_field(record, text);
}

/* --- keys --- */

/* A key's text without what pads it. */
static void write_key(struct record *record, struct key_columns *keys, const struct entry *entry,
		      u8 field)
{
	struct text cell = {0};
	const char *from;

	key_columns_append(keys, &cell, entry, field);
	while (cell.length && cell.bytes[cell.length - 1] == ' ')
		text_truncate(&cell, cell.length - 1);
	from = text_view(&cell);
	write_field(record, from + strspn(from, " "));
	text_release(&cell);
}

/* --- columns --- */

static const char *const value_columns[] = {"percent", "period", "samples"};
static const char *const change_columns[] = {"delta", "ratio",	    "delta_low", "delta_high",
					     "p",     "adjusted_p", "chance"};

static void write_numbered(struct record *record, const char *name, u32 side)
{
	struct text text = {0};

	text_appendf(&text, "%s_%" PRIu32, name, side);
	write_field(record, text_view(&text));
	text_release(&text);
}

void diff_write_csv_header(const struct diff_view *view, FILE *out)
{
	const struct comparison_settings *settings = &view->comparison->settings;
	struct record record = {.out = out};

	write_field(&record, "event");
	for (u32 i = 0; i < settings->list.layout.column_count; i++)
		if (entry_field_is_key(settings->list.layout.columns[i]))
			write_field(&record, key_column_title(settings->list.layout.columns[i]));
	for (u32 side = 0; side < settings->side_count; side++) {
		for (size_t i = 0; i < ARRAY_COUNT(value_columns); i++)
			write_numbered(&record, value_columns[i], side);
		for (size_t i = 0; side && i < ARRAY_COUNT(change_columns); i++)
			write_numbered(&record, change_columns[i], side);
	}
	write_field(&record, "note");
	end_record(&record);
}

static void write_value(struct record *record, const struct comparison *comparison, u32 entry,
			u32 side)
{
	const struct compared_value *value = comparison_value(comparison, entry, side);
	u64 whole = comparison->side_totals[side].period;

	write_double(record, whole ? 100 * (double)value->period / (double)whole : 0);
	write_u64(record, value->period);
	write_u64(record, value->samples);
}

/* What is not known is empty. */
static void write_change(struct record *record, const struct diff_view *view, u32 entry, u32 side)
{
	const struct comparison *comparison = view->comparison;
	const struct change *change;

	if (!view->changes || !comparison->side_totals[side].is_there) {
		for (size_t i = 0; i < ARRAY_COUNT(change_columns); i++)
			write_field(record, "");
		return;
	}
	change = changes_of(view->changes, entry, side);
	write_double(record, (change->after - change->before) * 100);
	if (comparison_value(comparison, entry, 0)->period)
		write_double(record, comparison_ratio(comparison, entry, side));
	else
		write_field(record, "");
	write_double(record, change->low * 100);
	write_double(record, change->high * 100);
	write_double(record, change->p);
	write_double(record, change->adjusted_p);
	write_field(record, diff_verdict_name(change->verdict));
}

static void write_line(struct record *record, const struct diff_view *view,
		       struct key_columns *keys, u32 entry)
{
	const struct comparison *comparison = view->comparison;
	const struct entry_layout *layout = &comparison->settings.list.layout;
	const struct entry *shown = comparison_shown(comparison, entry, &keys->list);
	struct text note = {0};

	write_field(record, view->source->name);
	for (u32 i = 0; i < layout->column_count; i++)
		if (entry_field_is_key(layout->columns[i]))
			write_key(record, keys, shown, layout->columns[i]);
	for (u32 side = 0; side < comparison->settings.side_count; side++) {
		write_value(record, comparison, entry, side);
		if (side)
			write_change(record, view, entry, side);
	}
	diff_append_note(view, &note, entry);
	write_field(record, text_view(&note));
	text_release(&note);
	end_record(record);
}

void diff_write_csv(const struct diff_view *view, FILE *out)
{
	const struct text_style style = {.out = out};
	struct key_columns keys = {.style = &style};
	struct record record = {.out = out};

	for (size_t i = 0; i < view->comparison->sorted_count; i++)
		if (diff_shows(view, view->comparison->sorted[i]))
			write_line(&record, view, &keys, view->comparison->sorted[i]);
	key_columns_release(&keys);
}
