/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of the report, to the byte as perf report --stdio prints it.
 *
 * Source of the layout: output of perf 6.1; tools/perf/util/hist.c and sort.c for widths. One thing
 * differs: perf cuts a name that is longer than the last name of its thread ("perf-ex"), we don't.
 */
#include "export/text.h"

#include "export/text_graph.h"

#include <inttypes.h>
#include <string.h>

enum {
	UNNAMED_DIGITS = 16, /* of an address */
	LEVEL_WIDTH = 4,     /* "[k] " */
	PID_WIDTH = 8,	     /* "1234567:" */
	PERCENT_WIDTH = 8,
	GUEST_WIDTH = 9,
	NUMBER_WIDTH = 12,
};

struct column {
	const char *title;
	u32 width; /* at least */
};

static const struct column columns[FIELD_COUNT] = {
	[FIELD_CHILDREN] = {"Children", PERCENT_WIDTH},
	[FIELD_OVERHEAD] = {"Overhead", PERCENT_WIDTH},
	[FIELD_OVERHEAD_SYS] = {"sys", PERCENT_WIDTH},
	[FIELD_OVERHEAD_US] = {"usr", PERCENT_WIDTH},
	[FIELD_OVERHEAD_GUEST_SYS] = {"guest sys", GUEST_WIDTH},
	[FIELD_OVERHEAD_GUEST_US] = {"guest usr", GUEST_WIDTH},
	[FIELD_SAMPLE] = {"Samples", NUMBER_WIDTH},
	[FIELD_PERIOD] = {"Period", NUMBER_WIDTH},
	[FIELD_PID] = {"    Pid:Command", 0},
	[FIELD_COMM] = {"Command", 0},
	[FIELD_DSO] = {"Shared Object", 0},
	[FIELD_SYMBOL] = {"Symbol", 0},
	[FIELD_CPU] = {"CPU", 3},
	[FIELD_DSO_FROM] = {"Source Shared Object", 0},
	[FIELD_DSO_TO] = {"Target Shared Object", 0},
	[FIELD_SYMBOL_FROM] = {"Source Symbol", 0},
	[FIELD_SYMBOL_TO] = {"Target Symbol", 0},
	[FIELD_MISPREDICT] = {"Branch Mispredicted", 0},
	[FIELD_IN_TX] = {"Branch in transaction", 0},
	[FIELD_ABORT] = {"Transaction abort", 0},
	[FIELD_CYCLES] = {"Basic Block Cycles", 0},
};

struct table {
	const struct report_view *view;
	const struct text_style *style;
	const struct entry_list *list;
	u32 widths[FIELD_COUNT];
	u8 fields[FIELD_COUNT]; /* shown, from left */
	u32 field_count;
	struct text cell;
};

/* --- cells --- */

static const char *title_of(const struct table *table, u8 field)
{
	bool is_self = field == FIELD_OVERHEAD && table->list->settings.has_children &&
		       !table->list->settings.layout.is_strict;

	return is_self ? "Self" : columns[field].title;
}

static string_id last_name(const struct entry_list *list, const struct entry *entry)
{
	return list->fold->profile->threads.items[entry->thread].comm;
}

static void append_symbol(const struct table *table, struct text *cell, const struct entry *entry,
			  u8 field)
{
	const struct fold *fold = table->list->fold;
	frame_id frame = entry_key_frame(table->list, entry, field);

	text_appendf(cell, "[%c] ", entry_key_level(table->list, entry, field));
	if (fold->frames.items[frame].function)
		text_append_frame(cell, fold, frame);
	else
		text_appendf(cell, "%#.*" PRIx64, UNNAMED_DIGITS, fold_frame_start(fold, frame));
}

