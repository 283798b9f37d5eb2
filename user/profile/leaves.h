/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile without callers, for who asks only where the CPU was.
 */
#ifndef PROFILE_LEAVES_H
#define PROFILE_LEAVES_H

#include "profile/tables.h"

/* Leaves of all that was counted only the leaves, as a builder with `skip_chains` counts: no
 * stacks, and no addresses that only stacks have. Counts that are alike now become one where the
 * profile is merged into another one. For profiles without names, branches and blocks: unpacked
 * ones. */
void profile_keep_leaves(struct profile *profile);

#endif
