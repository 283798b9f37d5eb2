/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers for what tells entries apart, and the filters: what they leave out has number 0.
 */
#include "profile/entry_index.h"

#include "base/intern.h"
#include "profile/entry_filter.h"
#include "profile/memory_keys.h"

/* What an entry is told apart by; zero where the layout does not ask. Interned as bytes. */
struct label_key {
	string_id comm;
	u32 tid, cpu, zero;
	u64 details[DETAIL_COUNT];
	struct memory_key memory[FIELD_BLOCKED - FIELD_MEM + 1];
};

struct frame_key {
	u64 start, end;
	u64 symbol_bytes;
	string_id dso;
	string_id name;
	string_id source, file; /* in the fold's `sources` */
	u32 is_named;
	u32 zero; /* where a hole would be */
};

struct branch_key {
	struct frame_key frame, from, to;
	u32 flags, zero;
};

static bool label_passes(const struct entry_list *list, const struct label_row *labels)
{
	const struct entry_list_settings *settings = &list->settings;

	const struct detail_row *details = &list->fold->profile->details.items[labels->detail];

	if (settings->has_socket && (s64)details->values[DETAIL_SOCKET] != (s64)settings->socket)
		return false;
	return name_passes(&settings->comms, profile_text(list->fold->profile, labels->comm)) &&
	       number_passes(settings->pids, settings->pid_count, labels->pid) &&
	       number_passes(settings->tids, settings->tid_count, labels->tid);
}

static void set_details(const struct entry_list *list, const struct label_row *labels,
			struct label_key *key)
{
	const struct entry_layout *layout = &list->settings.layout;
	const struct detail_row *row = &list->fold->profile->details.items[labels->detail];

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i], detail = entry_field_detail(field);

		if (entry_field_is_of_memory(field))
			key->memory[field - FIELD_MEM] = memory_key_of(list, row, labels->pid,
								       field);
		else if (detail < DETAIL_COUNT)
			key->details[detail] = row->values[detail];
	}
}

static u32 *number_labels(const struct entry_list *list)
{
	const struct profile *profile = list->fold->profile;
	const struct entry_layout *layout = &list->settings.layout;
	u32 *keys = must_alloc_array(profile->labels.count, sizeof(*keys));
	struct intern known = {0};

	for (label_id id = 1; id < profile->labels.count; id++) {
		const struct label_row *labels = &profile->labels.items[id];
		struct label_key key = {0};

		if (!label_passes(list, labels))
			continue;
		if (entry_layout_has_key(layout, FIELD_COMM))
			key.comm = labels->comm;
		if (entry_layout_has_key(layout, FIELD_PID))
			key.tid = labels->tid;
		if (entry_layout_has_key(layout, FIELD_CPU))
			key.cpu = labels->cpu;
		set_details(list, labels, &key);
		keys[id] = intern_bytes(&known, &key, sizeof(key));
	}
	intern_release(&known);
	return keys;
}

/* The keys that one frame has in a line. */
struct key_fields {
	u8 dso, symbol, source, file;
};

static const struct key_fields own_fields = {FIELD_DSO, FIELD_SYMBOL, FIELD_SRCLINE, FIELD_SRCFILE};
static const struct key_fields from_fields = {FIELD_DSO_FROM, FIELD_SYMBOL_FROM, FIELD_SRCLINE_FROM,
					      FIELD_COUNT};
static const struct key_fields to_fields = {FIELD_DSO_TO, FIELD_SYMBOL_TO, FIELD_SRCLINE_TO,
					    FIELD_COUNT};

/* Like perf: binaries are told apart by what they are called, symbols by where they are in them.
 * What has another name there is of another binary that is called the same, which perf overlooks.
 */