static void append_branch_flags(struct text *cell, u32 flags, u8 field)
{
	u32 cycles = (flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT;

	if (field == FIELD_MISPREDICT)
		text_append(cell, flags & BRANCH_PREDICTED	? "N"
				  : flags & BRANCH_MISPREDICTED ? "Y"
								: "N/A");
	else if (field == FIELD_IN_TX)
		text_append(cell, flags & BRANCH_IN_TRANSACTION ? "T" : ".");
	else if (field == FIELD_ABORT)
		text_append(cell, flags & BRANCH_ABORTED ? "A" : ".");
	else if (cycles)
		text_appendf(cell, "%" PRIu32, cycles);
	else
		text_append(cell, "-");
}

/* The printable name of what a key says, into table->cell; the symbol with its level. */
static const char *key_text(struct table *table, const struct entry *entry, u8 field)
{
	const struct entry_list *list = table->list;
	const struct profile *profile = list->fold->profile;
	struct text *cell = &table->cell;

	text_truncate(cell, 0);
	switch (field) {
	case FIELD_COMM:
		text_append_printable(cell, profile_text(profile, entry->comm));
		break;
	case FIELD_PID:
		text_append_printable(cell, profile_text(profile, last_name(list, entry)));
		break;
	case FIELD_DSO:
	case FIELD_DSO_FROM:
	case FIELD_DSO_TO:
		text_append_printable(cell, entry_dso(list, entry, field));
		break;
	case FIELD_SYMBOL:
	case FIELD_SYMBOL_FROM:
	case FIELD_SYMBOL_TO:
		append_symbol(table, cell, entry, field);
		break;
	default:
		append_branch_flags(cell, entry_branch_flags(list, entry), field);
		break;
	}
	/* A separator inside a value would make another column. */
	for (size_t i = 0; table->style->separator && i < cell->length; i++)
		if (cell->bytes[i] == *table->style->separator)
			cell->bytes[i] = '.';
	return text_view(cell);
}

static void append_figure(const struct table *table, struct text *line, const struct entry *entry,
			  u8 field)
{
	bool is_aligned = !table->style->separator;
	int width = (int)columns[field].width;
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

static void append_key(struct table *table, struct text *line, const struct entry *entry, u8 field)
{
	const char *text = key_text(table, entry, field);
	int width = (int)table->widths[field];
	u32 tid = table->list->fold->profile->threads.items[entry->thread].tid;

	if (field == FIELD_CPU)
		text_appendf(line, "%*.*d", width, width, (int)entry->cpu);
	else if (field == FIELD_PID)
		text_appendf(line, "%7d:%-*s", (int)tid, width - PID_WIDTH, text);
	else if (field == FIELD_SYMBOL || field == FIELD_SYMBOL_FROM || field == FIELD_SYMBOL_TO)
		text_append(line, text);
	else
		text_append_padded(line, text, table->widths[field]);
}

/* --- widths --- */

static void widen(struct table *table, u8 field, size_t width)
{
	if (width > table->widths[field])
		table->widths[field] = (u32)width;
}

static void widen_for_frame(struct table *table, const struct entry *entry, u8 dso, u8 symbol)
{
	const struct fold *fold = table->list->fold;
	const struct folded_frame *frame =
		&fold->frames.items[entry_key_frame(table->list, entry, symbol)];

	widen(table, symbol, strlen(key_text(table, entry, symbol)));
	if (frame->binary)
		widen(table, dso, strlen(key_text(table, entry, dso)));
	if (!frame->function && !table->style->separator && !table->list->settings.dsos.count)
		widen(table, dso, UNNAMED_DIGITS);
}

static void widen_for(struct table *table, const struct entry *entry)
{
	size_t name = strlen(key_text(table, entry, FIELD_PID));

	widen(table, FIELD_PID, name + PID_WIDTH);
	widen(table, FIELD_COMM, name);
	widen(table, FIELD_COMM, strlen(key_text(table, entry, FIELD_COMM)));
	widen_for_frame(table, entry, FIELD_DSO, FIELD_SYMBOL);
	if (!entry->branch)
		return;
	widen_for_frame(table, entry, FIELD_DSO_FROM, FIELD_SYMBOL_FROM);
	widen_for_frame(table, entry, FIELD_DSO_TO, FIELD_SYMBOL_TO);
}

static void find_widths(struct table *table)
{
	for (unsigned int field = 0; field < FIELD_COUNT; field++) {
		widen(table, field, columns[field].width);
		widen(table, field, strlen(columns[field].title));
	}
	for (size_t i = 0; i < table->list->entries.count; i++)
		widen_for(table, &table->list->entries.items[i]);
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
	fprintf(out, "\n# Event count (approx.): %" PRIu64 "\n#\n",
		list->settings.is_relative ? list->total_period : list->all_period);
	text_release(&name);
}

static void write_titles(const struct table *table)
{
	FILE *out = table->style->out;
	const char *separator = table->style->separator;

	fputs("# ", out);
	for (u32 i = 0; i < table->field_count; i++) {
		u8 field = table->fields[i];
		int width = (int)table->widths[field];

		if (i)
			fputs(separator ? separator : "  ", out);
		fprintf(out, "%*s", entry_field_is_key(field) ? -width : width,
			title_of(table, field));
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
			append_key(table, line, entry, field);
		else
			append_figure(table, line, entry, field);
		printed = line->length - begin;
		if (!is_last && printed < table->widths[field])
			text_append_padded(line, NULL, table->widths[field] - printed);
	}
	text_append(line, "\n");
}

void report_write_text(const struct report_view *view, const struct text_style *style)
{
	struct table table = {.view = view, .style = style, .list = view->list};
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

		if (!entry_reaches(view->list, row, view->percent_limit))
			continue;
		text_truncate(&line, 0);
		append_line(&table, &line, row);
		text_append_graph(&line, view, style, entry);
		fwrite(text_view(&line), 1, line.length, style->out);
	}
	fputs("\n\n", style->out);
	text_release(&line);
	text_release(&table.cell);
}
