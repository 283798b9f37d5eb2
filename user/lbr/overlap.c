/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lays registers on registers.
 */
#include "lbr/overlap.h"

enum {
	KNOWN_MIN = 8, /* overlaps of a kind, before anything is said of it */
};

void window_keep(struct window *window, const struct snapshot *snapshot)
{
	window->count = 0;
	if (snapshot->hw_idx == ~0ULL || snapshot->entry_count > WINDOW_MAX)
		return;
	for (u32 i = 0; i < snapshot->entry_count; i++) {
		window->from[i] = snapshot->entries[i].from;
		window->to[i] = snapshot->entries[i].to;
	}
	window->hw_idx = snapshot->hw_idx;
	window->count = snapshot->entry_count;
}

static bool is_same(const struct window *before, u32 at, const struct branch *entry)
{
	return before->from[at] == entry->from && before->to[at] == entry->to;
}

/* Whether none of the `count` entries in front of `entry` in a snapshot, older ones, equals it. */
static bool is_first(const struct branch *entry, u32 count)
{
	for (u32 i = 1; i <= count; i++)
		if (entry[i].from == entry->from && entry[i].to == entry->to)
			return false;
	return true;
}

/* perf reckons with a number that it does not take modulo the depth. */
static bool is_by_rule(const struct window *before, const struct snapshot *now)
{
	u64 base = now->depth - now->entry_count + now->hw_idx + 1;
	u64 distance = before->hw_idx - base;

	if (before->hw_idx <= base)
		distance += now->depth;
	return distance < before->count;
}

struct overlap overlap_find(const struct window *before, const struct snapshot *now)
{
	u32 depth = now->depth, oldest = now->entry_count - 1, room;
	struct overlap overlap = {0};

	if (!before->count || now->hw_idx == ~0ULL || !depth || now->entry_count > depth)
		return overlap;
	overlap.at = (u32)((before->hw_idx % depth + depth - now->hw_idx % depth + oldest) % depth);
	overlap.is_held = overlap.at < before->count;
	if (!overlap.is_held)
		return overlap;
	room = (oldest < overlap.at ? oldest : overlap.at) + 1;
	while (overlap.calls < room) {
		const struct branch *entry = &now->entries[oldest - overlap.calls];

		if (!is_same(before, overlap.at - overlap.calls, entry))
			break;
		overlap.different += is_first(entry, overlap.calls);
		overlap.calls++;
	}
	overlap.is_oldest = overlap.at + 1 == before->count;
	overlap.is_split = overlap.calls < room;
	overlap.is_by_rule = is_by_rule(before, now);
	return overlap;
}

/* --- by chance --- */

/* 1, 2 and more, 4 and more, ... calls. */
static u32 row_of(const struct overlap *overlap)
{
	u32 row = 0;

	while (row + 1 < OVERLAP_CALLS && overlap->calls >> (row + 1))
		row++;
	return row;
}

static u32 column_of(const struct overlap *overlap)
{
	return (overlap->different < OVERLAP_DIFFERENT ? overlap->different : OVERLAP_DIFFERENT) -
	       1;
}

static bool is_counted(const struct overlap *overlap)
{
	return overlap->calls && overlap->is_split && !overlap->is_oldest;
}

void agreements_count(struct agreements *agreements, const struct overlap *overlap)
{
	agreements->never += overlap->is_held && !overlap->calls;
	if (is_counted(overlap))
		agreements->by[row_of(overlap)][column_of(overlap)]++;
}

/*
 * Two samples far apart have no call in common that matters here, and agree how often they do by
 * chance. In neighbours, the same chance works on those that have none in common either: these are
 * as many, compared with those far apart, as disagree at once.
 */
bool chances_suffice(const struct chances *chances, const struct overlap *overlap)
{
	u64 seen, expected;

	if (!is_counted(overlap))
		return false;
	seen = chances->next.by[row_of(overlap)][column_of(overlap)];
	expected = chances->later.by[row_of(overlap)][column_of(overlap)];
	return seen >= KNOWN_MIN &&
	       2 * expected * chances->next.never > seen * chances->later.never;
}
