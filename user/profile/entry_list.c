/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting folded rows into entries.
 *
 * Rules: Linux 6.1, tools/perf/util/hist.c, hist_iter_cumulative. A row counts once for an entry,
 * wherever and however often the entry stands in the row's stack.
 *
 * Of many rows each CPU counts a part into a list of its own. Entries stand in order of first
 * sight, so those of a later part that are new go behind those of the parts before it.
 */
#include "profile/entry_list.h"

#include "base/parallel.h"
#include "profile/entry_index.h"
#include "profile/entry_order.h"
#include "profile/strands.h"

enum { LEAST_ROWS = 1 << 13 }; /* of a part: less is not worth the tables it needs */

/* The entry that the last frame of a path counts for, with the labels that it was last met with. */
struct path_entry {
	u32 label_key;
	u32 entry; /* from 1; 0: the filters leave it out */
};

struct counting {
	struct entry_list *list;
	const struct fold *fold;
	path_id *paths;		     /* of the row's stack */
	struct path_entry *entry_of; /* by path_id; callers are shared by many rows */
	u32 from, to;		     /* of the fold's rows */
	u32 source;
	u32 member; /* of the group, from 1; 0: the source itself */
	struct entry_totals totals;
};

/* --- counting --- */

static char space_level(u8 space)
{
	static const char levels[] = {
		[SPACE_UNKNOWN] = 'H',	  [SPACE_KERNEL] = 'k',	      [SPACE_USER] = '.',
		[SPACE_HYPERVISOR] = 'H', [SPACE_GUEST_KERNEL] = 'g', [SPACE_GUEST_USER] = 'u',
	};

	return space < sizeof(levels) ? levels[space] : 'H';
}

/* The letter of a caller. perf leaves that of the frame before on frames without mapping. */
static char frame_level(const struct fold *fold, frame_id frame, char before)
{
	const struct folded_frame *folded = &fold->frames.items[frame];

	return folded->binary ? space_level(folded->space) : before;
}

static u32 entry_make(struct counting *counting, const struct folded_row *row, frame_id frame,
		      char level)
{
	struct entry_list *list = counting->list;
	const struct label_row *labels = &counting->fold->profile->labels.items[row->labels];
	u32 entry = (u32)list->entries.count;

	*vec_add(&list->entries) = (struct entry){
		.comm = labels->comm,
		.thread = row->first_thread,
		.cpu = labels->cpu,
		.detail = labels->detail,
		.frame = frame,
		.branch = row->branch,
		.level = level,
	};
	for (u32 i = 0; i < list->settings.member_count; i++)
		*vec_add(&list->others) = (struct entry){0};
	return entry;
}

static void count_self(struct entry *entry, const struct folded_row *row)
{
	entry->period += row->weight;
	entry->samples += row->samples;
	if (row->space == SPACE_KERNEL)
		entry->period_sys += row->weight;
	else if (row->space == SPACE_USER)
		entry->period_us += row->weight;
	else if (row->space == SPACE_GUEST_KERNEL)
		entry->period_guest_sys += row->weight;
	else if (row->space == SPACE_GUEST_USER)
		entry->period_guest_us += row->weight;
}

/* Where the figures of an entry are counted: of a member of the group, or its own. */
static struct entry *figures_of(struct counting *counting, u32 entry)
{
	struct entry_list *list = counting->list;

	if (!counting->member)
		return &list->entries.items[entry];
	return &list->others.items[entry * list->settings.member_count + counting->member - 1];
}

/* Counts the row for an entry, once. */
static void count_children(struct counting *counting, u32 row_number, u32 entry, u32 depth)
{
	const struct folded_row *row = &counting->fold->rows.items[row_number];
	struct entry *counted = figures_of(counting, entry);

	if (counted->counted == row_number + 1)
		return;
	counted->counted = row_number + 1;
	counted->children_period += row->weight;
	counted->children_samples += row->samples;
	if (depth > counted->max_depth)
		counted->max_depth = depth;
}

/* The nodes of a row's stack in the list's order. */
static u32 list_paths(const struct entry_list *list, u32 row, path_id *paths)
{
	const struct fold *fold = list->fold;
	path_id path = fold->rows.items[row].path;
	u32 depth = fold->paths.items[path].depth;
	u32 limit = list->settings.max_stack ? list->settings.max_stack : depth;
	u32 count = depth < limit ? depth : limit;

	if (list->settings.order == CALLEE_FIRST) {
		for (u32 i = 0; i < count; i++, path = fold->paths.items[path].caller)
			paths[i] = path;
		return count;
	}
	for (u32 i = depth; i-- > 0; path = fold->paths.items[path].caller)
		if (i < count)
			paths[i] = path;
	return count;
}

