/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts how long blocks of code took, by the branches that a sample tells of: a block begins where
 * one branch went to, and the next branch ends it. Private to the folder.
 */
#ifndef PROFILE_BLOCK_COUNTS_H
#define PROFILE_BLOCK_COUNTS_H

#include "profile/locator.h"
#include "profile/row_index.h"

/* Which rows there are. Zeroed: none. */
struct block_counts {
	struct row_index index;
};

/* Adds the blocks of a sample to the profile's; of samples whose newest branch has no cycles none,
 * as in perf. */
void block_counts_add(struct block_counts *counts, struct profile *profile, struct locator *locator,
		      const struct sample *sample);
/* Frees the contents; empty again, for another profile. */
void block_counts_release(struct block_counts *counts);

#endif
