/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names become their place in the order of all names, so that two of them fit into a word.
 */
#include "profile/entry_ranks.h"

#include "base/parallel.h"
#include "base/sort.h"

#include <string.h>

enum { MOST_KEYS = 2, PIECE_ENTRIES = 1 << 13 };

/* Names of threads and binaries, in the order of their bytes. */
struct name_ranks {
	const struct profile *profile;
	VEC(string_id) names;
	u32 *rank_of; /* by string_id, from 1 */
};

struct ranking {
	const struct entry_list *list;
	struct name_ranks names;
	struct entry_ranks *ranks;
};

/* --- names --- */

static int compare_names(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;

	return strcmp(profile_text(profile, *(const string_id *)left),
		      profile_text(profile, *(const string_id *)right));
}

static void add_name(struct name_ranks *names, string_id name)
{
	if (names->rank_of[name])
		return;
	names->rank_of[name] = 1;
	*vec_add(&names->names) = name;
}

static struct name_ranks rank_names(const struct entry_list *list)
{
	const struct profile *profile = list->fold->profile;
	struct name_ranks names = {
		.profile = profile,
		.rank_of = must_alloc_array((size_t)profile->strings.count + 1,
					    sizeof(*names.rank_of)),
	};
	u32 rank = 0;

	for (size_t i = 0; i < profile->labels.count; i++)
		add_name(&names, profile->labels.items[i].comm);
	for (binary_id i = 0; i < profile->binaries.count; i++)
		add_name(&names, entry_binary_name(list, i));
	sort_rows(names.names.items, names.names.count, compare_names, (void *)profile);
	for (size_t i = 0; i < names.names.count; i++) {
		const string_id *name = &names.names.items[i];

		/* "" may be no string, too */
		rank += !i || compare_names(name - 1, name, (void *)profile) != 0;
		names.rank_of[*name] = rank;
	}
	return names;
}

/* --- ranks --- */

static bool can_be_ranked(u8 field)
{
	return field == FIELD_COMM || field == FIELD_DSO || field == FIELD_CPU;
}

static void choose_fields(const struct entry_layout *layout, struct entry_ranks *ranks)
{
	while (ranks->first < layout->order_count &&
	       !entry_field_is_key(layout->order[ranks->first]))
		ranks->first++;
	ranks->end = ranks->first;
	while (ranks->end < layout->order_count && ranks->end - ranks->first < MOST_KEYS &&
	       can_be_ranked(layout->order[ranks->end]))
		ranks->end++;
}

/* A key as a number that compares as it does. What has no binary comes last. */
static u32 key_rank(const struct ranking *ranking, const struct entry *entry, u8 field)
{
	const struct entry_list *list = ranking->list;
	binary_id binary = list->fold->frames.items[entry->frame].binary;

	if (field == FIELD_CPU)
		return entry->cpu;
	if (field == FIELD_COMM)
		return ranking->names.rank_of[entry->comm];
	return binary ? ranking->names.rank_of[entry_binary_name(list, binary)] : UINT32_MAX;
}

static void rank_piece(void *context, size_t piece)
{
	const struct ranking *ranking = context;
	const struct entry_list *list = ranking->list;
	const struct entry_ranks *ranks = ranking->ranks;
	size_t from = piece * PIECE_ENTRIES, to = from + PIECE_ENTRIES;

	for (size_t i = from; i < to && i < list->entries.count; i++) {
		const struct entry *entry = &list->entries.items[i];
		struct entry_rank *rank = &ranks->rows[i];

		for (u32 at = ranks->first; at < ranks->end; at++)
			rank->keys = rank->keys << 32 |
				     key_rank(ranking, entry, list->settings.layout.order[at]);
		rank->is_named = list->fold->frames.items[entry->frame].function != 0;
		if (!rank->is_named)
			rank->start = fold_frame_start(list->fold, entry->frame);
	}
}

struct entry_ranks entry_ranks_make(const struct entry_list *list)
{
	size_t count = list->entries.count;
	struct entry_ranks ranks = {.rows = must_alloc_array(count, sizeof(*ranks.rows))};
	struct ranking ranking = {.list = list, .names = rank_names(list), .ranks = &ranks};

	choose_fields(&list->settings.layout, &ranks);
	parallel_run((count + PIECE_ENTRIES - 1) / PIECE_ENTRIES, rank_piece, &ranking);
	vec_release(&ranking.names.names);
	free(ranking.names.rank_of);
	return ranks;
}

void entry_ranks_release(struct entry_ranks *ranks)
{
	free(ranks->rows);
	*ranks = (struct entry_ranks){0};
}
