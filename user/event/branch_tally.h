/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What kinds of branches there are, and how many of each: PERF_SAMPLE_BRANCH_TYPE_SAVE.
 */
#ifndef EVENT_BRANCH_TALLY_H
#define EVENT_BRANCH_TALLY_H

#include "event/event_sink.h"

enum { BRANCH_TYPES = 15, BRANCH_NEW_TYPES = 8 }; /* PERF_BR_*, PERF_BR_NEW_* */

/* Zeroed memory is an empty one. */
struct branch_tally {
	u64 types[BRANCH_TYPES]; /* the first is of those whose kind is not known, and stays 0 */
	u64 new_types[BRANCH_NEW_TYPES];
	u64 forward, backward;	/* of conditional ones */
	u64 cross_4k, cross_2m; /* into another page of that size */
};

/* Adds branches of known kind. */
void branch_tally_add(struct branch_tally *tally, const struct branch *branches, u32 count);
/* Those of `types`: 100% in perf. */
u64 branch_tally_count(const struct branch_tally *tally);

/* "IND_CALL", as perf writes it; "" if the kind is not known. */
const char *branch_type_word(u64 flags);
/* The same of a row of branch_tally.types. */
const char *branch_tally_word(u32 type);
/* The same of a row of branch_tally.new_types. */
const char *branch_tally_new_word(u32 type);

#endif
