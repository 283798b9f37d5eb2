/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which lines of a comparison changed by more than chance: what the tests of significance are asked
 * about it, and what they answered.
 *
 * To tell bursts, the profile must have been counted with DETAIL_TIME kept: each quantum is a slice
 * of time. Without it samples are taken to be independent.
 */
#ifndef PROFILE_CHANGES_H
#define PROFILE_CHANGES_H

#include "profile/comparison.h"
#include "profile/significance.h"

enum {
	CHANGES_SLICES = 64,	  /* that the shortest recording should have … */
	CHANGES_SLICES_MAX = 256, /* … and the longest one may */
};

/* What one side was held against the baseline by. */
struct changes_side {
	size_t tested, beyond, too_few; /* lines */
	u64 before_samples, after_samples;
	/* What change of a line that has 1% or 10% would most likely have been found; in shares. */
	double smallest_of_1, smallest_of_10;
};

struct changes {
	double alpha;
	double dispersion; /* how samples cluster in time, of all lines together; 1 or more */
	u32 side_count;
	struct change *rows; /* by entry, by side; those of side 0 are empty */
	struct changes_side *sides;
	const struct comparison *comparison; /* borrowed */
};

/* How long a slice should be for recordings of these lengths; 0: of none is known how long it took.
 */
u64 changes_quantum(const u64 *lengths_ns, u32 count);

/*
 * Judges the lines that a comparison shows, each side against the baseline.
 *
 * alpha       of the marked lines, this share may be marked wrongly, 0 … 1
 * quantum_ns  of DETAIL_TIME; 0: it was not kept
 * The comparison must outlive what is returned; free that with changes_free().
 */
struct changes *changes_new(const struct comparison *comparison, double alpha, u64 quantum_ns);
/* Frees; NULL is fine. */
void changes_free(struct changes *changes);
/* For CLEANUP. */
void changes_freep(struct changes **changes);

/* What became of an entry on a side (not 0). Borrowed. */
static inline const struct change *changes_of(const struct changes *changes, u32 entry, u32 side)
{
	return &changes->rows[(size_t)entry * changes->side_count + side];
}

/* Whether it is marked on any side. */
bool changes_is_marked(const struct changes *changes, u32 entry);

#endif
