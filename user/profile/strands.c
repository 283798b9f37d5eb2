/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows are sorted by their labels' key and their paths, and the tree of paths is walked along them:
 * each path is met once for each key, in place of once for each row. A graph shows only what is
 * above a threshold, so only entries above it need one: few of many.
 */
#include "profile/strands.h"

#include "base/parallel.h"
#include "base/sort.h"
#include "profile/entry_index.h"

enum { LEAST_ROWS = 1 << 13 }; /* of a walk */

/* --- rows --- */

/* A list whose graphs show no more than what called a sample's own entry takes each chain alone. */
static bool needs_order(const struct entry_list *list)
{
	return list->settings.has_children || list->settings.order == CALLER_FIRST;
}

/* The path of a row's stack; what is cut off if callers come first is the inner part. */
static path_id row_path(const struct entry_list *list, u32 row)
{
	return list->settings.order == CALLER_FIRST ? entry_list_path(list, row)
						    : list->fold->rows.items[row].path;
}

static u32 label_key_of(const struct entry_list *list, const struct folded_row *row)
{
	return list->index->label_keys[row->labels];
}

/* The entry of a frame of a row, from 1; 0: it is not looked for. */
static u32 wanted_entry(const struct entry_list *list, const struct idmap *wanted,
			const struct folded_row *row, frame_id frame)
{
	u64 key = entry_index_key(list->index, row, frame);

	return key ? idmap_get(wanted, key) : 0;
}

/* The rows of the list's source that the filters of labels let through and that have a stack, if
 * entries that are looked for may stand in it. */
static struct sort_key *choose_rows(const struct entry_list *list, const struct idmap *wanted,
				    const u32 *places, size_t *ret_count)
{
	const struct fold *fold = list->fold;
	struct sort_key *keys = must_resize_array(NULL, fold->rows.count, sizeof(*keys));
	size_t count = 0;

	for (u32 i = 0; i < fold->rows.count; i++) {
		const struct folded_row *row = &fold->rows.items[i];
		u64 label_key = label_key_of(list, row);
		path_id path;

		if (row->source != list->settings.source || !label_key || !row->path ||
		    (!list->settings.has_children && !wanted_entry(list, wanted, row, row->leaf)))
			continue;
		path = row_path(list, i);
		keys[count++] = (struct sort_key){label_key << 32 | (places ? places[path] : path),
						  i};
	}
	*ret_count = count;
	return keys;
}

static void place_rows(const struct entry_list *list, const struct idmap *wanted,
		       struct strands *strands)
{
	enum { AHEAD = 16 }; /* rows that are on their way from memory */
	size_t count;
	struct sort_key *keys = choose_rows(list, wanted, strands->order.places, &count);
	struct sort_key *other = must_resize_array(NULL, count, sizeof(*other));
	const struct sort_key *sorted = needs_order(list) ? sort_by_key(keys, other, count) : keys;

	vec_reserve(&strands->rows, count);
	for (size_t i = 0; i < count; i++) {
		const struct folded_row *row = &list->fold->rows.items[sorted[i].row];

		if (i + AHEAD < count)
			__builtin_prefetch(&list->fold->rows.items[sorted[i + AHEAD].row]);
		*vec_add(&strands->rows) = (struct placed_row){
			.weight = row->weight,
			.samples = row->samples,
			.row = sorted[i].row,
			.place = (u32)sorted[i].key,
			.own = wanted_entry(list, wanted, row, row->leaf),
		};
	}
	free(keys);
	free(other);
}

/* --- the walk --- */

/* A path that the walk is in. */
struct open_path {
	path_id path;
	u32 entry; /* from 1; 0: it is not looked for */
	u32 from;  /* of the rows: where a strand begins that has not ended yet */
	u32 outer; /* depth of the one of the same entry around it; 0: none */
};

struct found {
	u32 entry;
	struct strand strand;
};

