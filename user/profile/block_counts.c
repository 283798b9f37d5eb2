/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From branch stacks to blocks.
 *
 * Source of the rules: Linux 6.1, tools/perf/util/hist.c, hist__account_cycles().
 */
#include "profile/block_counts.h"

static u32 cycles_of(const struct branch *branch)
{
	return (u32)(branch->flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT;
}

/* Rows are numbered from 1 in the hash table, from 0 in the vec. */
static bool block_equals(const void *table, u32 row, const void *key)
{
	const struct profile *profile = table;
	const struct block_row *a = &profile->blocks.items[row - 1], *b = key;

	return a->start == b->start && a->end == b->end && a->source == b->source;
}

static void add_block(struct block_counts *counts, struct profile *profile, struct block_row block,
		      u32 cycles)
{
	u64 hash = hash_mix(hash_mix(block.source, block.start), block.end);
	u32 next = (u32)profile->blocks.count + 1;
	u32 row = row_index_find(&counts->index,
				 (struct row_wanted){hash, next, block_equals, profile, &block});
	struct block_row *known;

	if (row == next)
		*vec_add(&profile->blocks) = block;
	known = &profile->blocks.items[row - 1];
	if (known->times < BLOCK_FIRST)
		known->first[known->times] = (u16)cycles;
	known->times++;
	known->cycles += cycles;
}

void block_counts_add(struct block_counts *counts, struct profile *profile, struct locator *locator,
		      const struct sample *sample)
{
	struct block_row block = {.source = sample->source};

	if (!sample->branch_count || !cycles_of(&sample->branches[0]))
		return;
	for (u32 i = sample->branch_count; i-- > 0;) {
		const struct branch *branch = &sample->branches[i];
		u32 cycles = cycles_of(branch);

		block.end = locator_find(locator, profile, sample->pid, branch->from,
					 address_space_of(branch->from));
		if (cycles)
			add_block(counts, profile, block, cycles);
		block.start = locator_find(locator, profile, sample->pid, branch->to,
					   address_space_of(branch->to));
	}
}

void block_counts_release(struct block_counts *counts)
{
	row_index_release(&counts->index);
}
