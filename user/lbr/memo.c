/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packed stacks in one array, found by hash. Two different snapshots have one 64-bit hash once in
 * 2^64 pairs; that is not looked for.
 */
#include "lbr/memo.h"

#include "base/idmap.h"
#include "base/vec.h"

#include <xxhash.h>

struct memo_row {
	u32 first, count; /* of calls */
	u32 rest;
	u8 end;
	bool by_hardware;
};

struct memo {
	struct idmap row_of; /* key → row + 1 */
	VEC(struct memo_row) rows;
	VEC(u64) calls;
	u64 most_bytes;
};

struct memo *memo_new(u64 most_bytes)
{
	struct memo *memo = must_alloc(sizeof(*memo));

	memo->most_bytes = most_bytes;
	return memo;
}

static void memo_clear(struct memo *memo)
{
	idmap_release(&memo->row_of);
	vec_release(&memo->rows);
	vec_release(&memo->calls);
}

void memo_free(struct memo *memo)
{
	if (!memo)
		return;
	memo_clear(memo);
	free(memo);
}

/* In four lanes: one multiplication need not wait for the other. */
static u64 callers_key(const struct snapshot *snapshot)
{
	u64 lanes[4] = {0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL, 0x94d049bb133111ebULL,
			0xff51afd7ed558ccdULL};
	const u64 multiplier = 0xd6e8feb86659fd93ULL;
	const struct frame *callers = snapshot->callers;
	u32 i, count = snapshot->caller_count;

	for (i = 0; i + 4 <= count; i += 4)
		for (u32 lane = 0; lane < 4; lane++)
			lanes[lane] = (lanes[lane] ^ callers[i + lane].address) * multiplier;
	for (; i < count; i++)
		lanes[0] = (lanes[0] ^ callers[i].address) * multiplier;
	for (u32 lane = 1; lane < 4; lane++)
		lanes[0] = ((lanes[0] ^ lanes[0] >> 32) + lanes[lane]) * multiplier;
	return lanes[0] ^ lanes[0] >> 29 ^ count;
}

u64 memo_key(const struct snapshot *snapshot, const struct place *leaf, u64 variant)
{
	static const u64 multiplier = 0x9e3779b97f4a7c15ULL;
	u64 key = variant * multiplier ^ snapshot->hw_idx;

	if (!leaf->body)
		key = key * multiplier ^ snapshot->leaf;
	key = key * multiplier ^
	      ((u64)leaf->body << 8 | (u64)leaf->pointer << 4 | snapshot->is_unwound << 2 |
	       leaf->is_outermost << 1 | leaf->is_signal);
	key ^= callers_key(snapshot);
	if (snapshot->entry_count)
		key = XXH3_64bits_withSeed(snapshot->entries,
					   snapshot->entry_count * sizeof(*snapshot->entries), key);
	return key;
}

bool memo_get(const struct memo *memo, u64 key, struct memo_stack *ret_stack)
{
	u32 row = idmap_get(&memo->row_of, key);
	const struct memo_row *found;

	if (!row)
		return false;
	found = &memo->rows.items[row - 1];
	*ret_stack = (struct memo_stack){
		.calls = memo->calls.items + found->first,
		.count = found->count,
		.rest = found->rest,
		.end = found->end,
		.by_hardware = found->by_hardware,
	};
	return true;
}

u64 memo_packed(const struct call *call)
{
	return call->return_address | (call->return_address - call->from) << 48 |
	       (u64)call->origin << 56;
}

void memo_put(struct memo *memo, u64 key, const struct memo_stack *stack)
{
	u64 bytes = memo->calls.count * sizeof(u64) + memo->rows.count * sizeof(struct memo_row);

	if (bytes > memo->most_bytes)
		memo_clear(memo);
	*vec_add(&memo->rows) = (struct memo_row){
		.first = (u32)memo->calls.count,
		.count = stack->count,
		.rest = stack->rest,
		.end = stack->end,
		.by_hardware = stack->by_hardware,
	};
	vec_reserve(&memo->calls, stack->count);
	for (u32 i = 0; i < stack->count; i++)
		memo->calls.items[memo->calls.count++] = stack->calls[i];
	*idmap_place(&memo->row_of, key) = (u32)memo->rows.count;
}
