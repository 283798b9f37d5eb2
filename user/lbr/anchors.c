/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads are many, where programs are started again and again: two bytes a slot.
 */
#include "lbr/anchors.h"

static u16 *slot_of(const struct anchors *anchors, u32 body)
{
	u32 at = (body * 0x9e3779b9U) >> 16;

	for (;; at++) {
		u16 *slot = &anchors->slots[at & (anchors->slot_count - 1)];

		if (!*slot || anchors->rows.items[*slot - 1].body == body)
			return slot;
	}
}

static void grow(struct anchors *anchors)
{
	enum { FIRST_SLOTS = 64 };

	free(anchors->slots);
	anchors->slot_count = anchors->slot_count ? 2 * anchors->slot_count : FIRST_SLOTS;
	anchors->slots = must_alloc_array(anchors->slot_count, sizeof(*anchors->slots));
	for (size_t row = 0; row < anchors->rows.count; row++)
		*slot_of(anchors, anchors->rows.items[row].body) = (u16)(row + 1);
}

struct anchor *anchors_find(const struct anchors *anchors, u32 body)
{
	u16 row = anchors->slot_count ? *slot_of(anchors, body) : 0;

	return row ? &anchors->rows.items[row - 1] : NULL;
}

struct anchor *anchors_make(struct anchors *anchors, u32 body, u64 time_ns)
{
	struct anchor *anchor = anchors_find(anchors, body);

	if (anchor || anchors->rows.count == ANCHORS_MAX)
		return anchor;
	if (2 * (anchors->rows.count + 1) > anchors->slot_count)
		grow(anchors);
	*slot_of(anchors, body) = (u16)(anchors->rows.count + 1);
	anchor = vec_add(&anchors->rows);
	*anchor = (struct anchor){.seen_first_ns = time_ns, .body = body, .slot = SLOT_UNKNOWN};
	return anchor;
}

void anchors_release(struct anchors *anchors)
{
	vec_release(&anchors->rows);
	free(anchors->slots);
	anchors->slots = NULL;
	anchors->slot_count = 0;
}
