/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an entry says in its fields.
 */
#include "profile/entry_list.h"

u64 entry_value(const struct entry *entry, u8 field)
{
	switch (field) {
	case FIELD_CHILDREN:
		return entry->children_period;
	case FIELD_OVERHEAD:
	case FIELD_PERIOD:
		return entry->period;
	case FIELD_OVERHEAD_SYS:
		return entry->period_sys;
	case FIELD_OVERHEAD_US:
		return entry->period_us;
	case FIELD_OVERHEAD_GUEST_SYS:
		return entry->period_guest_sys;
	case FIELD_OVERHEAD_GUEST_US:
		return entry->period_guest_us;
	case FIELD_SAMPLE:
		return entry->samples;
	case FIELD_CPU:
		return entry->cpu;
	default:
		return 0;
	}
}

u64 entry_detail(const struct entry_list *list, const struct entry *entry, u8 field)
{
	const struct detail_row *details = &list->fold->profile->details.items[entry->detail];
	u64 value = details->values[entry_field_detail(field)];

	if (field == FIELD_WEIGHT)
		return value * entry->samples;
	return field == FIELD_INS_LAT ? (u32)value * entry->samples : value;
}

u64 entry_symbol_bytes(const struct entry_list *list, const struct entry *entry)
{
	function_id function = list->fold->frames.items[entry->frame].function;
	const struct function_row *row = &list->fold->profile->functions.items[function];

	return row->end - row->start;
}

frame_id entry_key_frame(const struct entry_list *list, const struct entry *entry, u8 field)
{
	if (field == FIELD_DSO_FROM || field == FIELD_SYMBOL_FROM || field == FIELD_SRCLINE_FROM)
		return list->fold->branches.items[entry->branch].from;
	return entry->frame;
}

/* perf holds shares in a float; so equal ones fall the same way. */
bool entry_reaches(const struct entry_list *list, const struct entry *entry, double percent)
{
	double period = (double)entry_whole_period(list, entry);
	float share = list->total_period ? (float)(period * 100.0 / (double)list->total_period)
					 : 0.0F;

	return share >= (float)percent;
}

const char *entry_dso(const struct entry_list *list, const struct entry *entry, u8 field)
{
	const struct profile *profile = list->fold->profile;
	frame_id frame = entry_key_frame(list, entry, field);
	binary_id binary = list->fold->frames.items[frame].binary;

	return profile_text(profile, entry_binary_name(list, binary));
}

const char *entry_source(const struct entry_list *list, const struct entry *entry, u8 field)
{
	frame_id frame = entry_key_frame(list, entry, field);

	return field == FIELD_SRCFILE ? fold_frame_file(list->fold, frame)
				      : fold_frame_source(list->fold, frame);
}

u32 entry_branch_flags(const struct entry_list *list, const struct entry *entry)
{
	return list->fold->branches.items[entry->branch].flags;
}
