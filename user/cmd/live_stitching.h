/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call stacks of branch records in a recording of ours: in the end the file holds ordinary call
 * chains, put together from the records. Private to this folder.
 *
 * A file is recorded as it comes, and written anew at the end, when the whole recording is there to
 * learn from; who dies meanwhile leaves the records. Of a stream every stack has to be put together
 * as it comes.
 */
#ifndef CMD_LIVE_STITCHING_H
#define CMD_LIVE_STITCHING_H

#include "lbr/lbr.h"
#include "perfdata/perfdata.h"

struct live_stitching;

/*
 * For the recording that is written with these settings, whose sources are as they come from the
 * kernel (borrowed); on a CPU of `branch_depth` branch records (0: unknown). A stream's settings
 * are changed into what it will hold. Free with live_stitching_free().
 */
struct live_stitching *live_stitching_new(struct perfdata_writer_settings *settings);
/* Frees; NULL is fine. */
void live_stitching_free(struct live_stitching *stitching);

/* Where the kernel's events go on their way to `next`, in any order within a round; to be called
 * once. Lives as long as the stitching. */
struct event_sink *live_stitching_sink(struct live_stitching *stitching, struct event_sink *next);

/*
 * When the writer has been closed: puts the file with call chains in its place; of a stream
 * nothing is to be done.
 *
 * extra  for the file
 * Returns 0, or a negative errno with a sentence: then the file is as it was.
 */
int live_stitching_finish(struct live_stitching *stitching, const struct perfdata_extra *extra);

/* Says on stderr what became of the stacks, and why some are not whole. */
void live_stitching_print(const struct live_stitching *stitching);

#endif
