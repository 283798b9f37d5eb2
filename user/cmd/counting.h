/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting the samples of a recording as they are, on all CPUs.
 */
#ifndef CMD_COUNTING_H
#define CMD_COUNTING_H

#include "lbr/lbr.h"
#include "perfdata/perfdata.h"
#include "profile/profile.h"
#include "symbolize/symbolize.h"

struct counting_settings {
	struct builder_settings builder; /* but for `names` */
	struct filter_settings filter;	 /* of the samples to count */
	/* Tells callers without name apart by virtual address, as builder.names does; NULL: not
	 * wanted. Borrowed. */
	struct symbolizer *symbolizer;
	/* Is called, unless something went wrong, while stacks and counts are still added to the
	 * profile; it may name it by symbolizer_run_noted(). NULL: nothing. */
	void (*meanwhile)(void *context, struct profile *profile);
	void *context;
	/* Has learned of the recording; makes call chains of its LBR call stacks. NULL: not wanted.
	 * Borrowed. */
	struct lbr_stitcher *stitcher;
};

/*
 * Counts a recording. The result does not depend on the number of CPUs.
 *
 * ret_profile  owned by the caller, also after an error: what was counted until then; NULL if the
 *              stitcher lacks lessons
 * ret_tally    what became of the stacks that were stitched; unchanged without stitcher
 * Returns as perfdata_read().
 */
int counting_read(struct perfdata *data, const struct counting_settings *settings,
		  struct profile **ret_profile, struct lbr_tally *ret_tally);

#endif
