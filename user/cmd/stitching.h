/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording read with its LBR call stacks made call chains: as perf shows them, or whole.
 */
#ifndef CMD_STITCHING_H
#define CMD_STITCHING_H

#include "cmd/counting.h"
#include "lbr/lbr.h"
#include "perfdata/perfdata.h"
#include "symbolize/symbolize.h"

/*
 * The argument of --stitch-lbr: "certain" (or NULL) or "likely".
 * Returns 0, or -EINVAL with a sentence.
 */
int stitching_parse(const char *argument, u8 *ret_tier);

/* Whether some event of the recording has LBR call stacks. */
bool stitching_is_possible(const struct perfdata *data);
/* Says in one line on stderr if stitching was asked for (`tier` is not LBR_PLAIN) and is not done:
 * the recording has no LBR call stacks, or branches are counted in place of samples. */
void stitching_warn(const struct perfdata *data, u8 tier, bool counts_branches);

/* Keeps what stitching finds out of binaries with their names, for lbr_settings. `cache` is
 * borrowed and used by one reading at a time; NULL: nothing is kept. */
struct lbr_keeper stitching_keeper(struct names_cache *cache);

/*
 * As perfdata_read(); what `sink` hears of LBR call stacks is call chains.
 *
 * data      is read twice if the stitcher has something to learn from a first time
 * ret_tally what became of the stacks; of LBR_PLAIN only how many there are
 */
int stitching_read(struct perfdata *data, const struct lbr_settings *settings,
		   struct event_sink *sink, struct lbr_tally *ret_tally);

/*
 * As counting_read() of the call chains that stitching_read() makes, on all CPUs too: what is
 * certain of a stack does not depend on the samples before once all was learned.
 *
 * lbr  of the tier LBR_CERTAIN
 */
int stitching_count(struct perfdata *data, const struct lbr_settings *lbr,
		    const struct counting_settings *settings, struct profile **ret_profile,
		    struct lbr_tally *ret_tally);

#endif
