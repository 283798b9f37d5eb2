/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands in the cells of a diff.
 *
 * Source of the formats: Linux 6.1, tools/perf/builtin-diff.c.
 */
#include "export/diff_cells.h"

#include "export/diff_blocks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RATE_DECIMALS = 4, SHARE_DECIMALS = 2 };

/* --- figures --- */

/* perf prints what is a little less than nothing as -0.00%. */
static void append_delta(const struct diff_view *view, struct text *cell, double delta)
{
	int decimals = view->rate_name ? RATE_DECIMALS : SHARE_DECIMALS;

	if (view->rate_name)
		delta *= view->rate_scale;
	if (!view->comparison->settings.is_strict && fabs(delta) < 0.5 * pow(10, -decimals))
		delta = 0;
	text_appendf(cell, "%+.*f%s", decimals, delta, view->rate_name ? "" : "%");
}

static void append_base(const struct diff_view *view, struct text *cell, struct diff_place place)
{
	double amount = comparison_base_amount(view->comparison, place.entry);

	if (view->rate_name)
		text_appendf(cell, "%.*f", RATE_DECIMALS, amount * view->rate_scale);
	else
		text_appendf(cell, place.is_bare ? "%.2f" : "%.2f%%", amount);
}

static void append_computed(const struct diff_view *view, struct text *cell,
			    struct diff_place place)
{
	const struct comparison *comparison = view->comparison;
	enum comparison_method method = comparison->settings.method;

	if (method == COMPARE_CYCLES) {
		diff_append_block(view, cell, place);
	} else if (method == COMPARE_DELTA || method == COMPARE_DELTA_ABS) {
		append_delta(view, cell, comparison_delta(comparison, place.entry, place.side));
	} else if (!comparison_value(comparison, place.entry, 0)->is_there) {
		text_append(cell, "N/A");
	} else if (method == COMPARE_RATIO) {
		double ratio = comparison_ratio(comparison, place.entry, place.side);

		if (!place.is_bare || ratio > 0)
			text_appendf(cell, "%14.6f", ratio);
	} else {
		s64 difference = comparison_weighted(comparison, place.entry, place.side);

		if (!place.is_bare || difference)
			text_appendf(cell, "%14" PRId64, difference);
	}
}

static void append_rate_formula(const struct diff_view *view, struct text *cell,
				struct diff_place place)
{
	const struct comparison *comparison = view->comparison;
	const double *seconds = comparison->settings.side_seconds;

	text_appendf(cell, "(%" PRIu64 " / %.3f s) %c (%" PRIu64 " / %.3f s)",
		     comparison_value(comparison, place.entry, place.side)->period,
		     seconds[place.side], comparison->settings.method == COMPARE_RATIO ? '/' : '-',
		     comparison_value(comparison, place.entry, 0)->period, seconds[0]);
}

static void append_formula(const struct diff_view *view, struct text *cell, struct diff_place place)
{
	const struct comparison *comparison = view->comparison;
	const struct comparison_settings *settings = &comparison->settings;
	u64 base = comparison_value(comparison, place.entry, 0)->period;
	u64 other = comparison_value(comparison, place.entry, place.side)->period;

	if (view->rate_name) {
		append_rate_formula(view, cell, place);
		return;
	}
	switch (settings->method) {
	case COMPARE_DELTA:
	case COMPARE_DELTA_ABS:
		text_appendf(cell,
			     "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64
			     ")",
			     other, comparison->side_totals[place.side].period, base,
			     comparison->base_total);
		break;
	case COMPARE_RATIO:
		text_appendf(cell, "%" PRIu64 " / %" PRIu64, other, base);
		break;
	case COMPARE_CYCLES:
		diff_append_block_formula(view, cell, place);
		break;
	case COMPARE_WEIGHTED:
		text_appendf(cell, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")",
			     other, settings->other_weight, base, settings->base_weight);
		break;
	}
	/* perf has room for no more. */
	if (settings->is_strict && cell->length >= DIFF_FORMULA_WIDTH)
		text_truncate(cell, DIFF_FORMULA_WIDTH - 1);
}

/* Half of the interval that holds the difference, in points. */
static void append_interval(const struct diff_view *view, struct text *cell,
			    struct diff_place place)
{
	const struct change *change = changes_of(view->changes, place.entry, place.side);

	text_appendf(cell, "%.*f%%", SHARE_DECIMALS, 100 * (change->high - change->low) / 2);
}

