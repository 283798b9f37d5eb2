/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call chains as script prints them, kept for when they come again, which most do.
 *
 * A table of fixed size by key; what collides takes the place. It holds for one state of the
 * mappings, so a chain whose process maps something is made again. Only one that has come again is
 * copied: where most chains are new, that would cost as much as to make them.
 */
#include "cmd/script_chains.h"

#include "base/memory.h"

#include <stdbool.h>

enum { SLOTS = 1 << 12, MOST_BYTES = 1 << 14 };

struct chain_text {
	struct chain_identity of;
	struct text text; /* empty: it was met but once */
};

struct chain_texts {
	struct chain_text slots[SLOTS];
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

static struct chain_text *slot_of(struct chain_texts *texts, const struct chain_identity *chain)
{
	return &texts->slots[(chain->key >> 1 ^ chain->user_state) & (SLOTS - 1)];
}

const struct text *chain_texts_find(struct chain_texts *texts, const struct chain_identity *chain)
{
	const struct chain_text *slot = slot_of(texts, chain);

	return chain->key && is_same(&slot->of, chain) && slot->text.length ? &slot->text : NULL;
}

void chain_texts_keep(struct chain_texts *texts, const struct chain_identity *chain,
		      const char *text, size_t length)
{
	struct chain_text *slot = slot_of(texts, chain);

	if (!chain->key || length > MOST_BYTES)
		return;
	text_truncate(&slot->text, 0);
	if (!is_same(&slot->of, chain)) {
		slot->of = *chain;
		return;
	}
	text_append_bytes(&slot->text, text, length);
}
