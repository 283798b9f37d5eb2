/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every four bytes of data, added to their own address and to the last few in front of them where a
 * table may begin.
 *
 * That is where an address points to that code takes or that stands in the data, and a few words
 * behind: the first function of a vtable is. It is not known where a table ends, nor which bytes of
 * its rows are distances, so all are tried. Words that lead into one function and not to its start,
 * one behind the other from where code takes the address, are those of a switch: they are not
 * tried from other places.
 */
#include "lbr/code_tables.h"

#include "base/memory.h"
#include "lbr/code_lanes.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORD_BYTES = 4,
	BLOCK_BYTES = 64, /* looked at together: bits of a word of `bits` */
	CHUNK_BYTES = 64 << 10,
	SLACK_BYTES = 32, /* zeros behind a chunk */
	TRIED_BASES = 32,
	OFFSET_STEP = 8, /* from an address that is noted to where a table begins, … */
	OFFSET_MAX = 24, /* … at most: two words, more with virtual bases */
};

/* --- where tables may begin --- */

bool code_bases_make(struct code_bases *bases, const struct code_image *image)
{
	u64 first = ~0ULL, end = 0;

	*bases = (struct code_bases){0};
	for (size_t i = 0; i < image->data.count; i++) {
		const struct code_data *data = &image->data.items[i];

		first = data->address < first ? data->address : first;
		end = data->address + data->bytes > end ? data->address + data->bytes : end;
	}
	if (first > end)
		first = end; /* there is no data */
	if (end - first > CODE_SPAN_MAX_BYTES)
		return false;
	bases->first = first & ~(u64)(BLOCK_BYTES - 1);
	bases->count = end - bases->first;
	bases->bits = must_alloc_array(bases->count / BLOCK_BYTES + 1, sizeof(*bases->bits));
	bases->taken = must_alloc_array(bases->count / BLOCK_BYTES + 1, sizeof(*bases->taken));
	return true;
}

void code_bases_release(struct code_bases *bases)
{
	free(bases->bits);
	free(bases->taken);
	*bases = (struct code_bases){0};
}

