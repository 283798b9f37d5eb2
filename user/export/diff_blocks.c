/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cells about blocks of code.
 *
 * Source of the formats: Linux 6.1, tools/perf/builtin-diff.c, cycles_printf(); output of perf 6.1.
 */
#include "export/diff_blocks.h"

#include "export/block_text.h"
#include "export/json.h"

#include <inttypes.h>
#include <math.h>

static const struct code_block *block_at(const struct diff_view *view, struct diff_place place)
{
	return block_changes_at(view->blocks, place.entry, place.side, place.line);
}

void diff_append_block(const struct diff_view *view, struct text *cell, struct diff_place place)
{
	const struct code_block *block = block_at(view, place);

	if (!block)
		return;
	block_append_range(cell, view->comparison->fold->profile, block);
	text_appendf(cell, " %4" PRId64, block->change);
}

void diff_append_block_formula(const struct diff_view *view, struct text *cell,
			       struct diff_place place)
{
	const struct code_block *block = block_at(view, place);
	const struct code_block *base = block ? block_changes_base(view->blocks, block) : NULL;

	/* perf leaves the column empty. */
	if (base && !view->comparison->settings.is_strict)
		text_appendf(cell, "(%" PRIu64 " / %" PRIu64 ") - (%" PRIu64 " / %" PRIu64 ")",
			     block->cycles, block->times, base->cycles, base->times);
}

/* --- the spread --- */

/* Differences of the first times that a block ran. */
struct spread {
	u64 values[BLOCK_FIRST];
	u32 count;
};

static struct spread spread_of(const struct code_block *block, const struct code_block *base)
{
	struct spread spread = {0};

	while (spread.count < BLOCK_FIRST && spread.count < block->whole_times &&
	       spread.count < base->whole_times) {
		u32 i = spread.count++;
		s64 difference = (s64)block->first[i] - base->first[i];

		spread.values[i] = (u64)(difference < 0 ? -difference : difference);
	}
	return spread;
}

/* The standard error of their mean, in per cent of it. */
static double relative_error(const struct spread *spread)
{
	double sum = 0, squares = 0, mean;

	for (u32 i = 0; i < spread->count; i++)
		sum += (double)spread->values[i];
	mean = sum / spread->count;
	for (u32 i = 0; i < spread->count; i++)
		squares += pow((double)spread->values[i] - mean, 2);
	return 100 * sqrt(squares / (spread->count - 1) / spread->count) / mean;
}

/* A bar for each, from the smallest to the largest in eight steps, as perf makes them. */
static void append_bars(struct text *cell, const struct spread *spread)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	enum { FINE = 8 };
	u64 low = spread->values[0], high = low, step;

	for (u32 i = 1; i < spread->count; i++) {
		low = spread->values[i] < low ? spread->values[i] : low;
		high = spread->values[i] > high ? spread->values[i] : high;
	}
	step = ((high - low) << FINE) / (ARRAY_COUNT(bars) - 1);
	step = step ? step : 1;
	for (u32 i = 0; i < spread->count; i++)
		text_append(cell, bars[((spread->values[i] - low) << FINE) / step]);
}

void diff_append_block_spread(const struct diff_view *view, struct text *cell,
			      struct diff_place place)
{
	const struct code_block *block = block_at(view, place);
	const struct code_block *base = block ? block_changes_base(view->blocks, block) : NULL;
	struct spread spread = {0};
	u64 any = 0;

	if (base)
		spread = spread_of(block, base);
	for (u32 i = 0; i < spread.count; i++)
		any |= spread.values[i];
	if (spread.count < 2 || !any)
		return;
	/* perf fills up to a number of bytes. */
	if (view->comparison->settings.is_strict && spread.count == 2)
		text_append(cell, " ");
	text_appendf(cell, "±%5.1f%% ", relative_error(&spread));
	append_bars(cell, &spread);
	for (u32 i = spread.count; i < BLOCK_FIRST + 1; i++)
		text_append(cell, " ");
}

/* --- others --- */

static void write_block(struct json_writer *json, const struct diff_view *view,
			const struct code_block *block, const struct code_block *base)
{
	struct text from = {0}, to = {0};
	const struct profile *profile = view->comparison->fold->profile;
	bool is_known = block_append_source(&from, profile, block->start_at) &&
			block_append_source(&to, profile, block->end_at);

	json_object(json, NULL);
	json_u64(json, "start", block->start);
	json_u64(json, "end", block->end);
	if (is_known) {
		json_text(json, "from", text_view(&from));
		json_text(json, "to", text_view(&to));
	}
	json_u64(json, "baseline_cycles", base->cycles);
	json_u64(json, "baseline_times", base->times);
	json_u64(json, "cycles", block->cycles);
	json_u64(json, "times", block->times);
	json_double(json, "change", (double)block->change, 0);
	json_object_end(json);
	text_release(&from);
	text_release(&to);
}

void diff_write_blocks_json(struct json_writer *json, const struct diff_view *view, u32 entry,
			    u32 side)
{
	u32 count = block_changes_lines(view->blocks, entry);

	json_array(json, "blocks");
	for (u32 line = 0; line < count; line++) {
		const struct code_block *block = block_changes_at(view->blocks, entry, side, line);

		if (block)
			write_block(json, view, block, block_changes_base(view->blocks, block));
	}
	json_array_end(json);
}

void diff_write_blocks_left_out(const struct diff_view *view, FILE *out)
{
	u32 side_count = view->comparison->settings.side_count;

	if (view->comparison->settings.is_strict)
		return;
	fputs("#\n# Blocks that both have; left out:", out);
	for (u32 side = 0; side < side_count; side++)
		fprintf(out, "%s %" PRIu32 " only in %s", side ? "," : "",
			view->blocks->sides[side].unpaired, view->names[side]);
	fputc('\n', out);
}
