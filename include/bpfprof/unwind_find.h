/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the rule that holds at a place of a file. Pure: the same text runs in the BPF programs and
 * in tests.
 *
 * Written for the verifier: a row is found without a branch that depends on rows, and no more than
 * two chunks are asked for at any time.
 */
#ifndef BPFPROF_UNWIND_FIND_H
#define BPFPROF_UNWIND_FIND_H

#include "bpfprof/unwind_table.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	UNWIND_CHUNK_BITS = 10,
	UNWIND_CHUNK_MASK = UNWIND_CHUNK_WORDS - 1,
	/* Halvings that bring UNWIND_PAGE_ROWS_MAX rows down to one. */
	UNWIND_FIND_STEPS = 10,
};

/* Gives the UNWIND_CHUNK_WORDS words of a chunk, NULL if there is none of that number. */
typedef const u32 *unwind_read_chunk(void *context, u32 chunk);

/* The rows of one page that lie in one chunk. */
struct unwind_page_rows {
	u32 first_word; /* in the space of words */
	u32 count;	/* none: no rule holds anywhere in the page */
};

/* Hides from the compiler what it knows of a value, so that it does not make branches of it. */
#define UNWIND_HIDE(value) __asm__ volatile("" : "+r"(value))

/* All ones if left <= right, else 0; of values below 2^63. */
static inline __attribute__((always_inline)) u32 unwind_mask_if_at_most(u64 left, u64 right)
{
	u64 difference = right - left;

	UNWIND_HIDE(difference);
	return (u32)((difference >> 63) - 1);
}

/* Where the rows of the page of `offset` are. */
static inline __attribute__((always_inline)) struct unwind_page_rows unwind_page_rows(
	const struct unwind_place *place, u64 offset, unwind_read_chunk *read_chunk, void *context)
{
	u64 page = (offset >> UNWIND_PAGE_BITS) - place->first_page;
	const u32 *words;
	u32 word, index;

	if (page >= place->page_count)
		return (struct unwind_page_rows){0};
	word = place->first_word + place->rule_count * UNWIND_RULE_WORDS + (u32)page;
	words = read_chunk(context, word >> UNWIND_CHUNK_BITS);
	if (!words)
		return (struct unwind_page_rows){0};
	index = words[word & UNWIND_CHUNK_MASK];
	return (struct unwind_page_rows){
		.first_word = place->first_word + (index >> UNWIND_COUNT_BITS),
		.count = index & UNWIND_PAGE_ROWS_MAX,
	};
}

/* Of rows that lie across the edge of two chunks leaves those of the chunk that `key` is in. */
static inline __attribute__((always_inline)) const u32 *unwind_choose_chunk(
	struct unwind_page_rows *rows, u32 key, unwind_read_chunk *read_chunk, void *context)
{
	u32 in_first = UNWIND_CHUNK_WORDS - (rows->first_word & UNWIND_CHUNK_MASK);
	u32 chunk = rows->first_word >> UNWIND_CHUNK_BITS;
	const u32 *words;

	if (rows->count <= in_first)
		return read_chunk(context, chunk);
	words = read_chunk(context, chunk + 1);
	if (!words)
		return NULL;
	if (words[0] <= key) {
		rows->first_word += in_first;
		rows->count -= in_first;
		return words;
	}
	rows->count = in_first;
	return read_chunk(context, chunk);
}

/* The last row that does not lie behind `key`; `rows` has at least one. A page's first row may:
 * then that is the answer, and the caller looks. */
static inline __attribute__((always_inline)) unwind_row unwind_last_row(
	const u32 *words, struct unwind_page_rows rows, u32 key)
{
	u32 at = rows.first_word & UNWIND_CHUNK_MASK, left = rows.count;

	for (u32 step = 0; step < UNWIND_FIND_STEPS; step++) {
		u32 half = left / 2;

		if (!half)
			break;
		at += half & unwind_mask_if_at_most(words[(at + half) & UNWIND_CHUNK_MASK], key);
		left -= half;
	}
	return words[at & UNWIND_CHUNK_MASK];
}

/* The rule of this number, NULL if the table has none such. */
static inline __attribute__((always_inline)) const struct unwind_rule *unwind_rule_at(
	const struct unwind_place *place, u32 number, unwind_read_chunk *read_chunk, void *context)
{
	u32 word = place->first_word + number * UNWIND_RULE_WORDS;
	const u32 *words;

	if (number >= place->rule_count)
		return NULL;
	words = read_chunk(context, word >> UNWIND_CHUNK_BITS);
	if (!words)
		return NULL;
	return (const void *)&words[word & UNWIND_CHUNK_MASK & ~(u32)(UNWIND_RULE_WORDS - 1)];
}

/* The rule that holds at a file offset, NULL if none does. It lies in the table. */
static inline __attribute__((always_inline)) const struct unwind_rule *unwind_find(
	const struct unwind_place *place, u64 offset, unwind_read_chunk *read_chunk, void *context)
{
	struct unwind_page_rows rows = unwind_page_rows(place, offset, read_chunk, context);
	u32 in_page = offset & ((1U << UNWIND_PAGE_BITS) - 1);
	u32 key = unwind_row_make(in_page, UNWIND_RULE_MAX);
	const u32 *words;
	unwind_row row;

	if (!rows.count)
		return NULL;
	words = unwind_choose_chunk(&rows, key, read_chunk, context);
	if (!words)
		return NULL;
	row = unwind_last_row(words, rows, key);
	if (row > key)
		return NULL;
	return unwind_rule_at(place, unwind_row_rule(row), read_chunk, context);
}

#endif
