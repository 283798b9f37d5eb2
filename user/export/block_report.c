/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report of blocks: a line each, what took most cycles first.
 *
 * Source of figures, columns and order: Linux 6.1, tools/perf/util/block-info.c; output of
 * perf 6.1.
 */
#include "export/block_report.h"

#include "export/block_text.h"
#include "export/text_table.h"

#include <inttypes.h>
#include <string.h>

struct block_report {
	const struct profile *profile;
	struct code_blocks blocks;
	u64 all_cycles;	  /* of all events, with those of blocks in no function */
	u64 all_averages; /* what the blocks' averages are shares of */
};

static const struct {
	const char *title;
	u32 width;
} columns[] = {
	{"Sampled Cycles%", 15}, {"Sampled Cycles", 14},	{"Avg Cycles%", 11},
	{"Avg Cycles", 10},	 {"[Program Block Range]", 70}, {"Shared Object", 20},
};

/* perf compares thousandths of percents, and lets the last name come first. */
static int compare_shares(const void *left, const void *right, void *context)
{
	const struct block_report *report = context;
	const struct code_block *a = left, *b = right;
	double all = (double)report->all_cycles;
	s64 share_a = (s64)((double)a->cycles / all * 100000.0);
	s64 share_b = (s64)((double)b->cycles / all * 100000.0);
	int order = (share_b > share_a) - (share_b < share_a);

	if (!order)
		order = strcmp(profile_text(report->profile, b->function),
			       profile_text(report->profile, a->function));
	return order ? order : code_block_compare_places(a, b);
}

/* perf adds up a function's averages once for each line that its report of branches would have. */
static u64 averages_of_perf(const struct block_report *report, const struct entry_list *list)
{
	const struct fold *fold = list->fold;
	struct idmap sum_of = {0};
	u64 all = 0;

	for (size_t i = 0; i < report->blocks.rows.count; i++) {
		const struct code_block *block = &report->blocks.rows.items[i];

		*idmap_place(&sum_of, code_block_function(block)) += (u32)code_block_average(block);
	}
	for (size_t i = 0; i < list->entries.count; i++) {
		const struct folded_frame *frame =
			&fold->frames.items[list->entries.items[i].frame];
		struct code_block wanted = {
			.binary = report->profile->binaries.items[frame->binary].short_name,
			.function = report->profile->functions.items[frame->function].name,
		};

		all += idmap_get(&sum_of, code_block_function(&wanted));
	}
	idmap_release(&sum_of);
	return all;
}

static struct block_report make_report(const struct report_view *view, bool is_strict)
{
	const struct profile *profile = view->list->fold->profile;
	struct block_report report = {.profile = profile};

