/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Locations keep their order, by which lines that are equal otherwise are shown.
 */
#include "profile/leaves.h"

#include "base/memory.h"

void profile_keep_leaves(struct profile *profile)
{
	CLEANUP(freep)
	location_id *kept = must_alloc_array(profile->locations.count, sizeof(*kept));
	location_id count = 1;

	for (size_t i = 0; i < profile->counts.count; i++) {
		profile->counts.items[i].stack = 0;
		kept[profile->counts.items[i].leaf] = 1;
	}
	for (size_t i = 1; i < profile->locations.count; i++) {
		if (!kept[i])
			continue;
		profile->locations.items[count] = profile->locations.items[i];
		kept[i] = count++;
	}
	kept[0] = 0;
	for (size_t i = 0; i < profile->counts.count; i++)
		profile->counts.items[i].leaf = kept[profile->counts.items[i].leaf];
	profile_forget_lookups(profile);
	profile->locations.count = count;
	profile->stacks.count = 1;
}