/* Over a part of the rows. */
struct walk {
	const struct entry_list *list;
	const struct strands *strands;
	const struct idmap *wanted; /* as entry_of of the index: entries above the threshold */
	u32 from, to;
	struct open_path *open; /* from the outermost in */
	u32 depth;
	path_id *path;	/* room for a row's path */
	u32 *strand_of; /* by entry: the depth of the open path that has its strand; 0: none */
	VEC(struct found) found;
};

static void add_found(struct walk *walk, u32 entry, struct strand strand)
{
	struct found *last = walk->found.count ? &walk->found.items[walk->found.count - 1] : NULL;

	if (strand.from == strand.to)
		return;
	if (strand.is_own && last && last->entry == entry && last->strand.is_own &&
	    last->strand.start == strand.start && last->strand.to == strand.from)
		last->strand.to = strand.to;
	else
		*vec_add(&walk->found) = (struct found){entry, strand};
}

/* Ends the strand of an open path in front of a row. */
static void end_strand(struct walk *walk, u32 depth, u32 row)
{
	const struct open_path *open = &walk->open[depth - 1];

	add_found(walk, open->entry - 1,
		  (struct strand){.start = open->path, .from = open->from, .to = row});
}

/* Of an entry that stands in a stack more than once, the first one in order counts. */
static void enter_path(struct walk *walk, path_id path, u32 entry, u32 row)
{
	u32 depth = ++walk->depth;
	u32 outer = entry ? walk->strand_of[entry - 1] : 0;

	walk->open[depth - 1] = (struct open_path){
		.path = path, .entry = entry, .from = row, .outer = outer};
	if (!entry || (outer && walk->list->settings.order == CALLER_FIRST))
		return;
	if (outer)
		end_strand(walk, outer, row);
	walk->strand_of[entry - 1] = depth;
}

static void leave_path(struct walk *walk, u32 row)
{
	u32 depth = walk->depth--;
	const struct open_path *open = &walk->open[depth - 1];

	if (!open->entry || walk->strand_of[open->entry - 1] != depth)
		return;
	end_strand(walk, depth, row);
	walk->strand_of[open->entry - 1] = open->outer;
	if (open->outer)
		walk->open[open->outer - 1].from = row;
}

/* Leaves what is not of a path, and enters what is of it. */
static void go_to_path(struct walk *walk, path_id path, u32 number)
{
	const struct entry_list *list = walk->list;
	const struct folded_path *paths = list->fold->paths.items;
	const struct folded_row *row =
		&list->fold->rows.items[walk->strands->rows.items[number].row];
	u32 depth = paths[path].depth, shared = depth;

	for (; shared; shared--, path = paths[path].caller) {
		if (shared <= walk->depth && walk->open[shared - 1].path == path)
			break;
		walk->path[shared - 1] = path;
	}
	while (walk->depth > shared)
		leave_path(walk, number);
	for (u32 i = shared; i < depth; i++)
		enter_path(walk, walk->path[i],
			   list->settings.has_children ? wanted_entry(list, walk->wanted, row,
								      paths[walk->path[i]].frame)
						       : 0,
			   number);
}

static void visit_row(struct walk *walk, u32 number)
{
	const struct strands *strands = walk->strands;
	const struct placed_row *row = &strands->rows.items[number];
	path_id path = strands->order.paths ? strands->order.paths[row->place] : row->place;
	bool callers_first = walk->list->settings.order == CALLER_FIRST;

	if (strands->order.paths)
		go_to_path(walk, path, number);
	if (row->own)
		add_found(walk, row->own - 1,
			  (struct strand){.start = callers_first ? walk->open[0].path : path,
					  .from = number,
					  .to = number + 1,
					  .is_own = true});
}

static u32 label_key_at(const struct walk *walk, u32 number)
{
	const struct entry_list *list = walk->list;

	return label_key_of(list, &list->fold->rows.items[walk->strands->rows.items[number].row]);
}

