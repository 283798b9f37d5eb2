/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call chains as script prints them, kept for when they come again, which most do.
 *
 * A table of fixed size by key; what collides takes the place. It holds for one state of the
 * mappings, so a chain whose process maps something is made again. Only one that has come again is
 * copied: where most chains are new, that would cost as much as to make them. For the same reason
 * a few bits say beforehand whether a chain was met at all: those of all places lie together.
 */
#include "cmd/script_chains.h"

#include "base/memory.h"

#include <stdbool.h>

enum { SLOTS = 1 << 12, MOST_BYTES = 1 << 14 };

struct chain_text {
	struct chain_identity of;
	struct text text;
};

struct chain_texts {
	u32 met[SLOTS]; /* by place: bits of the chain that was met last there; 0: none was */
	struct chain_text slots[SLOTS];
};

/* Where a chain has its place, and what of it is there. */
struct chain_place {
	u32 slot, bits;
};

struct chain_texts *chain_texts_new(void)
{
	return must_alloc(sizeof(struct chain_texts));
}

void chain_texts_free(struct chain_texts *texts)
{
	if (!texts)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		text_release(&texts->slots[i].text);
	free(texts);
}

static bool is_same(const struct chain_identity *a, const struct chain_identity *b)
{
	return a->key == b->key && a->user_state == b->user_state &&
	       a->kernel_state == b->kernel_state && a->source == b->source;
}

static struct chain_place place_of(const struct chain_identity *chain)
{
	u64 hash = (chain->key >> 1 ^ chain->user_state) * 0x9e3779b97f4a7c15u;

	return (struct chain_place){
		.slot = (u32)(hash >> 32) % SLOTS,
		.bits = (u32)(hash ^ chain->kernel_state ^ chain->source) | 1,
	};
}

const struct text *chain_texts_find(struct chain_texts *texts, const struct chain_identity *chain)
{
	struct chain_place place = place_of(chain);
	const struct chain_text *slot = &texts->slots[place.slot];

	if (!chain->key || texts->met[place.slot] != place.bits)
		return NULL;
	return is_same(&slot->of, chain) ? &slot->text : NULL;
}

void chain_texts_keep(struct chain_texts *texts, const struct chain_identity *chain,
		      const char *text, size_t length)
{
	struct chain_place place = place_of(chain);
	struct chain_text *slot = &texts->slots[place.slot];

	if (!chain->key || length > MOST_BYTES)
		return;
	if (texts->met[place.slot] != place.bits) {
		texts->met[place.slot] = place.bits;
		return;
	}
	slot->of = *chain;
	text_truncate(&slot->text, 0);
	text_append_bytes(&slot->text, text, length);
}
