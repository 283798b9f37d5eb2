/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two passes: how many paths there are from each one on, then where each begins. Callers stand
 * before what they call.
 */
#include "profile/path_order.h"

/* By path_id: how many paths begin with it. Owned by the caller. */
static u32 *count_from_each(const struct fold *fold)
{
	u32 *counts = must_alloc_table(fold->paths.count, sizeof(*counts));

	for (path_id path = (path_id)fold->paths.count; path-- > 1;) {
		counts[path]++;
		counts[fold->paths.items[path].caller] += counts[path];
	}
	counts[0]++;
	return counts;
}

struct path_order path_order_of(const struct fold *fold)
{
	size_t count = fold->paths.count;
	struct path_order order = {
		.places = must_alloc_table(count, sizeof(*order.places)),
		.paths = must_alloc_table(count, sizeof(*order.paths)),
		.items = must_alloc_table(count, sizeof(*order.items)),
	};
	u32 *counts = count_from_each(fold);
	u32 *next = counts; /* of a path that has its place: that of what it calls next */

	order.items[0].end = counts[0];
	next[0] = 1;
	for (path_id path = 1; path < count; path++) {
		const struct folded_path *row = &fold->paths.items[path];
		u32 place = next[row->caller];

		next[row->caller] += counts[path];
		order.places[path] = place;
		order.paths[place] = path;
		order.items[place] = (struct placed_path){next[row->caller], row->frame};
		next[path] = place + 1;
	}
	free(counts);
	return order;
}

void path_order_release(struct path_order *order)
{
	free(order->places);
	free(order->paths);
	free(order->items);
	*order = (struct path_order){0};
}
