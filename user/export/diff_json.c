/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of a diff as JSON objects.
 */
#include "export/diff_json.h"

#include "export/diff_blocks.h"
#include "export/diff_cells.h"
#include "export/diff_paths.h"
#include "export/json.h"

enum { SHARE_DECIMALS = 6, P_DECIMALS = 12 };

static void write_value(struct json_writer *json, const struct comparison *comparison, u32 entry,
			u32 side)
{
	const struct compared_value *value = comparison_value(comparison, entry, side);
	u64 whole = comparison->side_totals[side].period;

	json_double(json, "percent", whole ? 100 * (double)value->period / (double)whole : 0,
		    SHARE_DECIMALS);
	json_u64(json, "period", value->period);
	json_u64(json, "samples", value->samples);
}

static void write_change(struct json_writer *json, const struct change *change)
{
	json_double(json, "delta", (change->after - change->before) * 100, SHARE_DECIMALS);
	json_double(json, "delta_low", change->low * 100, SHARE_DECIMALS);
	json_double(json, "delta_high", change->high * 100, SHARE_DECIMALS);
	json_double(json, "p", change->p, P_DECIMALS);
	json_double(json, "adjusted_p", change->adjusted_p, P_DECIMALS);
	json_text(json, "chance", diff_verdict_name(change->verdict));
}

static void write_side(struct json_writer *json, const struct diff_view *view, u32 entry, u32 side)
{
	const struct comparison *comparison = view->comparison;

	json_object(json, NULL);
	json_u64(json, "side", side);
	write_value(json, comparison, entry, side);
	if (comparison_value(comparison, entry, 0)->period)
		json_double(json, "ratio", comparison_ratio(comparison, entry, side),
			    SHARE_DECIMALS);
	if (view->changes && comparison->side_totals[side].is_there)
		write_change(json, changes_of(view->changes, entry, side));
	if (view->blocks)
		diff_write_blocks_json(json, view, entry, side);
	json_object_end(json);
}

static void write_line(struct json_writer *json, const struct diff_view *view, u32 entry)
{
	const struct comparison *comparison = view->comparison;
	const struct entry_list *list;
	const struct entry *shown = comparison_shown(comparison, entry, &list);
	struct text note = {0};

	json_object(json, NULL);
	report_write_keys_json(json, list, shown);
	diff_append_note(view, &note, entry);
	if (note.length)
		json_text(json, "note", text_view(&note));
	text_release(&note);
	json_object(json, "baseline");
	write_value(json, comparison, entry, 0);
	json_object_end(json);
	json_array(json, "others");
	for (u32 side = 1; side < comparison->settings.side_count; side++)
		write_side(json, view, entry, side);
	json_array_end(json);
	json_object_end(json);
}

static void write_total(struct json_writer *json, const struct diff_view *view, u32 side)
{
	const struct compared_value *total = &view->comparison->side_totals[side];

	json_object(json, NULL);
	json_text(json, "recordings", view->names[side]);
	json_bool(json, "has_event", total->is_there);
	json_u64(json, "period", total->period);
	json_u64(json, "samples", total->samples);
	if (side && view->changes) {
		const struct changes_side *told = &view->changes->sides[side];

		json_u64(json, "lines_tested", told->tested);
		json_u64(json, "lines_beyond_chance", told->beyond);
		json_u64(json, "lines_with_too_few_samples", told->too_few);
		json_double(json, "found_of_1_percent", told->smallest_of_1 * 100, SHARE_DECIMALS);
		json_double(json, "found_of_10_percent", told->smallest_of_10 * 100,
			    SHARE_DECIMALS);
	}
	json_object_end(json);
}

static void write_head(struct json_writer *json, const struct diff_view *view)
{
	json_text(json, "event", view->source->name);
	json_array(json, "sides");
	for (u32 side = 0; side < view->comparison->settings.side_count; side++)
		write_total(json, view, side);
	json_array_end(json);
}

void diff_write_json(const struct diff_view *view, struct json_writer *json)
{
	const struct comparison *comparison = view->comparison;

	json_object(json, NULL);
	write_head(json, view);
	json_array(json, "lines");
	for (size_t i = 0; i < comparison->sorted_count; i++)
		if (diff_shows(view, comparison->sorted[i]))
			write_line(json, view, comparison->sorted[i]);
	json_array_end(json);
	json_object_end(json);
}

/* --- call paths --- */

/* The names of a node's callers, outermost first, and its own. */
static void write_frames(struct json_writer *json, const struct fold *fold,
			 const struct path_changes *paths, u32 node)
{
	const struct path_node *row = &paths->nodes.items[node];

	if (row->caller)
		write_frames(json, fold, paths, row->caller);
	json_text(json, NULL, diff_path_name(fold, row->frame));
}

static void write_path(struct json_writer *json, const struct diff_view *view,
		       const struct path_changes *paths, u32 node)
{
	const struct path_node *row = &paths->nodes.items[node];
	const struct fold *fold = view->comparison->fold;

	json_object(json, NULL);
	json_array(json, "path");
	write_frames(json, fold, paths, node);
	json_array_end(json);
	json_text(json, "dso", diff_path_dso(fold, row->frame));
	json_double(json, "baseline_percent", row->change.before * 100, SHARE_DECIMALS);
	json_double(json, "percent", row->change.after * 100, SHARE_DECIMALS);
	write_change(json, &row->change);
	json_object_end(json);
}

/* A node stands in front of what it calls. */
static void write_below(struct json_writer *json, const struct diff_view *view,
			const struct path_changes *paths, u32 node)
{
	const struct path_node *row = &paths->nodes.items[node];

	for (u32 i = 0; i < row->child_count; i++) {
		u32 child = paths->children[row->first_child + i];

		if (!paths->nodes.items[child].is_shown)
			continue;
		write_path(json, view, paths, child);
		write_below(json, view, paths, child);
	}
}

void diff_write_paths_json(const struct diff_view *view, struct json_writer *json, double least)
{
	json_object(json, NULL);
	write_head(json, view);
	json_array(json, "trees");
	for (u32 side = 1; side < view->comparison->settings.side_count; side++) {
		CLEANUP(path_changes_freep)
		struct path_changes *paths = diff_paths_of(view, side, least);

		json_object(json, NULL);
		json_u64(json, "side", side);
		json_array(json, "paths");
		if (paths)
			write_below(json, view, paths, 0);
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}