static void visit_part(void *context, size_t part)
{
	struct walk *walk = (struct walk *)context + part;
	const struct entry_list *list = walk->list;
	u32 label_key = 0;

	walk->open = must_alloc_array(list->fold->deepest, sizeof(*walk->open));
	walk->path = must_alloc_array(list->fold->deepest, sizeof(*walk->path));
	walk->strand_of = must_alloc_array(list->entries.count, sizeof(*walk->strand_of));
	for (u32 number = walk->from; number < walk->to; number++) {
		u32 next = label_key_at(walk, number);

		while (next != label_key && walk->depth)
			leave_path(walk, number);
		label_key = next;
		visit_row(walk, number);
	}
	while (walk->depth)
		leave_path(walk, walk->to);
	free(walk->open);
	free(walk->path);
	free(walk->strand_of);
}

/* --- strands --- */

/* Puts what the walks found behind each other, by entry. */
static void sort_strands(struct strands *strands, size_t entry_count, const struct walk *walks,
			 u32 walk_count)
{
	u32 *starts = must_alloc_array(entry_count + 2, sizeof(*starts));

	/* starts[entry + 2] becomes where the next one's begin, starts[entry + 1] follows it. */
	for (u32 w = 0; w < walk_count; w++)
		for (size_t i = 0; i < walks[w].found.count; i++)
			starts[walks[w].found.items[i].entry + 2]++;
	for (size_t i = 0; i < entry_count; i++)
		starts[i + 2] += starts[i + 1];
	vec_reserve(&strands->items, starts[entry_count + 1]);
	strands->items.count = starts[entry_count + 1];
	for (u32 w = 0; w < walk_count; w++) {
		for (size_t i = 0; i < walks[w].found.count; i++) {
			const struct found *found = &walks[w].found.items[i];

			strands->items.items[starts[found->entry + 1]++] = found->strand;
		}
	}
	strands->starts = starts;
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

static void walk_rows(const struct entry_list *list, const struct idmap *wanted,
		      struct strands *strands)
{
	size_t rows = strands->rows.count, most = parallel_width();
	u32 count = (u32)(rows / LEAST_ROWS < most ? rows / LEAST_ROWS : most);
	struct walk *walks;

	count += !count;
	walks = must_alloc_array(count, sizeof(*walks));
	for (u32 i = 0; i < count; i++) {
		walks[i] = (struct walk){
			.list = list,
			.strands = strands,
			.wanted = wanted,
			.from = (u32)((u64)rows * i / count),
			.to = (u32)((u64)rows * (i + 1) / count),
		};
	}
	parallel_run(count, visit_part, walks);
	sort_strands(strands, list->entries.count, walks, count);
	for (u32 i = 0; i < count; i++)
		vec_release(&walks[i].found);
	free(walks);
}

void strands_find(struct entry_list *list, u64 least_period)
{
	struct strands *strands;
	struct idmap wanted;

	if (list->strands)
		return;
	strands = must_alloc(sizeof(*strands));
	wanted = wanted_entries(list, least_period);
	if (needs_order(list))
		strands->order = path_order_of(list->fold);
	place_rows(list, &wanted, strands);
	walk_rows(list, &wanted, strands);
	idmap_release(&wanted);
	list->strands = strands;
}

const struct strand *strands_of(struct entry_list *list, u32 entry, u64 least_period,
				u32 *ret_count)
{
	const u32 *starts;

	if (entry_whole_period(list, &list->entries.items[entry]) < least_period)
		return NULL;
	strands_find(list, least_period);
	starts = list->strands->starts;
	*ret_count = starts[entry + 1] - starts[entry];
	return list->strands->items.items + starts[entry];
}

void strands_free(struct strands *strands)
{
	if (!strands)
		return;
	path_order_release(&strands->order);
	vec_release(&strands->rows);
	vec_release(&strands->items);
	free(strands->starts);
	free(strands);
}