	for (size_t i = 0; i < profile->blocks.count; i++)
		report.all_cycles += profile->blocks.items[i].cycles;
	code_blocks_add(&report.blocks, profile, view->list->settings.source, true);
	code_blocks_settle(&report.blocks);
	for (size_t i = 0; i < report.blocks.rows.count; i++)
		report.all_averages += code_block_average(&report.blocks.rows.items[i]);
	if (is_strict)
		report.all_averages = averages_of_perf(&report, view->list);
	if (report.blocks.rows.count)
		qsort_r(report.blocks.rows.items, report.blocks.rows.count,
			sizeof(struct code_block), compare_shares, &report);
	return report;
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double share_of(const struct block_report *report, const struct code_block *block)
{
	return percent(block->cycles, report->all_cycles);
}

/* --- text --- */

static void append_cycles(struct text *cell, u64 cycles)
{
	enum { THOUSAND = 1000, MILLION = 1000000 };

	if (cycles >= MILLION)
		text_appendf(cell, "%.1fM", (double)cycles / MILLION);
	else if (cycles >= THOUSAND)
		text_appendf(cell, "%.1fK", (double)cycles / THOUSAND);
	else
		text_appendf(cell, "%" PRIu64, cycles);
}

static void append_cell(const struct block_report *report, const struct code_block *block,
			u32 column, struct text *cell)
{
	switch (column) {
	case 0:
		text_appendf(cell, "%.2f%%", share_of(report, block));
		break;
	case 1:
		append_cycles(cell, block->cycles);
		break;
	case 2:
		text_appendf(cell, "%.2f%%",
			     percent(code_block_average(block), report->all_averages));
		break;
	case 3:
		append_cycles(cell, code_block_average(block));
		break;
	case 4:
		block_append_range(cell, report->profile, block);
		break;
	default:
		text_append_printable(cell, profile_text(report->profile, block->binary));
		break;
	}
}

static void write_separator(const struct text_style *style, u32 column)
{
	if (!style->separator)
		fputs("  ", style->out);
	else if (column)
		fputs(style->separator, style->out);
}

static void write_line(const struct block_report *report, const struct code_block *block,
		       const struct text_style *style, bool has_function)
{
	struct text cell = {0};

	for (u32 i = 0; i < ARRAY_COUNT(columns); i++) {
		text_truncate(&cell, 0);
		append_cell(report, block, i, &cell);
		write_separator(style, i);
		fprintf(style->out, "%*s", style->separator ? 0 : (int)columns[i].width,
			text_view(&cell));
	}
	if (has_function) {
		text_truncate(&cell, 0);
		text_append_printable(&cell, profile_text(report->profile, block->function));
		write_separator(style, 1);
		fputs(text_view(&cell), style->out);
	}
	fputc('\n', style->out);
	text_release(&cell);
}

static void write_titles(const struct text_style *style, bool has_function)
{
	FILE *out = style->out;
	const char *between = style->separator ? style->separator : "  ";

	for (u32 i = 0; i < ARRAY_COUNT(columns); i++)
		fprintf(out, "%s%*s", i ? between : "# ",
			style->separator ? 0 : (int)columns[i].width, columns[i].title);
	fprintf(out, "%s%s\n", has_function ? between : "", has_function ? "Symbol" : "");
	if (style->separator)
		return;
	for (u32 i = 0; i < ARRAY_COUNT(columns); i++) {
		fputs(i ? "  " : "# ", out);
		for (u32 k = 0; k < columns[i].width; k++)
			fputc('.', out);
	}
	fputs(has_function ? "  ......\n#\n" : "\n#\n", out);
}

void report_write_blocks(const struct report_view *view, const struct text_style *style,
			 bool is_strict)
{
	struct block_report report = make_report(view, is_strict);

	if (!style->is_quiet) {
		struct table table = table_of(view, style);

		table_write_comments(&table);
		table_release(&table);
		write_titles(style, !is_strict);
	}
	for (size_t i = 0; i < report.blocks.rows.count; i++)
		if (share_of(&report, &report.blocks.rows.items[i]) >= view->percent_limit)
			write_line(&report, &report.blocks.rows.items[i], style, !is_strict);
	code_blocks_release(&report.blocks);
}

/* --- JSON --- */

static void write_end(struct json_writer *json, const char *key, const struct profile *profile,
		      location_id location)
{
	struct text source = {0};

	if (block_append_source(&source, profile, location))
		json_text(json, key, text_view(&source));
	text_release(&source);
}

static void write_block(struct json_writer *json, const struct block_report *report,
			const struct code_block *block)
{
	enum { SHARE_DECIMALS = 4 };

	json_object(json, NULL);
	json_double(json, "cycles_percent", share_of(report, block), SHARE_DECIMALS);
	json_u64(json, "cycles", block->cycles);
	json_u64(json, "times", block->times);
	json_text(json, "symbol", profile_text(report->profile, block->function));
	json_text(json, "dso", profile_text(report->profile, block->binary));
	if (block->has_start)
		json_u64(json, "start", block->start);
	json_u64(json, "end", block->end);
	write_end(json, "start_source", report->profile, block->start_at);
	write_end(json, "end_source", report->profile, block->end_at);
	json_object_end(json);
}

void report_write_blocks_json(const struct report_view *view, struct json_writer *json)
{
	struct block_report report = make_report(view, false);

	json_array(json, "blocks");
	for (size_t i = 0; i < report.blocks.rows.count; i++)
		if (share_of(&report, &report.blocks.rows.items[i]) >= view->percent_limit)
			write_block(json, &report, &report.blocks.rows.items[i]);
	json_array_end(json);
	code_blocks_release(&report.blocks);
}
