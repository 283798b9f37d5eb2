/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The figures of a comparison and the order of its lines.
 *
 * Source of the rules: Linux 6.1, tools/perf/builtin-diff.c. Under is_strict all arithmetic is in
 * the order in which perf does it, so that the last bit of a difference, which may decide about the
 * order of lines, is the same. Else differences of shares are compared exactly.
 */
#include "profile/comparison_parts.h"

#include <math.h>

/* --- figures --- */

static double percent_of(u64 period, u64 total)
{
	return (double)period * 100.0 / (double)total;
}

/* Share of a side, or its rate. */
static double amount_of(const struct comparison *comparison, u64 period, u32 side)
{
	const double *seconds = comparison->settings.side_seconds;

	return seconds ? (double)period / seconds[side]
		       : percent_of(period, comparison->side_totals[side].period);
}

double comparison_amount(const struct comparison *comparison, u32 entry, u32 side)
{
	return amount_of(comparison, comparison_value(comparison, entry, side)->period, side);
}

double comparison_base_amount(const struct comparison *comparison, u32 entry)
{
	u64 period = comparison_value(comparison, entry, 0)->period;

	return comparison->settings.side_seconds ? amount_of(comparison, period, 0)
						 : percent_of(period, comparison->base_total);
}

double comparison_delta(const struct comparison *comparison, u32 entry, u32 side)
{
	return comparison_amount(comparison, entry, side) - comparison_amount(comparison, entry, 0);
}

double comparison_ratio(const struct comparison *comparison, u32 entry, u32 side)
{
	u64 base = comparison_value(comparison, entry, 0)->period;
	u64 other = comparison_value(comparison, entry, side)->period;

	if (comparison->settings.side_seconds)
		return amount_of(comparison, other, side) /
		       amount_of(comparison, base ? base : 1, 0);
	return (double)other / (double)(base ? base : 1);
}

s64 comparison_weighted(const struct comparison *comparison, u32 entry, u32 side)
{
	u64 base = comparison_value(comparison, entry, 0)->period;
	u64 other = comparison_value(comparison, entry, side)->period;

	return (s64)(other * (u64)comparison->settings.other_weight -
		     base * (u64)comparison->settings.base_weight);
}

bool comparison_has_figure(const struct comparison *comparison, u32 entry, u32 side)
{
	if (comparison_value(comparison, entry, side)->is_there)
		return true;
	return !comparison->settings.is_strict && comparison->side_totals[side].is_there &&
	       comparison_value(comparison, entry, 0)->is_there;
}

const struct entry *comparison_shown(const struct comparison *comparison, u32 entry,
				     const struct entry_list **ret_list)
{
	const struct compared_entry *compared = &comparison->entries.items[entry];

	*ret_list = comparison->lists[compared->run];
	return &(*ret_list)->entries.items[compared->entry];
}

/* --- order --- */

/* Whether any side but the baseline has it. */
static bool has_pair(const struct comparison *comparison, u32 entry)
{
	for (u32 side = 1; side < comparison->settings.side_count; side++)
		if (comparison_value(comparison, entry, side)->is_there)
			return true;
	return false;
}

static int true_first(bool a, bool b)
{
	return (int)b - (int)a;
}

static int larger_first(double a, double b)
{
	return (a < b) - (a > b);
}

/* The difference of two shares of a side, as a whole number that can be compared with those of
 * other lines: all of them have the same denominator. */
static bool exact_delta(const struct comparison *comparison, u32 entry, u32 side,
			unsigned __int128 *ret_size)
{
	u64 base = comparison_value(comparison, entry, 0)->period;
	u64 other = comparison_value(comparison, entry, side)->period;
	unsigned __int128 grown = (unsigned __int128)other * comparison->side_totals[0].period;
	unsigned __int128 before = (unsigned __int128)base * comparison->side_totals[side].period;

	*ret_size = grown < before ? before - grown : grown - before;
	return grown < before;
}

/* Of two that changed as much, what grew comes first. */
static int compare_exact_deltas(const struct comparison *comparison, u32 a, u32 b, u32 side)
{
	bool by_size = comparison->settings.method == COMPARE_DELTA_ABS;
	unsigned __int128 of_a, of_b;
	bool a_shrank = exact_delta(comparison, a, side, &of_a);
	bool b_shrank = exact_delta(comparison, b, side, &of_b);
	int larger = (of_a < of_b) - (of_a > of_b);

	if (by_size && larger)
		return larger;
	if (a_shrank != b_shrank)
		return a_shrank ? 1 : -1;
	return a_shrank ? -larger : larger;
}

