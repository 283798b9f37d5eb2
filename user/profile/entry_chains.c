/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where entries stand in the stacks, for call graphs.
 *
 * A graph shows only what is above a threshold, so only entries above it need one: few of many. The
 * stacks are walked again for those.
 */
#include "profile/entry_index.h"

#include <string.h>

/* A chain and the entry that it is of. */
struct found {
	u32 entry;
	struct entry_chain chain;
};

struct walk {
	struct entry_list *list;
	frame_id *frames;
	u32 *stamps;
	u64 least_period;
	VEC(struct found) found;
};

static void visit(struct walk *walk, u32 row_number, frame_id frame, u32 position)
{
	struct entry_list *list = walk->list;
	const struct folded_row *row = &list->fold->rows.items[row_number];
	const u32 *place = entry_index_place(list->index, row, frame);
	u32 entry;

	if (!place)
		return;
	entry = *place - 1;
	if (walk->stamps[entry] == row_number + 1)
		return;
	walk->stamps[entry] = row_number + 1;
	if (entry_whole_period(list, &list->entries.items[entry]) < walk->least_period)
		return;
	*vec_add(&walk->found) = (struct found){entry, {row_number, position}};
	list->chain_starts[entry + 1]++;
}

static void visit_all(struct walk *walk)
{
	const struct entry_list *list = walk->list;
	const struct fold *fold = list->fold;

	for (u32 row = 0; row < fold->rows.count; row++) {
		u32 count;

		if (fold->rows.items[row].source != list->settings.source)
			continue;
		count = entry_list_frames(list, row, walk->frames);
		if (count)
			visit(walk, row, fold->rows.items[row].leaf, 0);
		for (u32 i = 0; list->settings.has_children && i < count; i++)
			visit(walk, row, walk->frames[i], i);
	}
}

static void find_chains(struct entry_list *list, u64 least_period)
{
	size_t count = list->entries.count;
	struct walk walk = {
		.list = list,
		.least_period = least_period,
		.frames = must_alloc_array(list->fold->deepest, sizeof(*walk.frames)),
		.stamps = must_alloc_array(count, sizeof(*walk.stamps)),
	};
	u32 *fill = walk.stamps; /* by entry: chains stored so far */

	list->chain_starts = must_alloc_array(count + 1, sizeof(*list->chain_starts));
	visit_all(&walk);
	for (size_t i = 0; i < count; i++)
		list->chain_starts[i + 1] += list->chain_starts[i];
	list->chains = must_alloc_array(walk.found.count, sizeof(*list->chains));
	memset(fill, 0, count * sizeof(*fill));
	for (size_t i = 0; i < walk.found.count; i++) {
		const struct found *found = &walk.found.items[i];

		list->chains[list->chain_starts[found->entry] + fill[found->entry]++] =
			found->chain;
	}
	vec_release(&walk.found);
	free(walk.frames);
	free(walk.stamps);
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
