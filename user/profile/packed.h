/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A counted profile as bytes, for who wants to count only once.
 *
 * What is packed is what builders count: strings, events, binaries, locations, stacks, threads,
 * labels, counts, early ends, totals. Names, branches and details are not.
 */
#ifndef PROFILE_PACKED_H
#define PROFILE_PACKED_H

#include "base/cursor.h"
#include "base/text.h"
#include "profile/tables.h"

/* Appends the profile to `out`. Returns 0, or -EINVAL without a sentence: it has something that is
 * not packed. */
int profile_pack(const struct profile *profile, struct text *out);

/*
 * The profile of such bytes, which are foreign: every row is one that a builder may have made.
 *
 * ret_profile  to be read, and joined to others; not to be added to. profile_free() it
 * Returns 0 or -EBADMSG without a sentence.
 */
int profile_unpack(struct bytes packed, struct profile **ret_profile);

#endif
