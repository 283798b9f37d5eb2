/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the filters of a list let through. */
#include "profile/entry_filter.h"

#include <string.h>

bool name_passes(const struct name_filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->count; i++)
		if (!strcmp(filter->names[i], name))
			return true;
	return filter->count == 0;
}

bool number_passes(const u32 *numbers, size_t count, u32 number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return count == 0;
}

bool frame_passes(const struct fold *fold, const struct entry_list_settings *filters,
		  frame_id frame)
{
	const struct profile *profile = fold->profile;
	const struct binary_row *binary =
		&profile->binaries.items[fold->frames.items[frame].binary];
	const char *name = fold_frame_name(fold, frame);

	if (!name_passes(&filters->dsos, profile_text(profile, binary->short_name)) &&
	    !name_passes(&filters->dsos, profile_text(profile, binary->path)))
		return false;
	if (filters->symbol_part && !strstr(name, filters->symbol_part))
		return false;
	return name_passes(&filters->symbols, name);
}
