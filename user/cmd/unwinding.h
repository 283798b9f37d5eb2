/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording whose user stacks are to be walked by its reader.
 */
#ifndef CMD_UNWINDING_H
#define CMD_UNWINDING_H

#include "perfdata/perfdata.h"
#include "unwind/unwind.h"

/* Whether some event of the recording has copied stacks (perf record --call-graph dwarf). */
bool unwinding_is_needed(const struct perfdata *data);

/*
 * What is to stand in front of `next` for that.
 *
 * symfs         look for binaries below this folder only; NULL: none. Borrowed
 * like_perf     no user frame where the innermost one's file is not there
 * ret_unwinder  sample_unwinder_free() it; NULL: nothing is to be unwound
 * Returns the sink to feed: the unwinder's, or `next` itself.
 */
struct event_sink *unwinding_before(struct event_sink *next, const struct perfdata *data,
				    const char *symfs, bool like_perf,
				    struct sample_unwinder **ret_unwinder);

#endif
