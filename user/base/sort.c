/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Merge sort, halves of halves side by side. Who compares by a rule that is no strict order (perf
 * has such) gets what depends on which rows meet: so the same rows meet however many CPUs there
 * are.
 */
#include "base/sort.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <stdbool.h>
#include <string.h>

enum { LEAST_ROWS = 1 << 12 }; /* of a piece: less is not worth a thread */

struct sorting {
	u32 *rows, *spare; /* spare: room for as many */
	size_t count;
	u32 depth; /* there are 2^depth pieces */
	sort_compare *compare;
	void *context;
};

static void merge(const struct sorting *sorting, size_t from, size_t middle, size_t to)
{
	u32 *rows = sorting->rows, *spare = sorting->spare;
	size_t left = from, right = middle;

	memcpy(spare + from, rows + from, (middle - from) * sizeof(*rows));
	for (size_t at = from; left < middle; at++) {
		bool takes_left = right == to || sorting->compare(&spare[left], &rows[right],
								  sorting->context) <= 0;

		rows[at] = takes_left ? spare[left++] : rows[right++];
	}
}

static size_t middle_of(size_t from, size_t to)
{
	return from + (to - from) / 2;
}

static void sort_span(const struct sorting *sorting, size_t from, size_t to)
{
	size_t middle = middle_of(from, to);

	if (to - from < 2)
		return;
	sort_span(sorting, from, middle);
	sort_span(sorting, middle, to);
	merge(sorting, from, middle, to);
}

/* Where a piece begins, if all is halved as often as there is depth; of the one behind the last:
 * the end. */
static size_t start_of(const struct sorting *sorting, size_t piece)
{
	size_t from = 0, to = sorting->count;

	if (piece >> sorting->depth)
		return sorting->count;
	for (u32 bit = sorting->depth; bit-- > 0;) {
		size_t middle = middle_of(from, to);

		if (piece >> bit & 1)
			from = middle;
		else
			to = middle;
	}
	return from;
}

static void sort_piece(void *context, size_t piece)
{
	const struct sorting *sorting = context;

	sort_span(sorting, start_of(sorting, piece), start_of(sorting, piece + 1));
}

/* A piece of which both halves are sorted. */
static void merge_piece(void *context, size_t piece)
{
	const struct sorting *sorting = context;
	size_t from = start_of(sorting, piece), to = start_of(sorting, piece + 1);

	merge(sorting, from, middle_of(from, to), to);
}

void sort_rows(u32 *rows, size_t count, sort_compare *compare, void *context)
{
	size_t width = parallel_width();
	CLEANUP(freep) u32 *spare = must_resize_array(NULL, count, sizeof(*spare));
	struct sorting sorting = {.rows = rows,
				  .spare = spare,
				  .count = count,
				  .compare = compare,
				  .context = context};

	while (1ull << sorting.depth < width && count >> (sorting.depth + 1) >= LEAST_ROWS)
		sorting.depth++;
	parallel_run((size_t)1 << sorting.depth, sort_piece, &sorting);
	while (sorting.depth-- > 0)
		parallel_run((size_t)1 << sorting.depth, merge_piece, &sorting);
}

/* --- by number --- */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Puts `from` into `to` by the digit of the key at bit `shift`; equal ones keep their order. */
static void sort_by_digit(const struct sort_key *from, struct sort_key *to, size_t count, int shift)
{
	size_t places[DIGITS] = {0}, next = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
		size_t here = places[i];

		places[i] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* A radix sort: as many rounds as there are digits that differ, two or three mostly. */
struct sort_key *sort_by_key(struct sort_key *keys, struct sort_key *other, size_t count)
{
	u64 differing = 0;

	for (size_t i = 1; i < count; i++)
		differing |= keys[i].key ^ keys[0].key;
	for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct sort_key *taken = keys;

		if (!(differing >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(keys, other, count, shift);
		keys = other;
		other = taken;
	}
	return keys;
}
