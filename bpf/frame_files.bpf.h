/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of the user stack into the record, and which files they lie in.
 */
#ifndef FRAME_FILES_BPF_H
#define FRAME_FILES_BPF_H

#include "mapping.bpf.h"

/* Appends the pc to the record. */
static __always_inline void put_pc(struct scratch *scratch, u64 pc)
{
	struct sample_header *header = &scratch->record.header;
	u32 row = header->kernel_frames + header->user_frames;

	if (row < sizeof(scratch->record.frames) / sizeof(u64))
		scratch->record.frames[row] = pc;
	header->user_frames++;
}

/* Appends the frame to the record. */
static __always_inline void take_pc(struct scratch *scratch)
{
	put_pc(scratch, scratch->walk.frame.pc);
	scratch->record.header.walked |= scratch->walk.found_by;
}

/* Takes the file of the mapping `row`, and where it was mapped, into walk.context.
 * Anonymous memory is the same wherever it begins, as that changes while it grows. */
static __always_inline void add_file(struct scratch *scratch, u32 row)
{
	const struct known_process *process = known_process(scratch);
	const struct known_mapping *mapping = &process->mappings[row];
	u64 place = process->starts[row] - mapping->file_offset;
	u64 word = mapping->table.file ? (u64)mapping->table.file << 36 ^ place : 0;

	scratch->walk.context = context_add(scratch->walk.context, word);
}

/* add_file() of the frame `number` of the user stack, or of where the CPU was if there is none.
 * Global, see move_window(). */
__noinline int find_file(u32 number)
{
	struct scratch *scratch = scratch_here();
	const struct sample_header *header;
	u64 address;
	u32 row;

	if (!scratch)
		return 1;
	header = &scratch->record.header;
	address = header->address;
	row = header->kernel_frames + number;
	if (header->user_frames && row < sizeof(scratch->record.frames) / sizeof(u64))
		address = scratch->record.frames[row] - !!number; /* a call's return address */
	row = find_mapping(scratch, address);
	if (row < MAPPINGS_KNOWN)
		add_file(scratch, row);
	return 0;
}

/* Takes the files of all frames into walk.context. Global, see move_window(). */
__noinline int find_files(void)
{
	struct scratch *scratch = scratch_here();
	const struct sample_header *header;

	if (!scratch)
		return 1;
	header = &scratch->record.header;
	if (!header->user_frames && header->mode != MODE_USER)
		return 0;
	begin_mappings(scratch);
	find_file(0);
	for (u32 i = 1; i < STACK_MAX_FRAMES && i < header->user_frames; i++)
		find_file(i);
	return 0;
}

/* All that was not taken into walk.context on the way: who walks by tables has the files. */
static __always_inline void complete_context(struct scratch *scratch)
{
	if (!(settings.walkers & WALKER_EH_FRAME) || !scratch->walk.is_done)
		find_files();
	add_name(scratch);
}

#endif
