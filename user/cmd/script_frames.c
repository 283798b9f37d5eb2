/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of fixed size; what collides takes the place. A process that maps something is in another
 * state, and its frames are looked for anew.
 */
#include "cmd/script_frames.h"

#include "base/memory.h"

enum { SLOT_BITS = 16, SLOTS = 1 << SLOT_BITS };

struct frame_texts {
	struct frame_text slots[SLOTS];
};

struct frame_texts *frame_texts_new(void)
{
	return must_alloc_table(1, sizeof(struct frame_texts));
}

void frame_texts_free(struct frame_texts *texts)
{
	free(texts);
}

/* What else than its address and its event a text depends on. */
static u64 state_of(const struct frame *frame, const struct frame_states *states)
{
	enum { GENERATION_SHIFT = 16, SPACE_SHIFT = 8 };
	u64 generation = frame->space == SPACE_USER ? states->user : states->kernel;

	return generation << GENERATION_SHIFT | (u64)frame->space << SPACE_SHIFT | frame->origin;
}

struct frame_text *frame_texts_place(struct frame_texts *texts, const struct frame *frame,
				     const struct frame_states *states)
{
	u64 state = state_of(frame, states);
	u64 hash = (frame->address ^ state * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	struct frame_text *slot = &texts->slots[hash >> (64 - SLOT_BITS)];

	if (slot->address != frame->address || slot->state != state ||
	    slot->source != states->source)
		*slot = (struct frame_text){
			.address = frame->address, .state = state, .source = states->source};
	return slot;
}