/* The entry (+ 1) of a row itself, made if need be; 0: the filters leave it out. */
static u32 own_entry(struct counting *counting, const struct folded_row *row)
{
	u32 *place = entry_index_place(counting->list->index, row, row->leaf);

	if (place && !*place)
		*place = entry_make(counting, row, row->leaf, space_level(row->space)) + 1;
	return place ? *place : 0;
}

/* The letters of a row's frames, as far as somebody asked for them. */
struct letters {
	u32 known;
	char last; /* that of the sample before the first frame */
};

static frame_id frame_at(const struct counting *counting, u32 position)
{
	return counting->fold->paths.items[counting->paths[position]].frame;
}

/* The same of a frame of its stack; of one position after the other. */
static u32 caller_entry(struct counting *counting, const struct folded_row *row,
			struct letters *letters, u32 position)
{
	frame_id frame = frame_at(counting, position);
	u32 *place = entry_index_place(counting->list->index, row, frame);

	if (!place || *place)
		return place ? *place : 0;
	for (; letters->known <= position; letters->known++)
		letters->last = frame_level(counting->fold, frame_at(counting, letters->known),
					    letters->last);
	return *place = entry_make(counting, row, frame, letters->last) + 1;
}

/* Gets the places of entries from memory that are not known of the paths. */
static __attribute__((always_inline)) inline void expect_entries(const struct counting *counting,
								 const struct folded_row *row,
								 u32 count)
{
	const struct entry_index *index = counting->list->index;
	u32 label_key = index->label_keys[row->labels];

	for (u32 i = 0; i < count; i++)
		if (counting->entry_of[counting->paths[i]].label_key != label_key)
			idmap_expect(&index->entry_of,
				     entry_index_key(index, row, frame_at(counting, i)));
}

/* Counts a row for the `count` frames of its stack. Returns whether any is let through. */
static bool count_callers(struct counting *counting, u32 row_number, u32 count)
{
	const struct folded_row *row = &counting->fold->rows.items[row_number];
	struct letters letters = {.last = space_level(row->space)};
	u32 label_key = counting->list->index->label_keys[row->labels];
	bool is_shown = false;

	expect_entries(counting, row, count);
	for (u32 i = 0; i < count; i++) {
		struct path_entry *known = &counting->entry_of[counting->paths[i]];

		if (known->label_key != label_key)
			*known = (struct path_entry){label_key,
						     caller_entry(counting, row, &letters, i)};
		if (!known->entry)
			continue;
		count_children(counting, row_number, known->entry - 1, count - i);
		is_shown = true;
	}
	return is_shown;
}

static void count_row(struct counting *counting, u32 row_number)
{
	struct entry_list *list = counting->list;
	struct entry_totals *totals = &counting->totals;
	const struct folded_row *row = &counting->fold->rows.items[row_number];
	u32 count = list_paths(list, row_number, counting->paths);
	u32 entry = own_entry(counting, row);
	bool is_shown = entry != 0;

	totals->all_period += row->weight;
	totals->all_samples += row->samples;
	if (entry) {
		count_self(figures_of(counting, entry - 1), row);
		count_children(counting, row_number, entry - 1, count);
	}
	if (list->settings.has_children)
		is_shown |= count_callers(counting, row_number, count);
	if (is_shown) {
		totals->total_period += row->weight;
		totals->shown_samples += row->samples;
	}
}

static __attribute__((always_inline)) inline void expect_row(const struct counting *counting,
							     u32 row_number)
{
	path_id path = counting->fold->rows.items[row_number].path;

	__builtin_prefetch(&counting->fold->paths.items[path]);
	__builtin_prefetch(&counting->entry_of[path]);
}

/* Counts a part of the rows: that of one event. */
static void count_part(void *context, size_t part)
{
	enum { AHEAD = 8 }; /* rows whose stacks are on their way from memory */
	struct counting *counting = (struct counting *)context + part;
	const struct fold *fold = counting->fold;

	counting->paths = must_alloc_array(fold->deepest, sizeof(*counting->paths));
	counting->entry_of = must_alloc_table(fold->paths.count, sizeof(*counting->entry_of));
	for (u32 i = counting->from; i < counting->to; i++) {
		if (i + AHEAD < counting->to)
			expect_row(counting, i + AHEAD);
		if (fold->rows.items[i].source == counting->source)
			count_row(counting, i);
	}
	free(counting->paths);
	free(counting->entry_of);
}

/* --- parts --- */

void entry_add_self(struct entry *sum, const struct entry *entry)
{
	sum->period += entry->period;
	sum->samples += entry->samples;
	sum->period_sys += entry->period_sys;
	sum->period_us += entry->period_us;
	sum->period_guest_sys += entry->period_guest_sys;
	sum->period_guest_us += entry->period_guest_us;
}

static void add_figures(struct entry *sum, const struct entry *entry)
{
	entry_add_self(sum, entry);
	sum->children_period += entry->children_period;
	sum->children_samples += entry->children_samples;
	if (entry->max_depth > sum->max_depth)
		sum->max_depth = entry->max_depth;
}

