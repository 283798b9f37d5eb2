/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of fixed size. A process that maps something is in another state, and its frames are
 * looked for anew.
 */
#include "cmd/script_frames.h"

#include "base/memory.h"

struct frame_texts *frame_texts_new(void)
{
	return must_alloc_table(1, sizeof(struct frame_texts));
}
