/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the filters of a list let through, private to this folder.
 */
#ifndef PROFILE_ENTRY_FILTER_H
#define PROFILE_ENTRY_FILTER_H

#include "profile/entry_list.h"

/* Whether a name is one of the filter's; an empty filter lets all through. */
bool name_passes(const struct name_filter *filter, const char *name);
/* Whether a number is one of `count`; all are, if there are none. */
bool number_passes(const u32 *numbers, size_t count, u32 number);
/* Whether binary and function of a frame are wanted. */
bool frame_passes(const struct fold *fold, const struct entry_list_settings *filters,
		  frame_id frame);

#endif