static struct frame_key frame_key_of(const struct entry_list *list, frame_id frame,
				     const struct key_fields *fields)
{
	u8 dso = fields->dso, symbol = fields->symbol;
	const struct profile *profile = list->fold->profile;
	const struct entry_layout *layout = &list->settings.layout;
	const struct folded_frame *folded = &list->fold->frames.items[frame];
	const struct function_row *function = &profile->functions.items[folded->function];
	struct frame_key key = {0};

	/* Addresses without name are told apart by themselves. */
	if (entry_layout_has_key(layout, dso) ||
	    (entry_layout_has_key(layout, symbol) && folded->function))
		key.dso = entry_binary_name(list, folded->binary);
	if (entry_layout_has_key(layout, FIELD_SYMBOL_SIZE))
		key.symbol_bytes = function->end - function->start;
	if (entry_layout_has_key(layout, fields->source))
		key.source = folded->source;
	if (entry_layout_has_key(layout, fields->file))
		key.file = folded->file;
	if (!entry_layout_has_key(layout, symbol))
		return key;
	key.is_named = folded->function != 0;
	key.name = function->name;
	if (function->is_inlined)
		return key;
	key.start = fold_frame_start(list->fold, frame);
	key.end = function->end;
	return key;
}

static u32 *number_frames(const struct entry_list *list)
{
	u32 *keys = must_alloc_array(list->fold->frames.count, sizeof(*keys));
	struct intern known = {0};

	for (frame_id id = 0; id < list->fold->frames.count; id++) {
		struct frame_key key = frame_key_of(list, id, &own_fields);

		if (frame_passes(list->fold, &list->settings, id))
			keys[id] = intern_bytes(&known, &key, sizeof(key));
	}
	intern_release(&known);
	return keys;
}

static struct branch_key branch_key_of(const struct entry_list *list,
				       const struct folded_branch *branch)
{
	return (struct branch_key){
		.frame = frame_key_of(list, branch->to, &own_fields),
		.from = frame_key_of(list, branch->from, &from_fields),
		.to = frame_key_of(list, branch->to, &to_fields),
		.flags = branch->flags & entry_layout_branch_flags(&list->settings.layout),
	};
}

/* A branch passes the filters if one of its ends does. */
static u32 *number_branches(const struct entry_list *list)
{
	u32 *keys = must_alloc_array(list->fold->branches.count, sizeof(*keys));
	struct intern known = {0};

	for (u32 id = 1; id < list->fold->branches.count; id++) {
		const struct folded_branch *branch = &list->fold->branches.items[id];
		struct branch_key key = branch_key_of(list, branch);

		if (frame_passes(list->fold, &list->settings, branch->from) ||
		    frame_passes(list->fold, &list->settings, branch->to))
			keys[id] = intern_bytes(&known, &key, sizeof(key));
	}
	intern_release(&known);
	return keys;
}

struct entry_index *entry_index_new(const struct entry_list *list)
{
	struct entry_index *index = must_alloc(sizeof(*index));

	index->label_keys = number_labels(list);
	index->frame_keys = number_frames(list);
	index->branch_keys = number_branches(list);
	return index;
}

struct entry_index *entry_index_beside(const struct entry_index *index)
{
	struct entry_index *beside = must_alloc(sizeof(*beside));

	*beside = (struct entry_index){
		.label_keys = index->label_keys,
		.frame_keys = index->frame_keys,
		.branch_keys = index->branch_keys,
		.borrows_keys = true,
	};
	return beside;
}

u64 *entry_index_keys(const struct entry_index *index, size_t count)
{
	u64 *keys = must_alloc_array(count, sizeof(*keys));

	for (size_t i = 0; i < index->entry_of.capacity; i++) {
		const struct idmap_slot *slot = &index->entry_of.slots[i];

		if (slot->value)
			keys[slot->value - 1] = slot->key;
	}
	return keys;
}

void entry_index_free(struct entry_index *index)
{
	if (!index)
		return;
	if (!index->borrows_keys) {
		free(index->label_keys);
		free(index->frame_keys);
		free(index->branch_keys);
	}
	idmap_release(&index->entry_of);
	free(index);
}
