/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tables of a profile say, for which no row has to be found; and their totals.
 */
#include "profile/tables.h"

const char *profile_text(const struct profile *profile, string_id id)
{
	return intern_view(&profile->strings, id);
}

u64 profile_addresses(const struct profile *profile)
{
	u64 count = 0;

	for (location_id id = 1; id < profile->locations.count; id++)
		count += !profile->locations.items[id].seen_at;
	return count;
}

function_id profile_outer_function(const struct profile *profile, location_id location)
{
	const struct location_row *row = &profile->locations.items[location];

	return row->line_count
		       ? profile->lines.items[row->first_line + row->line_count - 1].function
		       : 0;
}

binary_id profile_location_binary(const struct profile *profile,
				  const struct location_row *location)
{
	const struct binary_row *binary = &profile->binaries.items[location->binary];

	if (binary->kind == BINARY_KERNEL && !location->line_count &&
	    location->address >= binary->end)
		return 0;
	return location->binary;
}

const char *profile_cgroup(const struct profile *profile, u64 id)
{
	u32 row = idmap_get(&profile->cgroup_of, id);

	return row ? profile_text(profile, profile->cgroups.items[row - 1].path) : NULL;
}

void profile_totals_add(struct profile_totals *totals, const struct sample *sample)
{
	totals->samples += sample_count(sample);
	totals->weight += sample->weight;
	stack_tally_add(&totals->stacks, sample);
	if (!sample->time_ns || sample->time_ns == ~0ull)
		return;
	if (!totals->first_ns || sample->time_ns < totals->first_ns)
		totals->first_ns = sample->time_ns;
	if (sample->time_ns > totals->last_ns)
		totals->last_ns = sample->time_ns;
}
