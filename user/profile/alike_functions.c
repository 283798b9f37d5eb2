/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds functions that are alike, if there are files that may have some.
 */
#include "profile/alike_functions.h"

#include "base/memory.h"

/* Interned as bytes. */
struct alike_key {
	u64 start, end;
	string_id path, name;
	u32 is_inlined, zero;
};

/* Whether several files have one path. */
static bool has_copies(const struct profile *profile)
{
	struct idmap known = {0};
	bool has_some = false;

	for (binary_id id = 1; id < profile->binaries.count && !has_some; id++) {
		const struct binary_row *binary = &profile->binaries.items[id];
		u32 *place = binary->inode ? idmap_place(&known, binary->path) : NULL;

		has_some = place && *place;
		if (place)
			*place = id;
	}
	idmap_release(&known);
	return has_some;
}

function_id *alike_functions(const struct profile *profile)
{
	function_id *alike;
	struct idmap first = {0};
	struct intern keys = {0};

	if (!has_copies(profile))
		return NULL;
	alike = must_alloc_array(profile->functions.count, sizeof(*alike));
	for (function_id id = 1; id < profile->functions.count; id++) {
		const struct function_row *function = &profile->functions.items[id];
		const struct binary_row *binary = &profile->binaries.items[function->binary];
		struct alike_key key = {
			.start = function->start,
			.end = function->end,
			.path = binary->path,
			.name = function->name,
			.is_inlined = function->is_inlined,
		};
		u32 *place;

		alike[id] = id;
		if (!binary->inode)
			continue;
		place = idmap_place(&first, intern_bytes(&keys, &key, sizeof(key)));
		if (!*place)
			*place = id;
		alike[id] = *place;
	}
	idmap_release(&first);
	intern_release(&keys);
	return alike;
}