static void set_bit(u64 *bits, u64 at)
{
	u64 bit = 1ULL << at % 64;

	if (!(__atomic_load_n(&bits[at / 64], __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(&bits[at / 64], bit, __ATOMIC_RELAXED);
}

void code_bases_note(const struct code_bases *bases, u64 address, bool is_taken)
{
	u64 at = address - bases->first;

	if (!code_bases_has(bases, address))
		return;
	if (is_taken)
		set_bit(bases->taken, at);
	for (u64 end = at + OFFSET_MAX; at <= end && at < bases->count; at += OFFSET_STEP)
		set_bit(bases->bits, at);
}

/* --- looking --- */

/* Where one is in a stretch of data. */
struct sweep {
	const struct code_facts *facts;
	const struct code_starts *starts;
	const struct code_bases *bases;
	bool *led_to;		/* of each function */
	u64 tried[TRIED_BASES]; /* the last one first */
	u32 tried_count;
	u64 switch_base, switch_next;	/* of a switch that may go on: its table, its next word */
	u64 switch_start, switch_bytes; /* the function that it is of; bytes 0: there is none */
};

static void see_target(struct sweep *sweep, u64 address)
{
	u32 row;

	if (!code_starts_in_text(sweep->starts, address) ||
	    !code_starts_may_be(sweep->starts, address))
		return;
	row = code_starts_started(sweep->starts, address);
	if (row != NO_FUNCTION)
		sweep->led_to[row] = true;
}

static u64 word_at(const u8 *bytes)
{
	s32 word;

	memcpy(&word, bytes, sizeof(word));
	return (u64)(s64)word;
}

/* A word that code takes the address of leads into a function: a switch may begin. */
static void begin_switch(struct sweep *sweep, u64 address, u64 target)
{
	const struct code_function *function;

	if (target == address || !code_starts_in_text(sweep->starts, target))
		return;
	function = &sweep->facts->functions.items[code_starts_row(sweep->starts, target)];
	if (target - function->start - 1 >= function->end - function->start - 1)
		return;
	sweep->switch_base = sweep->switch_next = address;
	sweep->switch_start = function->start;
	sweep->switch_bytes = function->end - function->start;
}

static bool is_of_switch(struct sweep *sweep, u64 address, u64 distance)
{
	u64 target = sweep->switch_base + distance;

	if (!sweep->switch_bytes || address < sweep->switch_next)
		return false;
	if (address == sweep->switch_next &&
	    target - sweep->switch_start - 1 < sweep->switch_bytes - 1) {
		sweep->switch_next += WORD_BYTES;
		return true;
	}
	sweep->switch_bytes = 0;
	return false;
}

static void add_base(struct sweep *sweep, u64 address, u64 distance)
{
	u64 at = address - sweep->bases->first;

	memmove(sweep->tried + 1, sweep->tried, (TRIED_BASES - 1) * sizeof(*sweep->tried));
	sweep->tried[0] = address;
	sweep->tried_count += sweep->tried_count < TRIED_BASES;
	if (!(sweep->bases->taken[at / 64] >> at % 64 & 1))
		return;
	sweep->switch_bytes = 0;
	begin_switch(sweep, address, address + distance);
}

static void see_word(struct sweep *sweep, u64 address, u64 distance)
{
	see_target(sweep, address + distance);
	if (is_of_switch(sweep, address, distance))
		return;
	for (u32 i = 0; i < sweep->tried_count; i++)
		see_target(sweep, sweep->tried[i] + distance);
}

/* Where in a block words begin that may lead into the text: by their upper halves. */
static u64 words_in(const struct sweep *sweep, u64 address, const u8 *bytes)
{
	u64 oldest = sweep->tried_count ? sweep->tried[sweep->tried_count - 1] : address;
	u64 low = sweep->starts->first - address - BLOCK_BYTES, high = sweep->starts->end - oldest;
	u64 span = (high >> 16) - (low >> 16), words = 0;

	if (span > UINT16_MAX)
		return ~0ULL;
	for (u32 i = 0; i < BLOCK_BYTES; i += LANES)
		words |= lanes_bits(lanes_of_halves(bytes + i + 2, (u16)(low >> 16), (u16)span))
			 << i;
	return words;
}

/* `inside`: a bit for each place of the block where a word of the data may begin. */
static void sweep_block(struct sweep *sweep, u64 address, const u8 *bytes, u64 inside)
{
	u64 bases = sweep->bases->bits[(address - sweep->bases->first) / BLOCK_BYTES];
	u64 words = words_in(sweep, address, bytes);

	for (u64 left = (words | bases) & inside; left; left &= left - 1) {
		u32 at = (u32)__builtin_ctzll(left);
		u64 distance = word_at(bytes + at);

		if (bases >> at & 1)
			add_base(sweep, address + at, distance);
		if (words >> at & 1)
			see_word(sweep, address + at, distance);
	}
}

/* The bits from `first` on, up to `end`. */
static u64 bits_between(u64 first, u64 end)
{
	u64 below_end = end < BLOCK_BYTES ? (1ULL << end) - 1 : ~0ULL;

	return below_end & ~0ULL << first;
}

static void sweep_data(struct sweep *sweep, const struct code_data *data)
{
	u8 chunk[CHUNK_BYTES + SLACK_BYTES];
	u64 end = data->address + data->bytes, skipped = data->address % BLOCK_BYTES;

	sweep->tried_count = 0;
	sweep->switch_bytes = 0;
	for (u64 start = data->address - skipped; start + WORD_BYTES <= end; start += CHUNK_BYTES) {
		u64 left = end - start, bytes = left < sizeof(chunk) ? left : sizeof(chunk);

		memset(chunk, 0, skipped);
		memset(chunk + bytes, 0, sizeof(chunk) - bytes);
		code_image_copy(&sweep->facts->image,
				data->offset + (start + skipped - data->address), chunk + skipped,
				bytes - skipped);
		for (u64 at = 0; at < CHUNK_BYTES && at + WORD_BYTES <= left; at += BLOCK_BYTES)
			sweep_block(sweep, start + at, chunk + at,
				    bits_between(at ? 0 : skipped, left - at - WORD_BYTES + 1));
		skipped = 0;
	}
}

void code_tables_find(const struct code_facts *facts, const struct code_starts *starts,
		      const struct code_bases *bases, bool *led_to)
{
	struct sweep sweep = {.facts = facts, .starts = starts, .bases = bases, .led_to = led_to};

	for (size_t i = 0; i < facts->image.data.count; i++)
		sweep_data(&sweep, &facts->image.data.items[i]);
}
