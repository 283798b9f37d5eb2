/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries and call graphs as JSON objects. Keys that a line is told apart by are there, others not.
 */
#include "export/json.h"

#include "base/text.h"
#include "export/block_report.h"
#include "export/memory_cells.h"

#include <inttypes.h>
#include <string.h>

enum { SHARE_DECIMALS = 4 };

static void write_share(struct json_writer *json, const char *key, u64 part, u64 whole)
{
	json_double(json, key, whole ? 100.0 * (double)part / (double)whole : 0, SHARE_DECIMALS);
}

static void write_address(struct json_writer *json, const char *key, u64 address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_text(json, key, text);
}

static void write_frame(struct json_writer *json, const struct fold *fold, frame_id frame)
{
	const struct folded_frame *row = &fold->frames.items[frame];
	const struct profile *profile = fold->profile;
	const struct binary_row *binary = &profile->binaries.items[row->binary];

	if (row->function)
		json_text(json, "symbol", fold_frame_name(fold, frame));
	else
		write_address(json, "address", fold_frame_start(fold, frame));
	json_text(json, "dso", profile_text(profile, binary->short_name));
	if (profile->functions.items[row->function].is_inlined)
		json_bool(json, "inlined", true);
}

static void write_source(struct json_writer *json, const char *key, const struct entry_list *list,
			 const struct entry *entry, u8 field)
{
	if (entry_layout_has_key(&list->settings.layout, field))
		json_text(json, key, entry_source(list, entry, field));
}

/* One end of a branch as an object, as far as lines are told apart by it. */
static void write_branch_end(struct json_writer *json, const char *key,
			     const struct entry_list *list, const struct entry *entry, u8 dso)
{
	u8 symbol = dso == FIELD_DSO_FROM ? FIELD_SYMBOL_FROM : FIELD_SYMBOL_TO;
	bool has_symbol = entry_layout_has_key(&list->settings.layout, symbol);

	if (!has_symbol && !entry_layout_has_key(&list->settings.layout, dso))
		return;
	json_object(json, key);
	if (has_symbol)
		write_frame(json, list->fold, entry_key_frame(list, entry, symbol));
	else
		json_text(json, "dso", entry_dso(list, entry, dso));
	json_object_end(json);
}

static void write_branch_keys(struct json_writer *json, const struct entry_list *list,
			      const struct entry *entry)
{
	const struct entry_layout *layout = &list->settings.layout;
	u32 flags = entry_branch_flags(list, entry);

	write_branch_end(json, "from", list, entry, FIELD_DSO_FROM);
	write_branch_end(json, "to", list, entry, FIELD_DSO_TO);
	write_source(json, "from_source", list, entry, FIELD_SRCLINE_FROM);
	write_source(json, "to_source", list, entry, FIELD_SRCLINE_TO);
	if (entry_layout_has_key(layout, FIELD_MISPREDICT) &&
	    (flags & (BRANCH_PREDICTED | BRANCH_MISPREDICTED)))
		json_bool(json, "mispredicted", !(flags & BRANCH_PREDICTED));
	if (entry_layout_has_key(layout, FIELD_IN_TX))
		json_bool(json, "in_transaction", flags & BRANCH_IN_TRANSACTION);
	if (entry_layout_has_key(layout, FIELD_ABORT))
		json_bool(json, "aborted", flags & BRANCH_ABORTED);
	if (entry_layout_has_key(layout, FIELD_CYCLES) && (flags & BRANCH_CYCLES))
		json_u64(json, "cycles", (flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT);
}

static void write_detail(struct json_writer *json, const struct entry_list *list,
			 const struct entry *entry, u8 field)
{
	static const char *const names[FIELD_COUNT] = {
		[FIELD_SOCKET] = "socket",
		[FIELD_CGROUP] = "cgroup",
		[FIELD_CONTAINER] = "container",
		[FIELD_UNIT] = "unit",
		[FIELD_TIME] = "time_ns",
		[FIELD_LOCAL_WEIGHT] = "local_weight",
		[FIELD_WEIGHT] = "weight",
		[FIELD_TRANSACTION] = "transaction",
		[FIELD_CODE_PAGE_SIZE] = "code_page_bytes",
		[FIELD_LOCAL_INS_LAT] = "local_instruction_latency",
		[FIELD_INS_LAT] = "instruction_latency",
		[FIELD_PARENT] = "parent",
		[FIELD_TRACE] = "trace",
	};
	const struct profile *profile = list->fold->profile;
	u64 value = entry_detail(list, entry, field);
	const char *text = NULL;

	if (field == FIELD_CGROUP)
		text = profile_cgroup(profile, value);
	else if (field == FIELD_PARENT || field == FIELD_CONTAINER || field == FIELD_UNIT ||
		 field == FIELD_TRACE)
		text = value ? profile_text(profile, (string_id)value) : NULL;
	else if (field != FIELD_SOCKET || (s64)value >= 0)
		json_u64(json, names[field], value);
	if (text)
		json_text(json, names[field], text);
}

static void write_details(struct json_writer *json, const struct entry_list *list,
			  const struct entry *entry)
{
	const struct entry_layout *layout = &list->settings.layout;

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];

		if (entry_field_is_of_memory(field))
			memory_cell_write_json(json, list, entry, field);
		else if (entry_field_detail(field) != DETAIL_COUNT)
			write_detail(json, list, entry, field);
	}
	if (entry_layout_has_key(layout, FIELD_SYMBOL_SIZE) && entry_symbol_bytes(list, entry))
		json_u64(json, "symbol_bytes", entry_symbol_bytes(list, entry));
}