/* An empty list like it, for as long as it is there. */
static struct entry_list *list_beside(const struct entry_list *list)
{
	struct entry_list *beside = must_alloc(sizeof(*beside));

	beside->fold = list->fold;
	beside->settings = list->settings;
	beside->index = entry_index_beside(list->index);
	return beside;
}

/* Adds what was counted of later rows. */
static void add_part(struct entry_list *list, const struct entry_list *part)
{
	enum { AHEAD = 16 }; /* places that are on their way from memory */
	CLEANUP(freep) u64 *keys = entry_index_keys(part->index, part->entries.count);

	for (size_t i = 0; i < part->entries.count; i++) {
		const struct entry *entry = &part->entries.items[i];
		u32 *place;

		if (i + AHEAD < part->entries.count)
			idmap_expect(&list->index->entry_of, keys[i + AHEAD]);
		place = idmap_place(&list->index->entry_of, keys[i]);

		if (*place) {
			add_figures(&list->entries.items[*place - 1], entry);
			continue;
		}
		*vec_add(&list->entries) = *entry;
		*place = (u32)list->entries.count;
	}
}

static void add_totals(struct entry_totals *sum, const struct entry_totals *totals)
{
	sum->total_period += totals->total_period;
	sum->all_period += totals->all_period;
	sum->all_samples += totals->all_samples;
	sum->shown_samples += totals->shown_samples;
}

/* Groups have few rows, and figures in two places. */
static u32 choose_parts(const struct entry_list *list)
{
	size_t parts = list->fold->rows.count / LEAST_ROWS, most = parallel_width();

	if (list->settings.member_count || parts < 2)
		return 1;
	return (u32)(parts < most ? parts : most);
}

/* Counts one event's rows. Returns its sums. */
static struct entry_totals count_source(struct entry_list *list, u32 source, u32 member)
{
	const struct fold *fold = list->fold;
	u32 count = choose_parts(list);
	struct counting *parts = must_alloc_array(count, sizeof(*parts));
	struct entry_totals totals = {0};

	for (u32 i = 0; i < count; i++) {
		parts[i] = (struct counting){
			.list = i ? list_beside(list) : list,
			.fold = fold,
			.from = (u32)((u64)fold->rows.count * i / count),
			.to = (u32)((u64)fold->rows.count * (i + 1) / count),
			.source = source,
			.member = member,
		};
	}
	parallel_run(count, count_part, parts);
	for (u32 i = 0; i < count; i++) {
		add_totals(&totals, &parts[i].totals);
		if (i) {
			add_part(list, parts[i].list);
			entry_list_free(parts[i].list);
		}
	}
	free(parts);
	if (!list->settings.is_relative)
		totals.total_period = totals.all_period;
	return totals;
}

struct entry_list *entry_list_new(const struct fold *fold,
				  const struct entry_list_settings *settings)
{
	struct entry_list *list = must_alloc(sizeof(*list));
	struct entry_totals totals;

	list->fold = fold;
	list->settings = *settings;
	list->index = entry_index_new(list);
	totals = count_source(list, settings->source, 0);
	list->total_period = totals.total_period;
	list->all_period = totals.all_period;
	list->all_samples = totals.all_samples;
	list->shown_samples = totals.shown_samples;
	list->member_totals = must_alloc_array(settings->member_count,
					       sizeof(*list->member_totals));
	for (u32 i = 0; i < settings->member_count; i++)
		list->member_totals[i] = count_source(list, settings->members[i], i + 1);
	list->sorted = entry_order(list);
	return list;
}

void entry_list_free(struct entry_list *list)
{
	if (!list)
		return;
	vec_release(&list->entries);
	vec_release(&list->others);
	free(list->member_totals);
	free(list->sorted);
	strands_free(list->strands);
	entry_index_free(list->index);
	free(list);
}

void entry_list_freep(struct entry_list **list)
{
	entry_list_free(*list);
}

/* --- reading --- */

char entry_key_level(const struct entry_list *list, const struct entry *entry, u8 field)
{
	if (field == FIELD_SYMBOL)
		return entry->level;
	return frame_level(list->fold, entry_key_frame(list, entry, field), 'H');
}

path_id entry_list_path(const struct entry_list *list, u32 row)
{
	const struct fold *fold = list->fold;
	path_id path = fold->rows.items[row].path;
	u32 limit = list->settings.max_stack ? list->settings.max_stack : UINT32_MAX;

	while (fold->paths.items[path].depth > limit)
		path = fold->paths.items[path].caller;
	return path;
}

u32 entry_list_frames(const struct entry_list *list, u32 row, frame_id *frames)
{
	u32 count = list_paths(list, row, frames);

	for (u32 i = 0; i < count; i++)
		frames[i] = list->fold->paths.items[frames[i]].frame;
	return count;
}
