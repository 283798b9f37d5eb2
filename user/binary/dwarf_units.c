/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which unit has the code at an address.
 *
 * .debug_aranges says it without a look at the units, but need not be there for all of them (clang
 * writes none). A unit that it names is taken at its word; of others the ranges in their first DIE
 * count. That is what llvm-symbolizer does, and also that of overlapping units the first has the
 * address.
 */
#include "binary/dwarf_units.h"

#include <dwarf.h>
#include <stdbool.h>

/* What was read, before overlaps are settled. */
struct reading {
	Dwarf *dwarf;
	VEC(struct unit_range) ranges;
	VEC(u64) listed; /* units of .debug_aranges, ascending */
	u64 ranges_left; /* that may still be added */
	bool is_damaged;
};

/* Goes up the addresses: which ranges have begun, that of the first unit on top (a heap). */
struct sweep {
	VEC(struct unit_range) begun;
	struct dwarf_units *units;
};

static void add_range(struct reading *reading, u64 start, u64 end, u64 unit)
{
	if (start >= end || !reading->ranges_left)
		return;
	reading->ranges_left--;
	*vec_add(&reading->ranges) = (struct unit_range){start, end, unit};
}

static int compare_offsets(const void *a, const void *b)
{
	const u64 *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

static int compare_starts(const void *a, const void *b)
{
	const struct unit_range *first = a, *second = b;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	return first->unit < second->unit ? -1 : first->unit > second->unit;
}

static void read_listed(struct reading *reading)
{
	Dwarf_Aranges *aranges;
	size_t count;

	if (dwarf_getaranges(reading->dwarf, &aranges, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Addr start;
		Dwarf_Word bytes;
		Dwarf_Off unit;

		if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &start, &bytes, &unit))
			continue;
		add_range(reading, start, start + bytes, unit);
		*vec_add(&reading->listed) = unit;
	}
	if (reading->listed.count)
		qsort(reading->listed.items, reading->listed.count, sizeof(u64), compare_offsets);
}

static void read_unit(struct reading *reading, u64 unit)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t next = 0;
	Dwarf_Die die;

	if (reading->listed.count && bsearch(&unit, reading->listed.items, reading->listed.count,
					     sizeof(u64), compare_offsets))
		return;
	if (!dwarf_offdie(reading->dwarf, unit, &die) || dwarf_tag(&die) == DW_TAG_invalid) {
		reading->is_damaged = true;
		return;
	}
	while (reading->ranges_left && (next = dwarf_ranges(&die, next, &base, &start, &end)) > 0)
		add_range(reading, start, end, unit);
	reading->is_damaged |= next < 0;
}

static void read_units(struct reading *reading)
{
	Dwarf_Off unit = 0, next;
	size_t header_bytes;
	int end;

	while (!(end = dwarf_next_unit(reading->dwarf, unit, &next, &header_bytes, NULL, NULL, NULL,
				       NULL, NULL, NULL))) {
		read_unit(reading, unit + header_bytes);
		if (next <= unit)
			break;
		unit = next;
	}
	reading->is_damaged |= end <= 0;
}

static void swap_ranges(struct unit_range *a, struct unit_range *b)
{
	struct unit_range kept = *a;

	*a = *b;
	*b = kept;
}

static void begin_range(struct sweep *sweep, const struct unit_range *range)
{
	size_t at = sweep->begun.count;
	struct unit_range *items;

	*vec_add(&sweep->begun) = *range;
	items = sweep->begun.items;
	for (; at && items[at].unit < items[(at - 1) / 2].unit; at = (at - 1) / 2)
		swap_ranges(&items[at], &items[(at - 1) / 2]);
}

static void end_top(struct sweep *sweep)
{
	struct unit_range *items = sweep->begun.items;
	size_t count = --sweep->begun.count, at = 0;

	items[0] = items[count];
	while (2 * at + 1 < count) {
		size_t child = 2 * at + 1;

		if (child + 1 < count && items[child + 1].unit < items[child].unit)
			child++;
		if (items[child].unit >= items[at].unit)
			break;
		swap_ranges(&items[at], &items[child]);
		at = child;
	}
}

/* [start, end) is `unit`'s; joined to the last range if it continues it. */
static void settle(struct dwarf_units *units, u64 start, u64 end, u64 unit)
{
	size_t count = units->ranges.count;
	struct unit_range *last = count ? &units->ranges.items[count - 1] : NULL;

	if (last && last->end == start && last->unit == unit)
		last->end = end;
	else
		*vec_add(&units->ranges) = (struct unit_range){start, end, unit};
}

/* Settles who has the addresses from `start` on, as far as nothing begins before `limit`. */
static void settle_until(struct sweep *sweep, u64 start, u64 limit)
{
	while (sweep->begun.count && start < limit) {
		const struct unit_range top = sweep->begun.items[0];
		u64 end = top.end < limit ? top.end : limit;

		if (top.end > start) {
			settle(sweep->units, start, end, top.unit);
			start = end;
		}
		if (top.end <= start)
			end_top(sweep);
	}
}

void dwarf_units_read(Dwarf *dwarf, u64 ranges_max, struct dwarf_units *ret_units)
{
	struct reading reading = {.dwarf = dwarf, .ranges_left = ranges_max};
	struct dwarf_units units = {0};
	struct sweep sweep = {.units = &units};

	read_listed(&reading);
	read_units(&reading);
	if (reading.ranges.count)
		qsort(reading.ranges.items, reading.ranges.count, sizeof(*reading.ranges.items),
		      compare_starts);
	for (size_t i = 0; i < reading.ranges.count; i++) {
		const struct unit_range *range = &reading.ranges.items[i];
		u64 limit = i + 1 < reading.ranges.count ? range[1].start : ~0ull;

		begin_range(&sweep, range);
		settle_until(&sweep, range->start, limit);
	}
	vec_release(&reading.ranges);
	vec_release(&reading.listed);
	vec_release(&sweep.begun);
	units.is_damaged = reading.is_damaged;
	*ret_units = units;
}

void dwarf_units_release(struct dwarf_units *units)
{
	vec_release(&units->ranges);
}

const struct unit_range *dwarf_units_find(const struct dwarf_units *units, u64 address)
{
	size_t low = 0, high = units->ranges.count;

	/* The first that ends behind the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units->ranges.items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < units->ranges.count && units->ranges.items[low].start <= address
		       ? &units->ranges.items[low]
		       : NULL;
}
