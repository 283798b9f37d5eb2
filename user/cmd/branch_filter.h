/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which branches to record, as perf's users write it. Private to this folder.
 */
#ifndef CMD_BRANCH_FILTER_H
#define CMD_BRANCH_FILTER_H

#include "bpfprof/types.h"

/*
 * Parses a comma list of perf's names for -j: any, any_call, any_ret, ind_call, call, cond, u, k, …
 * Names that say only whose branches mean any of theirs.
 *
 * ret_bits  PERF_SAMPLE_BRANCH_*, not 0
 * Returns 0 or -EINVAL with a sentence (the nearest name is suggested).
 */
int branch_filter_parse(const char *text, u64 *ret_bits);

#endif
