/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Texts by where processes have their places, so that one that was met before needs neither its
 * mapping nor a look into the table of all. Private to script_*.c.
 */
#ifndef CMD_SCRIPT_FRAMES_H
#define CMD_SCRIPT_FRAMES_H

#include "cmd/script_texts.h"

/* An address in one state of its process's mappings. */
struct frame_key {
	u64 address;
	u64 state; /* see frame_state() */
	u32 form;  /* of the text, see struct text_key */
};

/* The number of a state of mappings (see locator_generation()), and in which space. */
static inline u64 frame_state(u64 generation, u8 space)
{
	return generation << 8 | space;
}

/* A text, and where processes have its place. */
struct frame_text {
	struct frame_key of;
	const struct place_text *text; /* NULL: nothing was put here yet */
};

enum { FRAME_SLOT_BITS = 16 };

/* What collides takes the place. Zeroed: nothing known. */
struct frame_texts {
	struct frame_text slots[1 << FRAME_SLOT_BITS];
};

/* Nothing known yet; free() it. */
struct frame_texts *frame_texts_new(void);

/* Where a text is, if it is known, and is to be put. */
static inline struct frame_text *frame_texts_place(struct frame_texts *texts,
						   const struct frame_key *key)
{
	u64 hash = (key->address ^ (key->state + key->form) * 0x9e3779b97f4a7c15u) *
		   0xff51afd7ed558ccdu;

	return &texts->slots[hash >> (64 - FRAME_SLOT_BITS)];
}

/* Whether it is the key's text that is there. */
static inline bool frame_text_is(const struct frame_text *place, const struct frame_key *key)
{
	return place->text && place->of.address == key->address && place->of.state == key->state &&
	       place->of.form == key->form;
}

#endif
