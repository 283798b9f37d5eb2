/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The texts of frames by where processes have them, so that one that was met before needs neither
 * its mapping nor its location. Private to script_*.c.
 */
#ifndef CMD_SCRIPT_FRAMES_H
#define CMD_SCRIPT_FRAMES_H

#include "event/event.h"

/* What the text of a frame depends on, besides itself. */
struct frame_states {
	u64 user, kernel; /* of the mappings: see locator_generation() */
	u32 source;
};

struct frame_text {
	const char *text; /* borrowed from whoever put it here; NULL: not known */
	u32 length;
	/* Private: whose text it is. */
	u32 source;
	u64 address, state;
};

struct frame_texts;

/* Nothing known yet. Free with frame_texts_free(). */
struct frame_texts *frame_texts_new(void);
/* Frees; NULL is fine. */
void frame_texts_free(struct frame_texts *texts);

/* The place of a frame, which has its text, or is there to be filled: what was there before is
 * forgotten. Valid until the next call. */
struct frame_text *frame_texts_place(struct frame_texts *texts, const struct frame *frame,
				     const struct frame_states *states);

#endif
