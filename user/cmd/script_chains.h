/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The texts of call chains that were printed. Private to script_*.c.
 */
#ifndef CMD_SCRIPT_CHAINS_H
#define CMD_SCRIPT_CHAINS_H

#include "base/text.h"
#include "bpfprof/types.h"

/* What the text of a chain depends on. */
struct chain_identity {
	u64 key;	/* chain_key of the sample; 0: none, then nothing is kept */
	u64 user_state; /* of the mappings: see locator_generation(); 0: of no matter */
	u64 kernel_state;
	u32 source;
};

struct chain_texts;

/* Nothing kept yet. Free with chain_texts_free(). */
struct chain_texts *chain_texts_new(void);
/* Frees; NULL is fine. */
void chain_texts_free(struct chain_texts *texts);

/* The text of a chain, if it is kept; else NULL. Borrowed until the next chain_texts_keep(). */
const struct text *chain_texts_find(struct chain_texts *texts, const struct chain_identity *chain);
/* Keeps a copy of the text of a chain that it is given for the second time, as long as nothing else
 * takes its place. */
void chain_texts_keep(struct chain_texts *texts, const struct chain_identity *chain,
		      const char *text, size_t length);

#endif
