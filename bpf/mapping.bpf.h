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

/* Fills `row` of the process's mappings from the kernel's. Returns whether the address may hold
 * code.
 */
static __always_inline bool learn_vma(struct scratch *scratch, u32 row, u64 address)
{
	const struct vm_area_struct *vma = (const void *)scratch->walk.vma;
	struct known_process *process = known_process(scratch);
	struct known_mapping *mapping = &process->mappings[row];
	u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end);
	bool has_file = file_of(scratch, vma);

	/* Who has no file has no offset in it, whatever the kernel uses the number for. */
	mapping->file_offset = 0;
	if (has_file && scratch->walk.inode)
		mapping->file_offset = BPF_CORE_READ(vma, vm_pgoff) << (settings.page_bits & 31);
	mapping->table.state = MAPPING_ANONYMOUS;
	if (address < start || address >= end || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return false;
	if (has_file)
		learn_file(scratch, vma, &process->stamp, &mapping->table);
	process->starts[row] = start;
	process->bytes[row] = end - start;
	return true;
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

/* The row of the mapping of code that holds `address`; MAPPING_NONE, or MAPPING_UNKNOWN if it was
 * being changed. */
static __always_inline u32 find_mapping(struct scratch *scratch, u64 address)
{
	struct known_process *process = known_process(scratch);
	u32 last = process->last & (MAPPINGS_KNOWN - 1);
	int found;

	if (address - process->starts[last] < process->bytes[last])
		return last;
	if (search_known(address)) {
		found = search_vma(address);
		if (found == VMA_IN_CHANGE) /* by another thread just now */
			found = search_vma(address);
		if (found != VMA_FOUND)
			return found == VMA_NONE ? MAPPING_NONE : MAPPING_UNKNOWN;
		learn_mapping(address);
	}
	if (scratch->walk.row < MAPPINGS_KNOWN)
		process->last = scratch->walk.row;
	return scratch->walk.row;
}

#endif
