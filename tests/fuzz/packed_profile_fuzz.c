/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reading of packed profiles, which sums of windows are: what comes out can be added to
 * another profile, and packed again.
 */
#include "base/memory.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void pack(const struct profile *profile, struct text *out)
{
	if (profile_pack(profile, out))
		abort(); /* nothing is in there that is not packed */
}

/* A profile that was packed comes back: packed once more, it is the same. */
static void check_again(const struct profile *profile)
{
	CLEANUP(text_release) struct text first = {0}, second = {0};
	struct profile *again;

	pack(profile, &first);
	if (profile_unpack((struct bytes){(const u8 *)first.bytes, first.length}, &again))
		abort();
	pack(again, &second);
	profile_free(again);
	if (first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct profile *profile, *merged;

	if (profile_unpack((struct bytes){bytes, length}, &profile))
		return 0;
	check_again(profile);
	merged = profile_new();
	profile_merge(merged, profile);
	profile_free(profile);
	profile_free(merged);
	return 0;
}
