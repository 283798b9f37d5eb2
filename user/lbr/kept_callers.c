/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A header that says of what it is, then a column for each thing that is known of a function.
 *
 * A build id alone does not tell: a file may have lost its symbols, or have been written over. So
 * the file's state counts, too, and the functions that it was cut into.
 */
#include "lbr/kept_callers.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	VERSION = 3,
	ROW_BYTES = 3 * sizeof(u32) + 1,
};

/* What a row says beside its numbers. */
enum { ROW_HAS_JUMPS = 1, ROW_HAS_MANY = 2, ROW_IS_POINTED_AT = 4, ROW_FLAGS = 7 };

struct header {
	u64 version, state, count;
	u64 functions; /* hash of their addresses */
	u8 id[BUILD_ID_MAX_BYTES];
	u32 id_bytes;
};
_Static_assert(sizeof(struct header) == 56, "the header has holes");

/* The columns of a block. */
struct columns {
	u8 *calls, *call, *jumps_from; /* u32 each, at any address */
	u8 *flags;
};

static bool is_told_apart(const struct code_facts *facts, const struct lbr_keeper *keeper)
{
	u64 bytes = 0;

	for (size_t i = 0; i < facts->image.segments.count; i++)
		bytes += facts->image.segments.items[i].bytes;
	return keeper && facts->image.state && facts->image.id.length && facts->functions.count &&
	       bytes >= keeper->least_bytes;
}

/* Of all that rows depend on but what is in the file. */
static u64 hash_functions(const struct code_facts *facts)
{
	const u64 factor = 0x9e3779b97f4a7c15;
	u64 hash = 0;

	for (size_t i = 0; i < facts->functions.count; i++) {
		const struct code_function *function = &facts->functions.items[i];

		hash = (hash ^ function->start) * factor;
		hash ^= hash >> 32;
		hash = (hash ^ function->end) * factor;
		hash ^= hash >> 32;
		hash = (hash ^ (function->flags & (FUNCTION_IS_GAP | FUNCTION_IS_STUB))) * factor;
	}
	return hash;
}

static struct header header_of(const struct code_facts *facts)
{
	struct header header = {
		.version = VERSION,
		.state = facts->image.state,
		.count = facts->functions.count,
		.functions = hash_functions(facts),
		.id_bytes = facts->image.id.length,
	};

	memcpy(header.id, facts->image.id.bytes, facts->image.id.length);
	return header;
}

static struct columns columns_at(u8 *start, size_t count)
{
	return (struct columns){
		.calls = start,
		.call = start + count * sizeof(u32),
		.jumps_from = start + 2 * count * sizeof(u32),
		.flags = start + 3 * count * sizeof(u32),
	};
}

static u32 u32_at(const u8 *column, size_t row)
{
	u32 value;

	memcpy(&value, column + row * sizeof(value), sizeof(value));
	return value;
}

static void set_u32(u8 *column, size_t row, u32 value)
{
	memcpy(column + row * sizeof(value), &value, sizeof(value));
}

/* --- taking --- */

static u64 text_end(const struct code_facts *facts)
{
	return facts->functions.items[facts->functions.count - 1].end;
}

/* Whether a row says what can be. */
static bool is_sound(const struct code_facts *facts, const struct columns *columns, size_t row)
{
	u64 first = facts->functions.items[0].start;
	u32 from = u32_at(columns->jumps_from, row);
	u8 flags = columns->flags[row];

	if (flags & ~ROW_FLAGS || u32_at(columns->call, row) >= text_end(facts) - first)
		return false;
	if (flags & ROW_HAS_JUMPS)
		return from < facts->functions.count;
	return from == NO_FUNCTION && !(flags & ROW_HAS_MANY);
}

static void take_row(struct code_facts *facts, const struct columns *columns, size_t row)
{
	struct code_function *function = &facts->functions.items[row];
	u8 flags = columns->flags[row];

	function->calls = u32_at(columns->calls, row);
	if (function->calls)
		function->call = facts->functions.items[0].start + u32_at(columns->call, row);
	function->jumps_from = u32_at(columns->jumps_from, row);
	function->has_jumps = flags & ROW_HAS_JUMPS;
	function->has_many = flags & ROW_HAS_MANY;
	if (flags & ROW_IS_POINTED_AT)
		function->flags |= FUNCTION_IS_POINTED_AT;
}

static bool take_block(struct code_facts *facts, struct bytes block)
{
	const struct header expected = header_of(facts);
	size_t count = facts->functions.count;
	struct columns columns;

	if (block.length != sizeof(expected) + count * ROW_BYTES ||
	    memcmp(block.start, &expected, sizeof(expected)) != 0)
		return false;
	columns = columns_at((u8 *)(uintptr_t)block.start + sizeof(expected), count);
	for (size_t i = 0; i < count; i++)
		if (!is_sound(facts, &columns, i))
			return false;
	for (size_t i = 0; i < count; i++)
		take_row(facts, &columns, i);
	return true;
}

bool kept_callers_take(struct code_facts *facts, const struct lbr_keeper *keeper)
{
	struct bytes block;

	if (!is_told_apart(facts, keeper) ||
	    keeper->find(keeper->context, &facts->image.id, &block))
		return false;
	facts->has_callers = take_block(facts, block);
	free((void *)(uintptr_t)block.start);
	return facts->has_callers;
}

/* --- keeping --- */

static void put_row(const struct code_facts *facts, const struct columns *columns, size_t row)
{
	const struct code_function *function = &facts->functions.items[row];
	u64 call = function->calls ? function->call - facts->functions.items[0].start : 0;
	bool is_pointed_at = function->flags & FUNCTION_IS_POINTED_AT;

	set_u32(columns->calls, row, function->calls);
	set_u32(columns->call, row, (u32)call);
	set_u32(columns->jumps_from, row, function->jumps_from);
	columns->flags[row] = (u8)((function->has_jumps ? ROW_HAS_JUMPS : 0) |
				   (function->has_many ? ROW_HAS_MANY : 0) |
				   (is_pointed_at ? ROW_IS_POINTED_AT : 0));
}

void kept_callers_keep(const struct code_facts *facts, const struct lbr_keeper *keeper)
{
	size_t count = facts->functions.count;
	CLEANUP(freep) u8 *block = NULL;
	struct columns columns;
	struct header header;
	size_t bytes;

	if (!facts->has_found_callers || !is_told_apart(facts, keeper))
		return;
	header = header_of(facts);
	bytes = sizeof(header) + count * ROW_BYTES;
	block = must_alloc(bytes);
	memcpy(block, &header, sizeof(header));
	columns = columns_at(block + sizeof(header), count);
	for (size_t i = 0; i < count; i++)
		put_row(facts, &columns, i);
	keeper->keep(keeper->context, &facts->image.id, count, (struct bytes){block, bytes});
}
