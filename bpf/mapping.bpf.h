/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of the code at an address: which file's, and where its unwind table is.
 *
 * A search in the kernel's tree costs half a microsecond, so each CPU remembers the mappings of the
 * processes it has seen, as long as the kernel says that these have not changed.
 */
#ifndef MAPPING_BPF_H
#define MAPPING_BPF_H

#include "file.bpf.h"
#include "process.bpf.h"
#include "vma.bpf.h"

#include <bpf/bpf_core_read.h>

/* What find_mapping() says if there is no mapping: rows are below MAPPINGS_KNOWN. */
enum { MAPPING_NONE = MAPPINGS_KNOWN, MAPPING_UNKNOWN };

enum { VM_EXEC = 4 }; /* include/linux/mm.h */

static __always_inline struct seen_mapping *seen_mapping(const struct scratch *scratch, u32 row)
{
	u32 process = scratch->walk.process & (PROCESSES_KNOWN - 1);
	struct seen_process *seen = bpf_map_lookup_elem(&processes_seen, &process);

	return seen ? &seen->mappings[row & (MAPPINGS_KNOWN - 1)] : NULL;
}

/* Fills `row` of the process's mappings from the kernel's. Returns whether the address may hold
 * code.
 */
static __always_inline bool learn_vma(struct scratch *scratch, u32 row, u64 address)
{
	struct known_process *process = known_process(scratch);
	struct known_mapping *mapping = &process->mappings[row];
	struct seen_mapping *seen = &scratch->seen, *then = seen_mapping(scratch, row);

	if (!then || !read_vma(scratch, scratch->walk.vma) || address < seen->start ||
	    address >= seen->end || !(seen->flags & VM_EXEC))
		return false;
	see_file(scratch);
	/* Who has no file has no offset in it, whatever the kernel uses the number for. */
	mapping->file_offset = seen->inode ? seen->page << (settings.page_bits & 31) : 0;
	mapping->table.state = MAPPING_ANONYMOUS;
	if (settings.walkers & WALKER_EH_FRAME && has_table(scratch))
		learn_file(scratch, &process->stamp, &mapping->table);
	mapping->table.file = hash_of_file(seen);
	*then = *seen;
	process->starts[row] = seen->start;
	process->bytes[row] = seen->end - seen->start;
	process->proved |= 1ULL << row;
	return true;
}

/* Whether the mapping `row` is as it was when it was learned. If so, it is proved; else it is
 * forgotten. The process has mapped or unmapped something since, mostly data. Reading the mapping
 * takes 0.9 us cold, searching it in the tree and learning what it is of 2.3. Global, see
 * move_window(). */
__noinline int mapping_differs(u32 row)
{
	struct scratch *scratch = scratch_here();
	struct known_process *process;
	const struct seen_mapping *seen, *then;
	u64 difference;

	if (!scratch)
		return 1;
	row &= MAPPINGS_KNOWN - 1;
	process = known_process(scratch);
	then = seen_mapping(scratch, row);
	seen = &scratch->seen;
	if (then && knows_detached() && read_vma(scratch, then->vma) && !is_detached(scratch) &&
	    VMA_FIELD(scratch, u64, vm_mm) == scratch->walk.mm) {
		see_file(scratch);
		difference = (seen->start ^ then->start) | (seen->end ^ then->end) |
			     (seen->file ^ then->file) | (seen->page ^ then->page) |
			     (seen->inode ^ then->inode) | (seen->number ^ then->number) |
			     (seen->generation ^ then->generation) | (seen->flags ^ then->flags);
		if (!difference) {
			process->proved |= 1ULL << row;
			return 0;
		}
	}
	process->bytes[row] = 0;
	return 1;
}

/* Looks for `address` among what is known of the process. Leaves the row in walk.row; returns 0, or
 * not if there is none. Global, see move_window(). */
__noinline int search_known(u64 address)
{
	struct scratch *scratch = scratch_here();
	const struct known_process *process;

	if (!scratch)
		return 1;
	process = known_process(scratch);
	for (u32 i = 0; i < MAPPINGS_KNOWN; i++) {
		if (address - process->starts[i] < process->bytes[i]) {
			scratch->walk.row = i;
			return 0;
		}
	}
	return 1;
}

/* Remembers the mapping that search_vma() has found for `address`. Leaves its row in walk.row. */
__noinline int learn_mapping(u64 address)
{
	struct scratch *scratch = scratch_here();
	struct known_process *process;
	u32 row;

	if (!scratch)
		return 1;
	process = known_process(scratch);
	row = process->next & (MAPPINGS_KNOWN - 1);
	process->bytes[row] = 0;
	scratch->walk.row = MAPPING_NONE;
	if (!learn_vma(scratch, row, address))
		return 0;
	process->next++;
	scratch->walk.row = row;
	return 0;
}

/* find_mapping() where it is not the one that was used last. Global, see move_window(). */
__noinline int seek_mapping(u64 address)
{
	struct scratch *scratch = scratch_here();
	struct known_process *process;
	int found;

	if (!scratch)
		return MAPPING_UNKNOWN;
	process = known_process(scratch);
	if (search_known(address) || (!(process->proved >> (scratch->walk.row & 63) & 1) &&
				      mapping_differs(scratch->walk.row))) {
		found = search_vma(address);
		if (found == VMA_IN_CHANGE) /* by another thread just now */
			found = search_vma(address);
		if (found != VMA_FOUND)
			return found == VMA_NONE ? MAPPING_NONE : MAPPING_UNKNOWN;
		learn_mapping(address);
	}
	if (scratch->walk.row < MAPPINGS_KNOWN)
		process->last = scratch->walk.row;
	return (int)scratch->walk.row;
}

/* The row of the mapping of code that holds `address`; MAPPING_NONE, or MAPPING_UNKNOWN if it was
 * being changed. */
static __always_inline u32 find_mapping(struct scratch *scratch, u64 address)
{
	struct known_process *process = known_process(scratch);
	u32 last = process->last & (MAPPINGS_KNOWN - 1);

	if (address - process->starts[last] < process->bytes[last] && process->proved >> last & 1)
		return last;
	return (u32)seek_mapping(address);
}

#endif
