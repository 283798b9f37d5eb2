/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps of a walk over a copy through code that has no rule. Private to unwind/.
 */
#ifndef UNWIND_STEP_WITHOUT_RULE_H
#define UNWIND_STEP_WITHOUT_RULE_H

#include "unwind/copied_walk.h"

/* An unwind_read_word; `context` is the walk, which notes what its copy does not have. */
bool copied_word(void *context, u64 address, u64 *ret_word);

/* Whether the frame that a frame pointer has led to can be one: it lies behind a call. The walk's
 * `state` is that of its code. */
bool frame_is_believed(struct copied_walk *walk, const struct copied_walk_world *world);

/* Makes the walk's frame, which has been taken, its caller's. Returns END_UNKNOWN if there is one,
 * else why the stack ends (enum user_stack_end). The walk's `state` is that of its code. */
u8 step_without_rule(struct copied_walk *walk, const struct copied_walk_world *world);

#endif
