/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of memory accesses: of a data source the bits that perf compares, of data the address, the
 * file or the cache line.
 *
 * Source: tools/perf/util/sort.c of Linux 6.1.
 */
#include "profile/memory_keys.h"

#include <linux/perf_event.h>
#include <string.h>

u32 memory_key_details(u8 field)
{
	switch (field) {
	case FIELD_SYMBOL_DADDR:
	case FIELD_DCACHELINE:
		return 1u << DETAIL_DATA_ADDRESS | 1u << DETAIL_DATA_PLACE;
	case FIELD_DSO_DADDR:
		return 1u << DETAIL_DATA_PLACE;
	case FIELD_SYMBOL_IADDR:
		return 1u << DETAIL_CODE_ADDRESS | 1u << DETAIL_CODE_PLACE;
	case FIELD_PHYS_DADDR:
		return 1u << DETAIL_PHYSICAL_ADDRESS;
	case FIELD_DATA_PAGE_SIZE:
		return 1u << DETAIL_DATA_PAGE;
	default:
		return 1u << DETAIL_DATA_SOURCE;
	}
}

/* The bits of a data source that a key looks at. */
static u64 source_bits(u8 field)
{
	switch (field) {
	case FIELD_MEM:
		return 0x3fffull << PERF_MEM_LVL_SHIFT;
	case FIELD_SNOOP:
		return 0x1full << PERF_MEM_SNOOP_SHIFT;
	case FIELD_LOCKED:
		return 0x3ull << PERF_MEM_LOCK_SHIFT;
	case FIELD_TLB:
		return 0x7full << PERF_MEM_TLB_SHIFT;
	default:
		return 0x7ull << PERF_MEM_BLK_SHIFT;
	}
}

u64 memory_line_address(const struct profile *profile, const struct detail_row *details)
{
	const struct location_row *place = memory_place(profile, details);
	bool is_in_file = profile->binaries.items[place->binary].kind == BINARY_FILE;
	u64 address = is_in_file ? place->address : details->values[DETAIL_DATA_ADDRESS];

	return address & ~(u64)(MEMORY_LINE_BYTES - 1);
}

/* Lines of memory without a file are each process's own. The space finds room in the bits that the
 * address of a line leaves. */
static struct memory_key line_key(const struct profile *profile, const struct detail_row *details,
				  u32 pid)
{
	const struct location_row *place = memory_place(profile, details);
	u8 kind = profile->binaries.items[place->binary].kind;
	bool is_own = place->space == SPACE_USER && (kind == BINARY_OTHER || kind == BINARY_JIT) &&
		      !(details->values[DETAIL_DATA_PLACE] & PLACE_IS_SHARED);

	return (struct memory_key){
		.first = (u64)place->binary << 32 | (is_own ? pid : 0),
		.second = memory_line_address(profile, details) | place->space,
	};
}

struct memory_key memory_key_of(const struct entry_list *list, const struct detail_row *details,
				u32 pid, u8 field)
{
	const struct profile *profile = list->fold->profile;
	binary_id binary = memory_place(profile, details)->binary;

	switch (field) {
	case FIELD_SYMBOL_DADDR:
		return (struct memory_key){.first = details->values[DETAIL_DATA_ADDRESS]};
	case FIELD_SYMBOL_IADDR:
		return (struct memory_key){.first = details->values[DETAIL_CODE_ADDRESS]};
	case FIELD_PHYS_DADDR:
		return (struct memory_key){.first = details->values[DETAIL_PHYSICAL_ADDRESS]};
	case FIELD_DATA_PAGE_SIZE:
		return (struct memory_key){.first = details->values[DETAIL_DATA_PAGE]};
	case FIELD_DSO_DADDR:
		return (struct memory_key){.first = binary ? entry_binary_name(list, binary) : 0};
	case FIELD_DCACHELINE:
		return line_key(profile, details, pid);
	default:
		return (struct memory_key){.first = details->values[DETAIL_DATA_SOURCE] &
						    source_bits(field)};
	}
}

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/* Names ascending; what lies in no mapping comes last. */
static int compare_files(const struct entry_list *list, binary_id a, binary_id b)
{
	const struct profile *profile = list->fold->profile;

	if (!a || !b)
		return (b != 0) - (a != 0);
	return strcmp(profile_text(profile, entry_binary_name(list, a)),
		      profile_text(profile, entry_binary_name(list, b)));
}

int memory_key_compare(const struct entry_list *list, u8 field, const struct entry *a,
		       const struct entry *b)
{
	const struct profile *profile = list->fold->profile;
	const struct detail_row *of_a = &profile->details.items[a->detail];
	const struct detail_row *of_b = &profile->details.items[b->detail];
	const struct location_row *place_a = memory_place(profile, of_a);
	const struct location_row *place_b = memory_place(profile, of_b);
	u32 pid_a = profile->threads.items[a->thread].pid;
	u32 pid_b = profile->threads.items[b->thread].pid;
	struct memory_key key_a = memory_key_of(list, of_a, pid_a, field);
	struct memory_key key_b = memory_key_of(list, of_b, pid_b, field);
	int order = 0;

	/* perf has them in descending order, as those of branches */
	if (field == FIELD_DSO_DADDR)
		return -compare_files(list, place_a->binary, place_b->binary);
	if (field == FIELD_DCACHELINE)
		order = compare_numbers(place_a->space, place_b->space);
	if (!order && field == FIELD_DCACHELINE)
		order = compare_files(list, place_a->binary, place_b->binary);
	if (!order)
		order = compare_numbers(key_a.first, key_b.first);
	return order ? order : compare_numbers(key_a.second, key_b.second);
}
