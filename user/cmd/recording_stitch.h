/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands between the kernel and the file where call stacks come from branch records: they are
 * put together while recording, so that the file holds ordinary call chains. Private to this
 * folder.
 */
#ifndef CMD_RECORDING_STITCH_H
#define CMD_RECORDING_STITCH_H

#include "lbr/lbr.h"

struct stitching;

/*
 * For a recording of these sources (borrowed), on a CPU of `depth` branch records (0: unknown).
 * Free with stitching_free().
 */
struct stitching *stitching_new(const struct event_source *sources, u32 count, u32 depth);
/* Frees; NULL is fine. */
void stitching_free(struct stitching *stitching);

/* The sources as they are in the file: with call chains, without branch stacks. Borrowed. */
const struct event_source *stitching_sources(const struct stitching *stitching);

/* Where the kernel's events go on their way to `next`, in any order within a round; to be called
 * once. Lives as long as the stitching. */
struct event_sink *stitching_sink(struct stitching *stitching, struct event_sink *next);

/* What became of the stacks so far; NULL: there is no stitching, or it has no sink yet. */
const struct lbr_tally *stitching_tally(const struct stitching *stitching);

/* Says on stderr what became of them, and why some are not whole. */
void stitching_print(const struct lbr_tally *tally);

#endif
