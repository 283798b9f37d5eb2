/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where entries stand in the stacks, for call graphs.
 *
 * A graph shows only what is above a threshold, so only entries above it need one: few of many. The
 * stacks are walked again for those, on all CPUs.
 */
#include "base/parallel.h"
#include "profile/entry_index.h"

#include <string.h>

enum { LEAST_ROWS = 1 << 13 }; /* of a walk */

/* A chain and the entry that it is of. */
struct found {
	u32 entry;
	struct entry_chain chain;
};

/* Over a part of the rows. */
struct walk {
	const struct entry_list *list;
	u32 from, to;
	frame_id *frames;
	u32 *stamps;
	const struct idmap *wanted; /* as entry_of of the index: entries above the threshold */
	VEC(struct found) found;
};

static void visit(struct walk *walk, u32 row_number, frame_id frame, u32 position)
{
	const struct entry_list *list = walk->list;
	const struct folded_row *row = &list->fold->rows.items[row_number];
	u64 key = entry_index_key(list->index, row, frame);
	u32 entry = key ? idmap_get(walk->wanted, key) - 1 : ~0u;

	if (entry == ~0u || walk->stamps[entry] == row_number + 1)
		return;
	walk->stamps[entry] = row_number + 1;
	*vec_add(&walk->found) = (struct found){entry, {row_number, position}};
}

static void visit_part(void *context, size_t part)
{
	enum { AHEAD = 8 }; /* rows whose stacks are on their way from memory */
	struct walk *walk = (struct walk *)context + part;
	const struct entry_list *list = walk->list;
	const struct fold *fold = list->fold;

	walk->frames = must_alloc_array(fold->deepest, sizeof(*walk->frames));
	walk->stamps = must_alloc_array(list->entries.count, sizeof(*walk->stamps));
	for (u32 row = walk->from; row < walk->to; row++) {
		u32 count;

		if (row + AHEAD < walk->to)
			__builtin_prefetch(&fold->paths.items[fold->rows.items[row + AHEAD].path]);
		if (fold->rows.items[row].source != list->settings.source)
			continue;
		count = entry_list_frames(list, row, walk->frames);
		if (count)
			visit(walk, row, fold->rows.items[row].leaf, 0);
		for (u32 i = 0; list->settings.has_children && i < count; i++)
			visit(walk, row, walk->frames[i], i);
	}
	free(walk->frames);
	free(walk->stamps);
}

/* Puts what the walks found behind each other, by entry. */
static void sort_chains(struct entry_list *list, const struct walk *walks, u32 walk_count)
{
	size_t count = list->entries.count;
	u32 *starts = must_alloc_array(count + 2, sizeof(*starts));

	/* starts[entry + 2] becomes where the next one's begin, starts[entry + 1] follows it. */
	for (u32 w = 0; w < walk_count; w++)
		for (size_t i = 0; i < walks[w].found.count; i++)
			starts[walks[w].found.items[i].entry + 2]++;
	for (size_t i = 0; i < count; i++)
		starts[i + 2] += starts[i + 1];
	list->chains = must_alloc_array(starts[count + 1], sizeof(*list->chains));
	for (u32 w = 0; w < walk_count; w++) {
		for (size_t i = 0; i < walks[w].found.count; i++) {
			const struct found *found = &walks[w].found.items[i];

			list->chains[starts[found->entry + 1]++] = found->chain;
		}
	}
	list->chain_starts = starts;
}

/* What is looked for at each frame; of few entries it stays near. Release it. */
static struct idmap wanted_entries(const struct entry_list *list, u64 least_period)
{
	const struct idmap *entry_of = &list->index->entry_of;
	struct idmap wanted = {0};

	for (size_t i = 0; i < entry_of->capacity; i++) {
		const struct idmap_slot *slot = &entry_of->slots[i];

		if (slot->value &&
		    entry_whole_period(list, &list->entries.items[slot->value - 1]) >= least_period)
			*idmap_place(&wanted, slot->key) = slot->value;
	}
	return wanted;
}

static void find_chains(struct entry_list *list, u64 least_period)
{
	size_t rows = list->fold->rows.count, most = parallel_width();
	u32 count = (u32)(rows / LEAST_ROWS < most ? rows / LEAST_ROWS : most);
	struct idmap wanted = wanted_entries(list, least_period);
	struct walk *walks;

	count += !count;
	walks = must_alloc_array(count, sizeof(*walks));
	for (u32 i = 0; i < count; i++) {
		walks[i] = (struct walk){
			.list = list,
			.from = (u32)((u64)rows * i / count),
			.to = (u32)((u64)rows * (i + 1) / count),
			.wanted = &wanted,
		};
	}
	parallel_run(count, visit_part, walks);
	sort_chains(list, walks, count);
	for (u32 i = 0; i < count; i++)
		vec_release(&walks[i].found);
	free(walks);
	idmap_release(&wanted);
}

void entry_chains_find(struct entry_list *list, u64 least_period)
{
	if (!list->chains)
		find_chains(list, least_period);
}

const struct entry_chain *entry_chains(struct entry_list *list, u32 entry, u64 least_period,
				       u32 *ret_count)
{
	if (entry_whole_period(list, &list->entries.items[entry]) < least_period)
		return NULL;
	entry_chains_find(list, least_period);
	*ret_count = list->chain_starts[entry + 1] - list->chain_starts[entry];
	return list->chains + list->chain_starts[entry];
}