void report_write_keys_json(struct json_writer *json, const struct entry_list *list,
			    const struct entry *entry)
{
	const struct profile *profile = list->fold->profile;
	const struct entry_layout *layout = &list->settings.layout;
	const struct thread_row *thread = &profile->threads.items[entry->thread];
	char level[] = {entry->level, 0};

	if (entry_layout_has_key(layout, FIELD_PID)) {
		json_u64(json, "tid", thread->tid);
		json_text(json, "thread", profile_text(profile, thread->comm));
	}
	if (entry_layout_has_key(layout, FIELD_CPU))
		json_u64(json, "cpu", entry->cpu);
	if (entry_layout_has_key(layout, FIELD_COMM))
		json_text(json, "comm", profile_text(profile, entry->comm));
	if (entry_layout_has_key(layout, FIELD_SYMBOL)) {
		json_text(json, "level", level);
		write_frame(json, list->fold, entry->frame);
	} else if (entry_layout_has_key(layout, FIELD_DSO)) {
		json_text(json, "dso", entry_dso(list, entry, FIELD_DSO));
	}
	write_details(json, list, entry);
	write_source(json, "source", list, entry, FIELD_SRCLINE);
	write_source(json, "source_file", list, entry, FIELD_SRCFILE);
	if (entry->branch)
		write_branch_keys(json, list, entry);
}

/* How the branches went that a frame is an end of. */
static void write_branches(struct json_writer *json, const struct branch_sums *sums)
{
	if (!sums->branches)
		return;
	json_object(json, sums->is_to ? "branches_to" : "branches_from");
	json_u64(json, "count", sums->branches);
	if (sums->is_to) {
		json_u64(json, "predicted", sums->predicted);
		json_u64(json, "aborted", sums->aborted);
	} else {
		json_u64(json, "cycles", sums->cycles);
		json_u64(json, "iterations_left_out", sums->iterations);
	}
	json_object_end(json);
}

static void write_node(struct json_writer *json, const struct report_view *view,
		       const struct call_tree *tree, u32 node)
{
	const struct call_node *row = &tree->nodes.items[node];
	const struct fold *fold = view->list->fold;

	json_object(json, NULL);
	write_share(json, "percent", call_node_all_hits(row), view->list->total_period);
	json_u64(json, "period", call_node_all_hits(row));
	json_u64(json, "period_ending_here", row->hits);
	json_u64(json, "samples", row->samples + row->children_samples);
	json_array(json, "frames");
	for (u32 i = 0; i < row->frame_count; i++) {
		frame_id frame = tree->frames.items[row->first_frame + i];

		json_object(json, NULL);
		write_frame(json, fold, frame);
		if (fold->frames.items[frame].is_likely)
			json_bool(json, "likely", true);
		if (view->graph->key != FOLD_BY_FUNCTION && fold->frames.items[frame].has_source)
			json_text(json, "source", fold_frame_source(fold, frame));
		if (tree->sums.count)
			write_branches(json, &tree->sums.items[row->first_frame + i]);
		json_object_end(json);
	}
	json_array_end(json);
	json_array(json, "nodes");
	for (u32 i = 0; i < row->child_count; i++)
		write_node(json, view, tree, tree->children.items[row->first_child + i]);
	json_array_end(json);
	json_object_end(json);
}

