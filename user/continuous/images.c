/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs of mappings, shared until two of those who share one add to it.
 */
#include "continuous/images.h"

#include "base/vec.h"

#include <string.h>

struct image {
	VEC(struct piece) pieces;
	u32 owners, mark;
};

enum { COMPACT_FIRST = 64 };

struct image_view image_share(struct image_view view)
{
	if (view.image)
		view.image->owners++;
	return view;
}

void image_drop(struct image_view *view)
{
	struct image *image = view->image;

	*view = (struct image_view){0};
	if (!image || --image->owners)
		return;
	vec_release(&image->pieces);
	free(image);
}

/* An image of these pieces, with one view; without `pieces` they are to be filled in. */
static struct image *image_of(const struct piece *pieces, size_t count)
{
	struct image *image = must_alloc(sizeof(*image));

	image->owners = 1;
	vec_reserve(&image->pieces, count + 1);
	if (pieces)
		memcpy(image->pieces.items, pieces, count * sizeof(*pieces));
	image->pieces.count = count;
	return image;
}

/* Whoever sees all of it may add to it: the others go on seeing as many rows as before. */
static void make_last(struct image_view *view)
{
	struct image *old = view->image;
	u32 length = view->length, compact_at = view->compact_at;

	if (old && length == old->pieces.count)
		return;
	*view = (struct image_view){
		.image = image_of(old ? old->pieces.items : NULL, length),
		.length = length,
		.compact_at = compact_at,
	};
	image_drop(&(struct image_view){.image = old});
}

void image_add(struct image_view *view, const struct piece *piece)
{
	make_last(view);
	*vec_add(&view->image->pieces) = *piece;
	view->length++;
}

/* Whether the piece holds `address`. Keeps to what is answered in the same way. */
static bool narrow(struct span *around, const struct piece *piece, u64 address)
{
	u64 above = address < piece->start ? piece->start : piece->end; /* next bounds, */
	u64 below = address < piece->end ? piece->start : piece->end;	/* if on that side */

	if (above > address && above < around->end)
		around->end = above;
	if (below <= address && below > around->start)
		around->start = below;
	return address >= piece->start && address < piece->end;
}

const struct piece *image_find(struct image_view view, u64 address, u64 time_ns,
			       struct span *around)
{
	for (u32 at = view.length; at-- > 0;) {
		const struct piece *piece = &view.image->pieces.items[at];

		if (piece->time_ns <= time_ns && narrow(around, piece, address))
			return piece;
	}
	return NULL;
}

/* Disjoint ranges of addresses, ascending. */
struct range {
	u64 start, end;
};
struct ranges {
	VEC(struct range) list;
};

/* Index of the first range that ends at or above `address`. */
static size_t first_reaching(const struct ranges *ranges, u64 address)
{
	size_t low = 0, high = ranges->list.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->list.items[middle].end >= address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Adds a range; false if it was covered before. */
static bool cover(struct ranges *ranges, struct range range)
{
	size_t from = first_reaching(ranges, range.start), to = from;
	size_t count = ranges->list.count;
	struct range *items = ranges->list.items;

	if (from < count && items[from].start <= range.start && items[from].end >= range.end)
		return false;
	for (; to < count && items[to].start <= range.end; to++) {
		if (items[to].start < range.start)
			range.start = items[to].start;
		if (items[to].end > range.end)
			range.end = items[to].end;
	}
	vec_reserve(&ranges->list, 1);
	items = ranges->list.items;
	memmove(&items[from + 1], &items[to], (count - to) * sizeof(*items));
	items[from] = range;
	ranges->list.count = count + 1 - (to - from);
	return true;
}

void image_compact(struct image_view *view)
{
	struct ranges covered = {0};
	struct image *kept;
	u32 limit = view->compact_at > COMPACT_FIRST ? view->compact_at : COMPACT_FIRST;
	size_t at = view->length;

	if (view->length <= limit)
		return;
	kept = image_of(NULL, view->length);
	/* From the newest on, filling from the end. */
	for (u32 row = view->length; row-- > 0;) {
		const struct piece *piece = &view->image->pieces.items[row];

		if (cover(&covered, (struct range){piece->start, piece->end}))
			kept->pieces.items[--at] = *piece;
	}
	kept->pieces.count = view->length - at;
	memmove(kept->pieces.items, kept->pieces.items + at,
		kept->pieces.count * sizeof(*kept->pieces.items));
	vec_release(&covered.list);
	image_drop(view);
	*view = (struct image_view){
		.image = kept,
		.length = (u32)kept->pieces.count,
		.compact_at = 2 * (u32)kept->pieces.count,
	};
}

struct piece *image_pieces(struct image_view view)
{
	return view.image ? view.image->pieces.items : NULL;
}

bool image_mark(struct image_view view, u32 mark)
{
	bool was_marked = view.image && view.image->mark == mark;

	if (view.image)
		view.image->mark = mark;
	return was_marked;
}

u32 image_rows(struct image_view view)
{
	return view.image ? (u32)view.image->pieces.count : 0;
}
