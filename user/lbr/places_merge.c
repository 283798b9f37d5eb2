/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places of one part of a recording among those of another: the same files, addresses and functions
 * have other numbers.
 */
#include "base/memory.h"
#include "lbr/places_reach.h"

#include <stdlib.h>

static u32 merge_binary(struct places *places, const struct places *more, u32 binary)
{
	u32 file = more->files.items[binary], row = idmap_get(&places->of_file, file);
	struct code_facts *facts = more->binaries.items[binary];

	if (row)
		return row;
	/* Only files are on the shelf. */
	places->missing += !facts && idmap_get(&places->shelf->of_file, file);
	return places_add_binary(places, file, facts);
}

struct place_merge places_merge(struct places *places, const struct places *more)
{
	size_t count = more->binaries.count;
	struct place_merge merge = {
		.places = places,
		.more = more,
		.binaries = must_alloc_array(count, sizeof(*merge.binaries)),
	};

	merge.binaries[0] = 0;
	for (u32 i = 1; i < count; i++)
		merge.binaries[i] = merge_binary(places, more, i);
	return merge;
}

u32 places_merged_body(const struct place_merge *merge, u32 body)
{
	const struct place_body *there;

	if (!body)
		return 0;
	there = &merge->more->bodies.items[body - 1];
	return places_body(merge->places, merge->binaries[there->binary], there->function);
}

place_id places_merged(const struct place_merge *merge, place_id id)
{
	struct place place;

	if (!id)
		return 0;
	place = *places_at(merge->more, id);
	place.binary = merge->binaries[place.binary];
	place.body = places_merged_body(merge, place.body);
	return places_add(merge->places, &place);
}

void place_merge_release(struct place_merge *merge)
{
	free(merge->binaries);
}