static void write_graph(struct json_writer *json, const struct report_view *view, u32 entry)
{
	CLEANUP(call_tree_freep) struct call_tree *tree = NULL;

	if (view->graph->type == CALL_GRAPH_NONE)
		return;
	tree = call_tree_new(view->list, entry, view->graph);
	json_array(json, "call_graph");
	for (u32 i = 0; i < tree->nodes.items[0].child_count; i++)
		write_node(json, view, tree,
			   tree->children.items[tree->nodes.items[0].first_child + i]);
	json_array_end(json);
}

/* What an event says of an entry. */
static void write_figures(struct json_writer *json, const struct entry_list *list,
			  const struct entry *entry, u64 total_period)
{
	if (list->settings.has_children)
		write_share(json, "children_percent", entry->children_period, total_period);
	write_share(json, "self_percent", entry->period, total_period);
	if (list->settings.has_children) {
		json_u64(json, "children_period", entry->children_period);
		json_u64(json, "children_samples", entry->children_samples);
	}
	json_u64(json, "self_period", entry->period);
	json_u64(json, "self_samples", entry->samples);
	json_u64(json, "self_period_system", entry->period_sys);
	json_u64(json, "self_period_user", entry->period_us);
}

/* What the other events of a group say. */
static void write_members(struct json_writer *json, const struct entry_list *list,
			  const struct entry *entry)
{
	const struct entry *others = entry_others(list, entry);

	if (!list->settings.member_count)
		return;
	json_array(json, "members");
	for (u32 i = 0; i < list->settings.member_count; i++) {
		json_object(json, NULL);
		write_figures(json, list, &others[i], list->member_totals[i].total_period);
		json_object_end(json);
	}
	json_array_end(json);
}

static void write_entry(struct json_writer *json, const struct report_view *view, u32 row)
{
	const struct entry_list *list = view->list;
	const struct entry *entry = &list->entries.items[row];

	json_object(json, NULL);
	write_figures(json, list, entry, list->total_period);
	write_members(json, list, entry);
	report_write_keys_json(json, list, entry);
	write_graph(json, view, row);
	json_object_end(json);
}

static void write_entries(struct json_writer *json, const struct report_view *view)
{
	const struct entry_list *list = view->list;

	json_array(json, "entries");
	for (size_t i = 0; i < list->entries.count; i++)
		if (report_shows(view, &list->entries.items[list->sorted[i]]))
			write_entry(json, view, list->sorted[i]);
	json_array_end(json);
}

/* The events that stand beside the first one of a group. */
static void write_group(struct json_writer *json, const struct entry_list *list)
{
	const struct event_source *sources = list->fold->profile->sources.items;

	if (!list->settings.member_count)
		return;
	json_array(json, "members");
	for (u32 i = 0; i < list->settings.member_count; i++) {
		json_object(json, NULL);
		json_text(json, "event", sources[list->settings.members[i]].name);
		json_u64(json, "samples", list->member_totals[i].all_samples);
		json_u64(json, "period", list->member_totals[i].all_period);
		json_u64(json, "whole_period", list->member_totals[i].total_period);
		json_object_end(json);
	}
	json_array_end(json);
}

void report_write_json(const struct report_view *view, struct json_writer *json)
{
	const struct entry_list *list = view->list;

	json_object(json, NULL);
	json_text(json, "event", view->source->name);
	json_u64(json, "samples", list->all_samples);
	json_u64(json, "period", list->all_period);
	json_u64(json, "whole_period", list->total_period);
	write_group(json, list);
	json_text(json, "call_graph_order",
		  list->settings.order == CALLER_FIRST ? "caller" : "callee");
	if (view->has_blocks)
		report_write_blocks_json(view, json);
	else
		write_entries(json, view);
	json_object_end(json);
}