static void append_mark(const struct diff_view *view, struct text *cell, struct diff_place place)
{
	static const char *const marks[] = {
		[TOO_FEW_SAMPLES] = "?", [WITHIN_CHANCE] = " ", [BEYOND_CHANCE] = "*"};

	text_append(cell, marks[changes_of(view->changes, place.entry, place.side)->verdict]);
}

void diff_append_figure(const struct diff_view *view, struct text *cell, enum diff_figure figure,
			struct diff_place place)
{
	const struct comparison *comparison = view->comparison;
	const struct compared_value *value = comparison_value(comparison, place.entry, place.side);
	bool has_figure = comparison_has_figure(comparison, place.entry, place.side);

	switch (figure) {
	case FIGURE_BASELINE:
		if (value->is_there)
			append_base(view, cell, place);
		break;
	case FIGURE_COMPUTED:
		if (has_figure)
			append_computed(view, cell, place);
		break;
	case FIGURE_FORMULA:
		if (has_figure)
			append_formula(view, cell, place);
		break;
	case FIGURE_BASE_PERIOD:
		text_appendf(cell, "%" PRIu64, value->period);
		break;
	case FIGURE_PERIOD:
		if (has_figure)
			text_appendf(cell, "%" PRIu64, value->period);
		break;
	case FIGURE_SPREAD:
		diff_append_block_spread(view, cell, place);
		break;
	case FIGURE_INTERVAL:
		if (has_figure)
			append_interval(view, cell, place);
		break;
	case FIGURE_MARK:
		if (has_figure)
			append_mark(view, cell, place);
		break;
	}
	if (!cell->length)
		text_append(cell, " ");
}

/* --- notes --- */

/* Which of the sides that could have it have lost it. */
static void append_gone(const struct diff_view *view, struct text *note, u32 entry)
{
	const struct comparison *comparison = view->comparison;
	u32 side_count = comparison->settings.side_count;
	const char *lead = "gone in ";

	for (u32 side = 1; side < side_count; side++) {
		if (comparison_value(comparison, entry, side)->is_there ||
		    !comparison->side_totals[side].is_there)
			continue;
		if (side_count == 2)
			text_append(note, "gone");
		else
			text_appendf(note, "%s%" PRIu32, lead, side);
		lead = ", ";
	}
}

/* What it is called now, as far as that is not what the line says. */
static void append_moved(const struct diff_view *view, struct text *note, u32 entry, u32 now)
{
	const struct comparison *comparison = view->comparison;
	const struct entry_layout *layout = &comparison->settings.list.layout;
	const struct fold *fold = comparison->fold;
	const struct entry_list *list;
	const struct entry *was = comparison_shown(comparison, entry, &list);
	const char *old_dso = entry_dso(list, was, FIELD_DSO);
	const struct entry *is = comparison_shown(comparison, now, &list);
	const char *dso = entry_dso(list, is, FIELD_DSO);
	const char *symbol = fold_frame_name(fold, is->frame);

	text_append(note, "now");
	if (entry_layout_has_key(layout, FIELD_SYMBOL) &&
	    strcmp(fold_frame_name(fold, was->frame), symbol) != 0) {
		text_append(note, " ");
		text_append_printable(note, symbol);
	}
	if (strcmp(old_dso, dso) != 0) {
		text_append(note, " in ");
		text_append_printable(note, dso);
	}
}

void diff_append_note(const struct diff_view *view, struct text *note, u32 entry)
{
	const struct compared_entry *compared = &view->comparison->entries.items[entry];
	size_t begin = note->length;

	if (compared->moved_to)
		append_moved(view, note, entry, compared->moved_to - 1);
	else if (!comparison_value(view->comparison, entry, 0)->is_there)
		text_append(note, "new");
	else
		append_gone(view, note, entry);
	if (compared->is_lumped)
		text_appendf(note, "%sall code without names", note->length > begin ? ", " : "");
}

/* --- chance --- */

bool diff_shows(const struct diff_view *view, u32 entry)
{
	if (view->blocks && !block_changes_lines(view->blocks, entry))
		return false;
	return !view->only_marked || !view->changes || changes_is_marked(view->changes, entry);
}

const char *diff_verdict_name(u8 verdict)
{
	static const char *const names[] = {[TOO_FEW_SAMPLES] = "too few samples",
					    [WITHIN_CHANCE] = "within",
					    [BEYOND_CHANCE] = "beyond"};

	return names[verdict];
}
