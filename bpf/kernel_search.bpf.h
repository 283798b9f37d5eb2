/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which entry of the kernel's unwind tables (ORC, x86-64) holds for an address.
 *
 * Half a million sorted addresses are two megabytes, of which hardly a line is in the caches when a
 * sample comes. So it is remembered where each block of code has its entries, and the last few
 * addresses are read at once.
 */
#ifndef KERNEL_SEARCH_BPF_H
#define KERNEL_SEARCH_BPF_H

#include "bpfprof/unwind_find.h"
#include "maps.bpf.h"

enum {
	ORC_STEPS_MAX = 22,  /* halvings: four million entries; 6.18 has half a million */
	ORC_BLOCK_BITS = 13, /* of code: a hundred entries */
	ORC_BLOCKS = 8192,   /* 64 MiB of code; the kernel walks what lies behind */
	ORC_CODE_BYTES = ORC_BLOCKS << ORC_BLOCK_BITS,
	ORC_TOGETHER = 64, /* addresses of entries that are read at a time */
};

#if defined(__TARGET_ARCH_x86)

/* For each block of the kernel's code, once it was asked for: the entry that holds where it begins,
 * plus one. Every CPU finds the same, whoever is first. */
volatile u32 orc_blocks[ORC_BLOCKS] = {};

/* Halves the entries that the one for `address` is among. Global, see move_window(). */
__noinline int halve_orc(u64 address)
{
	struct scratch *scratch = scratch_here();
	u32 half;
	u64 at;
	s32 distance = 0;

	if (!scratch)
		return 1;
	half = scratch->kernel_walk.left / 2;
	at = settings.kernel_rules.addresses +
	     (u64)(scratch->kernel_walk.first + half) * sizeof(distance);
	if (bpf_probe_read_kernel(&distance, sizeof(distance), (const void *)at))
		return 1;
	if (at + (u64)(s64)distance <= address)
		scratch->kernel_walk.first += half;
	scratch->kernel_walk.left -= half;
	return 0;
}

/* Leaves one of the last few entries, of which all addresses are read at once: each word for
 * itself would be a microsecond. Global, see move_window(). */
__noinline int choose_orc(u64 address)
{
	struct scratch *scratch = scratch_here();
	const s32 *distances;
	u32 first, left, bytes, below = 0;
	u64 at;

	if (!scratch)
		return 1;
	first = scratch->kernel_walk.first;
	left = scratch->kernel_walk.left;
	_Static_assert(sizeof(scratch->node) == ORC_TOGETHER * sizeof(*distances), "no room");
	distances = (const void *)scratch->node; /* not in use now */
	at = settings.kernel_rules.addresses + (u64)first * sizeof(*distances);
	bytes = left * sizeof(*distances);
	UNWIND_HIDE(bytes); /* so that what is compared is what is used */
	if (!left || bytes > ORC_TOGETHER * sizeof(*distances) ||
	    bpf_probe_read_kernel(scratch->node, bytes, (const void *)at))
		return 1;
	for (u32 half = ORC_TOGETHER / 2; half; half /= 2) {
		u32 row = below + half;
		u64 place = at + row * sizeof(*distances);

		if (row < left && place + (u64)(s64)distances[row & (ORC_TOGETHER - 1)] <= address)
			below = row;
	}
	scratch->kernel_walk.first = first + below;
	scratch->kernel_walk.left = 1;
	return 0;
}

/* Leaves the entry for `address` in kernel_walk.first, one of the `left` from there on. Returns 0,
 * or not if they cannot be read. Global, see move_window(). */
__noinline int search_orc(u64 address)
{
	struct scratch *scratch = scratch_here();

	if (!scratch)
		return 1;
	for (u32 i = 0; i < ORC_STEPS_MAX && scratch->kernel_walk.left > ORC_TOGETHER; i++)
		if (halve_orc(address))
			return 1;
	return choose_orc(address);
}

/* Leaves in kernel_walk.first the entry that holds where a block of code begins. Returns 0, or not
 * if it cannot be read. Global, see move_window(). */
__noinline int find_orc_block(u32 block)
{
	struct scratch *scratch = scratch_here();
	u32 known;

	if (!scratch || block >= ORC_BLOCKS)
		return 1;
	known = orc_blocks[block];
	if (known) {
		scratch->kernel_walk.first = known - 1;
		return 0;
	}
	scratch->kernel_walk.first = 0;
	scratch->kernel_walk.left = settings.kernel_rules.count;
	if (search_orc(settings.kernel_rules.text_start + ((u64)block << ORC_BLOCK_BITS)))
		return 1;
	orc_blocks[block] = scratch->kernel_walk.first + 1;
	return 0;
}

/* Leaves the entry for `address` in kernel_walk.first: it lies between those for the beginning of
 * its block and of the next one. Returns 0, or not if it cannot be read. */
static __always_inline int find_orc(struct scratch *scratch, u64 address)
{
	u32 block = (address - settings.kernel_rules.text_start) >> ORC_BLOCK_BITS;
	u32 last;

	if (find_orc_block(block + 1))
		return 1;
	last = scratch->kernel_walk.first;
	if (find_orc_block(block))
		return 1;
	scratch->kernel_walk.left = last - scratch->kernel_walk.first + 1;
	return search_orc(address);
}

#endif
#endif
