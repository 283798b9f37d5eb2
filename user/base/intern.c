/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Byte strings as row numbers: an open-addressing table of ids over rows that know their hash.
 */
#include "base/intern.h"

#include "base/memory.h"

#include <string.h>
#include <xxhash.h>

struct intern_row {
	const char *bytes;
	u32 length;
	u32 hash;
};

static u32 *slot_of(const struct intern *intern, u32 hash, const void *bytes, size_t length)
{
	u32 at = hash & (intern->slot_count - 1);

	while (intern->slots[at]) {
		const struct intern_row *row = &intern->rows[intern->slots[at]];

		if (row->hash == hash && row->length == length &&
		    !memcmp(row->bytes, bytes, length))
			break;
		at = (at + 1) & (intern->slot_count - 1);
	}
	return &intern->slots[at];
}

static void grow_slots(struct intern *intern)
{
	free(intern->slots);
	intern->slot_count = intern->slot_count ? intern->slot_count * 2 : 64;
	intern->slots = must_alloc_table(intern->slot_count, sizeof(*intern->slots));
	for (u32 id = 1; id <= intern->count; id++) {
		const struct intern_row *row = &intern->rows[id];

		*slot_of(intern, row->hash, row->bytes, row->length) = id;
	}
}

static void grow_rows(struct intern *intern)
{
	intern->capacity = intern->capacity ? intern->capacity * 2 : 64;
	intern->rows = must_resize_array(intern->rows, intern->capacity, sizeof(*intern->rows));
}

u32 intern_bytes(struct intern *intern, const void *bytes, size_t length)
{
	u32 hash = (u32)XXH3_64bits(bytes, length);
	u32 *slot;

	if (2 * (intern->count + 1) > intern->slot_count)
		grow_slots(intern);
	slot = slot_of(intern, hash, bytes, length);
	if (*slot)
		return *slot;
	if (intern->count + 1 >= intern->capacity)
		grow_rows(intern);
	*slot = ++intern->count;
	intern->rows[*slot] = (struct intern_row){
		.bytes = arena_copy(&intern->bytes, bytes, length),
		.length = (u32)length,
		.hash = hash,
	};
	return *slot;
}

u32 intern_text(struct intern *intern, const char *text)
{
	return text ? intern_bytes(intern, text, strlen(text)) : 0;
}

u32 intern_find(const struct intern *intern, const void *bytes, size_t length)
{
	if (!intern->slot_count)
		return 0;
	return *slot_of(intern, (u32)XXH3_64bits(bytes, length), bytes, length);
}

const char *intern_view(const struct intern *intern, u32 id)
{
	return id && id <= intern->count ? intern->rows[id].bytes : "";
}

void intern_expect_row(const struct intern *intern, u32 id)
{
	__builtin_prefetch(&intern->rows[id]);
}

void intern_expect_view(const struct intern *intern, u32 id)
{
	__builtin_prefetch(intern_view(intern, id));
}

void intern_release(struct intern *intern)
{
	arena_release(&intern->bytes);
	free(intern->rows);
	free(intern->slots);
	*intern = (struct intern){0};
}
