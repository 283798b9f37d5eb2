/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What patterns say about the callers of folded rows: perf's -s parent and --ignore-callees.
 */
#ifndef PROFILE_CALLERS_H
#define PROFILE_CALLERS_H

#include "profile/entry_list.h"

#include <regex.h>

/*
 * Gives each row a DETAIL_PARENT: of the functions in its stack that the pattern matches, the first
 * one in the given order, among the first `max_stack` frames (0: all).
 *
 * profile  what was folded; it gets new labels and details
 */
void callers_set_parents(struct fold *fold, struct profile *profile, const regex_t *pattern,
			 enum chain_order order, u32 max_stack);

/* Lets functions that the pattern matches use themselves what they called: rows begin with the
 * outermost of them. */
void callers_ignore_callees(struct fold *fold, const regex_t *pattern);

/* Takes frames without name out of all stacks, and rows that were counted at one. */
void callers_hide_unnamed(struct fold *fold);

#endif
