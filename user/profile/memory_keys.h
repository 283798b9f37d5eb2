/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * By what accesses to memory are told apart, key by key.
 */
#ifndef PROFILE_MEMORY_KEYS_H
#define PROFILE_MEMORY_KEYS_H

#include "profile/entry_list.h"

enum { MEMORY_LINE_BYTES = 64 };

/* What two lines must have in common to be one. */
struct memory_key {
	u64 first, second;
};

/* Where the data of an access is. */
static inline const struct location_row *memory_place(const struct profile *profile,
						      const struct detail_row *details)
{
	/* the upper half is PLACE_IS_SHARED */
	return &profile->locations.items[(location_id)details->values[DETAIL_DATA_PLACE]];
}

/* The details (1 << enum sample_detail, or-ed) that a key of memory looks at. */
u32 memory_key_details(u8 field);
/* What a sample with these details has of a key; `pid` is its process. */
struct memory_key memory_key_of(const struct entry_list *list, const struct detail_row *details,
				u32 pid, u8 field);
/* Where the cache line begins that the data is in: in its file, or else virtual. */
u64 memory_line_address(const struct profile *profile, const struct detail_row *details);
/* Negative: the key of `a` comes first, as perf orders lines. */
int memory_key_compare(const struct entry_list *list, u8 field, const struct entry *a,
		       const struct entry *b);

#endif
