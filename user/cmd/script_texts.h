/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is printed of places, made once for all printers that stand side by side. Private to
 * script_*.c.
 */
#ifndef CMD_SCRIPT_TEXTS_H
#define CMD_SCRIPT_TEXTS_H

#include "profile/profile.h"

/* Which text: of which place, and in what form. */
struct text_key {
	struct place_identity place;
	u32 form; /* of who asks: equal forms of one place have equal texts */
};

struct place_text {
	u64 address, part; /* these and the next three are private: whose text it is */
	u32 file, form;
	u8 space;
	u32 length;
	char bytes[];
};

struct place_texts;

/* Nothing known yet. Free with place_texts_free(). */
struct place_texts *place_texts_new(void);
/* Frees; NULL is fine. */
void place_texts_free(struct place_texts *texts);

/* A text that is there, or NULL. Any thread may ask, and need not wait for who adds. Borrowed until
 * place_texts_free(). */
const struct place_text *place_texts_find(const struct place_texts *texts,
					  const struct text_key *key);
/* Adds a text that is not there yet, at most 2^32 - 1 bytes. One thread at a time. Borrowed as
 * above. */
const struct place_text *place_texts_add(struct place_texts *texts, const struct text_key *key,
					 const char *bytes, size_t length);

#endif
