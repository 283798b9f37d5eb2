/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How user stacks were walked and why they ended: in words, and summed.
 */
#ifndef EVENT_STACK_TALLY_H
#define EVENT_STACK_TALLY_H

#include "event/event_sink.h"

enum { STACK_ENDS = 16, STACK_WALKS = 32 }; /* as many as a file can hold */

/* Samples by enum stack_cut and by the or-ed enum stack_walk. Zeroed memory is an empty one. */
struct stack_tally {
	u64 ends[STACK_ENDS], walks[STACK_WALKS];
};

/* Whether the sample says of its user stack how it was walked or why it ended; false for a
 * recording of perf, and where there is no user stack. */
bool stack_is_known(const struct sample *sample);

/* Adds a sample; one without known user stack changes nothing. */
void stack_tally_add(struct stack_tally *tally, const struct sample *sample);
/* How many user stacks were added. */
u64 stack_tally_count(const struct stack_tally *tally);

/* "too deep", of an enum stack_cut; never NULL. */
const char *stack_end_words(u8 cut);
/* "stitched", of an enum frame_origin; NULL: nothing is known of the frame alone. */
const char *frame_origin_word(u8 origin);
/* "eh_frame and frame pointers", of or-ed enum stack_walk; never NULL. */
const char *stack_walk_words(u8 walked);

#endif