static int compare_deltas(const struct comparison *comparison, u32 a, u32 b, u32 side)
{
	double of_a, of_b;

	if (!comparison->settings.is_strict && !comparison->settings.side_seconds)
		return compare_exact_deltas(comparison, a, b, side);
	of_a = comparison_delta(comparison, a, side);
	of_b = comparison_delta(comparison, b, side);
	if (comparison->settings.method == COMPARE_DELTA_ABS)
		return larger_first(fabs(of_a), fabs(of_b));
	return larger_first(of_a, of_b);
}

static int compare_computed(const struct comparison *comparison, u32 a, u32 b, u32 side)
{
	switch (comparison->settings.method) {
	case COMPARE_DELTA_ABS:
	case COMPARE_DELTA:
		return compare_deltas(comparison, a, b, side);
	case COMPARE_RATIO:
		return larger_first(comparison_ratio(comparison, a, side),
				    comparison_ratio(comparison, b, side));
	case COMPARE_CYCLES:
		return 0;
	case COMPARE_WEIGHTED:
		break;
	}
	s64 of_a = comparison_weighted(comparison, a, side);
	s64 of_b = comparison_weighted(comparison, b, side);

	return (of_a < of_b) - (of_a > of_b);
}

static int compare_on_side(const struct comparison *comparison, u32 a, u32 b, u32 side)
{
	bool has_a = comparison_has_figure(comparison, a, side);
	bool has_b = comparison_has_figure(comparison, b, side);

	if (!has_a || !has_b)
		return true_first(has_a, has_b);
	return compare_computed(comparison, a, b, side);
}

/* The side that was asked for decides first. Shares can be told without a baseline; what cannot
 * stands below. */
static int compare_by_order(const struct comparison *comparison, u32 a, u32 b)
{
	enum comparison_method method = comparison->settings.method;
	u32 side = comparison->settings.order;
	bool has_a, has_b;

	if (!side)
		return 0;
	has_a = comparison_has_figure(comparison, a, side);
	has_b = comparison_has_figure(comparison, b, side);
	if (!has_a || !has_b)
		return true_first(has_a, has_b);
	if (method != COMPARE_DELTA && method != COMPARE_DELTA_ABS) {
		has_a = comparison_value(comparison, a, 0)->is_there;
		has_b = comparison_value(comparison, b, 0)->is_there;
		if (!has_a || !has_b)
			return true_first(has_a, has_b);
	}
	return compare_computed(comparison, a, b, side);
}

static int compare_shown(const void *left, const void *right, void *context)
{
	const struct comparison *comparison = context;
	u32 a = *(const u32 *)left, b = *(const u32 *)right;
	u64 base_of_a = comparison_value(comparison, a, 0)->period;
	u64 base_of_b = comparison_value(comparison, b, 0)->period;
	int order = compare_by_order(comparison, a, b);

	if (!order)
		order = (base_of_a < base_of_b) - (base_of_a > base_of_b);
	if (!order && comparison->settings.is_strict)
		order = true_first(has_pair(comparison, a), has_pair(comparison, b));
	for (u32 side = 1; !order && side < comparison->settings.side_count; side++)
		order = compare_on_side(comparison, a, b, side);
	/* Entries are numbered in the order of their keys. */
	return order ? order : (a > b) - (a < b);
}

static bool is_left_out(const struct comparison *comparison, u32 entry)
{
	return comparison->settings.paired_only &&
	       (!comparison_value(comparison, entry, 0)->is_there || !has_pair(comparison, entry));
}

void comparison_sort(struct comparison *comparison)
{
	const struct comparison_settings *settings = &comparison->settings;

	comparison->sorted = must_alloc_array(comparison->entries.count,
					      sizeof(*comparison->sorted));
	for (u32 entry = 0; entry < comparison->entries.count; entry++) {
		bool is_hidden = comparison->entries.items[entry].is_hidden;

		if (is_left_out(comparison, entry) || comparison->entries.items[entry].is_joined)
			continue;
		if (settings->is_strict && !(is_hidden && settings->list.is_relative))
			comparison->base_total += comparison_value(comparison, entry, 0)->period;
		if (!is_hidden)
			comparison->sorted[comparison->sorted_count++] = entry;
	}
	if (!settings->is_strict)
		comparison->base_total = comparison->side_totals[0].period;
	qsort_r(comparison->sorted, comparison->sorted_count, sizeof(*comparison->sorted),
		compare_shown, comparison);
}
