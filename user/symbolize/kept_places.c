/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places as rows of numbers into a list of strings.
 */
#include "symbolize/kept_places.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum {
	STRING_BYTES = 1, /* at least: NUL */
	PLACE_BYTES = 2,  /* at least: key, count */
	FRAME_BYTES = 3,  /* at least: function, file, line */
};

void kept_places_release(struct kept_places *places)
{
	intern_release(&places->strings);
	vec_release(&places->places);
	vec_release(&places->frames);
	idmap_release(&places->index);
	*places = (struct kept_places){0};
}

u64 kept_places_key(u64 offset, bool is_return)
{
	return offset << 1 | is_return;
}

const struct kept_place *kept_places_find(const struct kept_places *places, u64 key)
{
	u32 row = idmap_get(&places->index, key);

	return row ? &places->places.items[row - 1] : NULL;
}

/* A new place without frames; NULL if the key has one. */
static struct kept_place *new_place(struct kept_places *places, u64 key)
{
	u32 *row = idmap_place(&places->index, key);
	struct kept_place *place;

	if (*row)
		return NULL;
	place = vec_add(&places->places);
	*place = (struct kept_place){.key = key, .first = (u32)places->frames.count};
	*row = (u32)places->places.count;
	return place;
}

void kept_places_add(struct kept_places *places, u64 key, const struct source_frame *frames,
		     u32 count)
{
	struct kept_place *place = new_place(places, key);

	if (!place)
		return;
	place->count = count;
	for (u32 i = 0; i < count; i++)
		*vec_add(&places->frames) = (struct kept_frame){
			intern_text(&places->strings, frames[i].function),
			intern_text(&places->strings, frames[i].file), frames[i].line};
}

static const char *string_of(const struct kept_places *places, u32 id)
{
	return id ? intern_view(&places->strings, id) : NULL;
}

struct source_frame kept_places_frame(const struct kept_places *places, u32 row)
{
	const struct kept_frame *frame = &places->frames.items[row];

	return (struct source_frame){.function = string_of(places, frame->function),
				     .file = string_of(places, frame->file),
				     .line = frame->line};
}

void kept_places_join(struct kept_places *places, const struct kept_places *other)
{
	for (size_t i = 0; i < other->places.count; i++) {
		const struct kept_place *place = &other->places.items[i];
		VEC(struct source_frame) frames = {0};

		for (u32 row = place->first; row < place->first + place->count; row++)
			*vec_add(&frames) = kept_places_frame(other, row);
		kept_places_add(places, place->key, frames.items, (u32)frames.count);
		vec_release(&frames);
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct kept_place *const *a = left, *const *b = right;

	return (*a)->key < (*b)->key ? -1 : (*a)->key > (*b)->key;
}

/* By key, as neighbours take the fewest bytes. The caller's to free. */
static const struct kept_place **in_order(const struct kept_places *places)
{
	size_t count = places->places.count;
	const struct kept_place **order = must_alloc_array(count, sizeof(struct kept_place *));

	for (size_t i = 0; i < count; i++)
		order[i] = &places->places.items[i];
	if (count)
		qsort(order, count, sizeof(struct kept_place *), compare_places);
	return order;
}

static void put_frames(const struct kept_places *places, const struct kept_place *place,
		       struct text *block)
{
	for (u32 row = place->first; row < place->first + place->count; row++) {
		kept_put(block, places->frames.items[row].function);
		kept_put(block, places->frames.items[row].file);
		kept_put(block, places->frames.items[row].line);
	}
}

void kept_places_put(const struct kept_places *places, struct text *block)
{
	const struct kept_place **order = in_order(places);
	u64 last = 0;

	kept_put(block, places->id.length);
	text_append_bytes(block, places->id.bytes, places->id.length);
	kept_put(block, places->strings.count);
	for (u32 id = 1; id <= places->strings.count; id++)
		kept_put_text(block, intern_view(&places->strings, id));
	kept_put(block, places->places.count);
	for (size_t i = 0; i < places->places.count; i++) {
		kept_put(block, order[i]->key - last);
		kept_put(block, order[i]->count);
		last = order[i]->key;
	}
	kept_put(block, places->frames.count);
	for (size_t i = 0; i < places->places.count; i++)
		put_frames(places, order[i], block);
	free(order);
}

/* Rows of strings have to be what they were. */
static void take_strings(struct cursor *cursor, struct intern *strings)
{
	u64 count = kept_take_count(cursor, STRING_BYTES);

	for (u64 id = 1; id <= count && !cursor->overrun; id++)
		cursor->overrun |= intern_text(strings, kept_take_text(cursor)) != id;
}

static void take_places(struct cursor *cursor, struct kept_places *places, u64 *ret_frames)
{
	u64 count = kept_take_count(cursor, PLACE_BYTES), key = 0, first = 0;

	for (u64 i = 0; i < count && !cursor->overrun; i++) {
		struct kept_place *place = new_place(places, key += kept_take(cursor));
		u64 frames = kept_take(cursor);

		cursor->overrun |= !place || frames > cursor_left(cursor);
		if (cursor->overrun)
			return;
		place->first = (u32)first;
		place->count = (u32)frames;
		first += frames;
		cursor->overrun |= first > cursor_left(cursor);
	}
	*ret_frames = first;
}

static void take_frames(struct cursor *cursor, u64 wanted, struct kept_places *places)
{
	u64 count = kept_take_count(cursor, FRAME_BYTES);

	cursor->overrun |= count != wanted;
	for (u64 i = 0; i < count && !cursor->overrun; i++) {
		u64 function = kept_take(cursor), file = kept_take(cursor);
		u64 line = kept_take(cursor);

		cursor->overrun |= function > places->strings.count ||
				   file > places->strings.count || line > UINT32_MAX;
		*vec_add(&places->frames) = (struct kept_frame){(u32)function, (u32)file,
								(u32)line};
	}
}

int kept_places_take(struct bytes block, struct kept_places *places)
{
	struct cursor cursor = cursor_of(block);
	u64 length = kept_take(&cursor), frames = 0;
	const u8 *id = length <= BUILD_ID_MAX_BYTES ? cursor_take(&cursor, length) : NULL;

	if (!id)
		return -EBADMSG;
	memcpy(places->id.bytes, id, length);
	places->id.length = (u8)length;
	take_strings(&cursor, &places->strings);
	take_places(&cursor, places, &frames);
	take_frames(&cursor, frames, places);
	return cursor.overrun || cursor_left(&cursor) ? -EBADMSG : 0;
}
