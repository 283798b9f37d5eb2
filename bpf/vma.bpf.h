/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which mapping of the running process holds an address, from the kernel's own tree of them.
 *
 * No lock is taken: the process's other threads may change the tree meanwhile. Reading what is gone
 * fails or gives some bytes, so what is found counts only if it holds the address.
 */
#ifndef VMA_BPF_H
#define VMA_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>

enum vma_found { VMA_FOUND, VMA_NONE, VMA_IN_CHANGE };

enum {
	/* A leaf holds 16 mappings, a node above it 10: this is for 160 million. */
	MAPLE_LEVELS_MAX = 9,
	/* A red-black tree of n is at most 2 log2(n + 1) high. */
	RB_LEVELS_MAX = 48,
};

/* Source: include/linux/maple_tree.h (enum maple_type), lib/maple_tree.c (mte_to_node(),
 * mte_node_type()) and include/linux/xarray.h (xa_is_node()), since 6.1. */
enum {
	MAPLE_LEAF_64 = 1,
	MAPLE_RANGE_64 = 2,
	MAPLE_ARANGE_64 = 3,
	MAPLE_NODE_MASK = 255,
	MAPLE_TYPE_SHIFT = 3,
	MAPLE_TYPE_MASK = 15,
	MAPLE_PIVOTS_MAX = 15,
	XA_NODE_TAG = 2,
	XA_TAG_MASK = 3,
	XA_RESERVED_MAX = 4096,
};

/* Whether the root is a node; it is an entry itself in a tree of one. */
static __always_inline bool is_maple_node(u64 root)
{
	return (root & XA_TAG_MASK) == XA_NODE_TAG && root > XA_RESERVED_MAX;
}

/* How many of a node's pivots lie below the address: the number of the slot that holds it. A pivot
 * is the last address of its slot. */
static __always_inline u64 pivots_below(const unsigned long *pivots, u32 count, u64 address)
{
	u64 below = 0;

	for (u32 i = 0; i < MAPLE_PIVOTS_MAX; i++) {
		if (i >= count || pivots[i] >= address)
			break;
		below = i + 1;
	}
	return below;
}

/* The entry that covers the address in the node in scratch->node. Source: lib/maple_tree.c,
 * ma_data_end(): a node that is not full says in its last slot how many pivots it has. */
static __always_inline u64 covering_entry(struct scratch *scratch, u32 type, u64 address)
{
	const struct maple_arange_64 *arange = (const void *)scratch->node;
	const struct maple_range_64 *range = (const void *)scratch->node;
	const unsigned long *pivots = __builtin_preserve_access_index(&range->pivot[0]);
	const unsigned long *slots = (const void *)__builtin_preserve_access_index(&range->slot[0]);
	u32 count = pivots[MAPLE_PIVOTS_MAX - 1] ? MAPLE_PIVOTS_MAX : range->meta.end;

	if (type == MAPLE_ARANGE_64) {
		pivots = __builtin_preserve_access_index(&arange->pivot[0]);
		slots = (const void *)__builtin_preserve_access_index(&arange->slot[0]);
		count = arange->meta.end < 9 ? arange->meta.end : 9;
	}
	/* Out of a register and into a map, see struct user_walk. */
	scratch->walk.row = pivots_below(pivots, count, address);
	barrier();
	return slots[scratch->walk.row & MAPLE_PIVOTS_MAX];
}

static __always_inline u32 search_maple_tree(struct scratch *scratch, u64 address)
{
	const struct mm_struct *mm = (const void *)scratch->walk.mm;
	u64 entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);

	if (!is_maple_node(entry))
		return VMA_NONE;
	for (u32 level = 0; level < MAPLE_LEVELS_MAX; level++) {
		u32 type = entry >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK;

		if (bpf_probe_read_kernel(scratch->node, sizeof(scratch->node),
					  (const void *)(entry & ~(u64)MAPLE_NODE_MASK)))
			return VMA_IN_CHANGE;
		entry = covering_entry(scratch, type, address);
		if (type <= MAPLE_LEAF_64) {
			scratch->walk.vma = entry;
			return entry && !(entry & XA_TAG_MASK) ? VMA_FOUND : VMA_NONE;
		}
	}
	return VMA_IN_CHANGE;
}

/* Before Linux 6.1. */
static __always_inline u32 search_rb_tree(struct scratch *scratch, u64 address)
{
	const struct mm_struct *mm = (const void *)scratch->walk.mm;
	const struct rb_node *node = BPF_CORE_READ(mm, mm_rb.rb_node);
	u64 node_offset = bpf_core_field_offset(struct vm_area_struct, vm_rb);

	for (u32 level = 0; level < RB_LEVELS_MAX && node; level++) {
		const struct vm_area_struct *vma = (const void *)node - node_offset;

		if (address >= BPF_CORE_READ(vma, vm_end)) {
			node = BPF_CORE_READ(node, rb_right);
		} else if (address < BPF_CORE_READ(vma, vm_start)) {
			node = BPF_CORE_READ(node, rb_left);
		} else {
			scratch->walk.vma = (u64)vma;
			return VMA_FOUND;
		}
	}
	return node ? VMA_IN_CHANGE : VMA_NONE;
}

/* A field of the mapping whose bytes are in scratch->node. */
#define VMA_FIELD(scratch, type, field)                \
	(*(const type *)((const u8 *)(scratch)->node + \
			 bpf_core_field_offset(struct vm_area_struct, field)))

/* Whether the kernel tells of a mapping that it is no longer in the tree of its process. */
static __always_inline bool knows_detached(void)
{
	return bpf_core_field_exists(struct vm_area_struct, vm_refcnt) ||
	       bpf_core_field_exists(struct vm_area_struct, detached);
}

/* The mapping whose bytes are in scratch->node. */
static __always_inline bool is_detached(const struct scratch *scratch)
{
	if (bpf_core_field_exists(struct vm_area_struct, vm_refcnt))
		return !VMA_FIELD(scratch, u32, vm_refcnt);
	return VMA_FIELD(scratch, u8, detached);
}

/* Reads the mapping `vma`, all at once, into scratch->node, and what we want of it into
 * scratch->seen. It may be gone; then there may be anything. */
static __always_inline bool read_vma(struct scratch *scratch, u64 vma)
{
	struct seen_mapping *seen = &scratch->seen;
	u32 bytes = bpf_core_type_size(struct vm_area_struct);

	if (bytes > sizeof(scratch->node))
		bytes = sizeof(scratch->node);
	if (bpf_probe_read_kernel(scratch->node, bytes, (const void *)vma))
		return false;
	seen->vma = vma;
	seen->start = VMA_FIELD(scratch, u64, vm_start);
	seen->end = VMA_FIELD(scratch, u64, vm_end);
	seen->flags = VMA_FIELD(scratch, u64, vm_flags);
	seen->page = VMA_FIELD(scratch, u64, vm_pgoff);
	seen->file = VMA_FIELD(scratch, u64, vm_file);
	seen->inode = seen->number = seen->generation = 0;
	return true;
}

/* Puts the mapping that holds `address` into walk.vma. Returns enum vma_found. */
__noinline int search_vma(u64 address)
{
	struct scratch *scratch = scratch_here();
	const struct mm_struct *mm;

	if (!scratch)
		return VMA_IN_CHANGE;
	mm = (const void *)scratch->walk.mm;
	if (bpf_core_field_exists(mm->mm_mt))
		return search_maple_tree(scratch, address);
	if (bpf_core_field_exists(mm->mm_rb))
		return search_rb_tree(scratch, address);
	return VMA_NONE;
}

#endif
