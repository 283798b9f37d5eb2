/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table of pointers that is only ever added to, so that who looks needs no lock: he finds a
 * text whole, or not yet. One that has grown too full is copied into a larger one; those who look
 * into the old one at that moment find in it what they would have found before. Old ones go with
 * the last, as together they are no larger than that.
 */
#include "cmd/script_texts.h"

#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_SLOTS = 1 << 12,
	CHUNK_BYTES = 256 << 10,
	ALIGNMENT = 8,
};

typedef struct place_text *_Atomic text_slot;

struct slots {
	struct slots *older;
	size_t mask; /* of their number, a power of two */
	text_slot at[];
};

/* Room for texts, which never move. */
struct chunk {
	struct chunk *before;
	size_t used, capacity;
	_Alignas(ALIGNMENT) char bytes[];
};

struct place_texts {
	struct slots *_Atomic slots;
	size_t count; /* of texts; this and the rest are the adding thread's */
	struct chunk *chunks;
};

static struct slots *slots_new(size_t count, struct slots *older)
{
	struct slots *slots = must_alloc(sizeof(*slots) + count * sizeof(slots->at[0]));

	slots->mask = count - 1;
	slots->older = older;
	return slots;
}

struct place_texts *place_texts_new(void)
{
	struct place_texts *texts = must_alloc(sizeof(*texts));

	atomic_init(&texts->slots, slots_new(FIRST_SLOTS, NULL));
	return texts;
}

void place_texts_free(struct place_texts *texts)
{
	struct slots *slots = texts ? atomic_load(&texts->slots) : NULL;

	while (slots) {
		struct slots *older = slots->older;

		free(slots);
		slots = older;
	}
	while (texts && texts->chunks) {
		struct chunk *before = texts->chunks->before;

		free(texts->chunks);
		texts->chunks = before;
	}
	free(texts);
}

static u64 hash_of(const struct text_key *key)
{
	u64 hash = (key->place.address ^ key->place.part * 0xc2b2ae3d27d4eb4fu ^
		    ((u64)key->place.file << 32 | key->form << 8 | key->place.space) *
			    0x9e3779b97f4a7c15u) *
		   0xff51afd7ed558ccdu;

	return hash ^ hash >> 32;
}

static struct text_key key_of(const struct place_text *text)
{
	return (struct text_key){
		.place = {.address = text->address,
			  .part = text->part,
			  .file = text->file,
			  .space = text->space},
		.form = text->form,
	};
}

static bool is_of(const struct place_text *text, const struct text_key *key)
{
	return text->address == key->place.address && text->part == key->place.part &&
	       text->file == key->place.file && text->space == key->place.space &&
	       text->form == key->form;
}

const struct place_text *place_texts_find(const struct place_texts *texts,
					  const struct text_key *key)
{
	const struct slots *slots = atomic_load_explicit(&texts->slots, memory_order_acquire);
	const struct place_text *text;
	size_t at = hash_of(key);

	do
		text = atomic_load_explicit(&slots->at[at++ & slots->mask], memory_order_acquire);
	while (text && !is_of(text, key));
	return text;
}

static void enter(struct slots *slots, struct place_text *text)
{
	struct text_key key = key_of(text);
	size_t at = hash_of(&key);

	while (atomic_load_explicit(&slots->at[at & slots->mask], memory_order_relaxed))
		at++;
	atomic_store_explicit(&slots->at[at & slots->mask], text, memory_order_release);
}

/* The slots, with room for one more. */
static struct slots *with_room(struct place_texts *texts)
{
	struct slots *old = atomic_load_explicit(&texts->slots, memory_order_relaxed), *larger;

	if (texts->count <= old->mask / 2)
		return old;
	larger = slots_new(2 * (old->mask + 1), old);
	for (size_t i = 0; i <= old->mask; i++) {
		struct place_text *text = atomic_load_explicit(&old->at[i], memory_order_relaxed);

		if (text)
			enter(larger, text);
	}
	atomic_store_explicit(&texts->slots, larger, memory_order_release);
	return larger;
}

static void *room_for(struct place_texts *texts, size_t bytes)
{
	struct chunk *chunk = texts->chunks;
	void *room;

	if (!chunk || chunk->capacity - chunk->used < bytes) {
		size_t capacity = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes;

		chunk = must_alloc(sizeof(*chunk) + capacity);
		chunk->capacity = capacity;
		chunk->before = texts->chunks;
		texts->chunks = chunk;
	}
	room = chunk->bytes + chunk->used;
	chunk->used += bytes;
	return room;
}

const struct place_text *place_texts_add(struct place_texts *texts, const struct text_key *key,
					 const char *bytes, size_t length)
{
	size_t whole = sizeof(struct place_text) + length;
	struct slots *slots = with_room(texts);
	struct place_text *text = room_for(texts, (whole + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);

	*text = (struct place_text){
		.address = key->place.address,
		.part = key->place.part,
		.file = key->place.file,
		.space = key->place.space,
		.form = key->form,
		.length = (u32)length,
	};
	memcpy(text->bytes, bytes, length);
	texts->count++;
	enter(slots, text);
	return text;
}
