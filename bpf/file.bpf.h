/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of a mapping, and what is known of its unwind table.
 */
#ifndef FILE_BPF_H
#define FILE_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>

/* Asks user space for the table of the file scratch->wanted.file. If the ring has no room the file
 * is forgotten again, to be asked for by the next sample. */
static __always_inline void ask_for_file(struct scratch *scratch)
{
	struct file_wanted *wanted = &scratch->wanted;

	wanted->kind = RECORD_FILE_WANTED;
	wanted->pid = scratch->record.header.pid;
	wanted->start = scratch->seen.start;
	wanted->end = scratch->seen.end;
	if (!bpf_ringbuf_output(&ring, wanted, sizeof(*wanted), BPF_RB_FORCE_WAKEUP))
		return;
	bpf_map_delete_elem(&unwind_files, &wanted->file);
	count(COUNTER_unwind_not_asked);
}

/* Copies what is known of the file scratch->wanted.file into `table`. A row that changes meanwhile
 * is as none; the epoch changes, too, so that is forgotten with the next sample. */
static __always_inline void ask_table(struct scratch *scratch, struct known_table *table)
{
	const struct unwind_file_key *key = &scratch->wanted.file;
	struct unwind_file *known = bpf_map_lookup_elem(&unwind_files, key);
	struct unwind_file *fresh = &scratch->fresh;

	if (known) {
		known->last_used_ns = scratch->record.header.time_ns;
		table->state = known->state;
		table->number = known->table;
		table->place = known->place;
		barrier(); /* what was copied is looked at, not what may have changed since */
		if (known->seal != unwind_seal(table->number, &table->place) &&
		    table->state == FILE_READY)
			table->state = FILE_GONE;
		return;
	}
	table->state = fresh->state = FILE_WANTED;
	fresh->last_used_ns = scratch->record.header.time_ns;
	if (!bpf_map_update_elem(&unwind_files, key, fresh, BPF_NOEXIST))
		ask_for_file(scratch);
	else if (!bpf_map_lookup_elem(&unwind_files, key)) /* nor has another CPU asked */
		count(COUNTER_unwind_not_asked);
}

/* What is known of the file of scratch->seen into `table`. `stamp` is of now. */
static __always_inline void learn_file(struct scratch *scratch, const struct mapping_stamp *stamp,
				       struct known_table *table)
{
	const struct seen_mapping *seen = &scratch->seen;
	const struct inode *inode = (const void *)seen->inode;
	struct unwind_file_key *key = &scratch->wanted.file;
	struct known_file *file =
		&scratch->files[seen->inode * 0x9e3779b97f4a7c15ULL >> (64 - FILES_KNOWN_BITS)];
	u64 difference = (file->inode ^ seen->inode) | (file->number ^ seen->number) |
			 (file->generation ^ seen->generation) | (file->turn ^ stamp->turn) |
			 (file->epoch ^ stamp->epoch);

	if (inode && !difference) {
		*table = file->table;
		return;
	}
	*key = (struct unwind_file_key){.inode = UNWIND_VDSO_INODE};
	if (inode) {
		key->device = BPF_CORE_READ(inode, i_sb, s_dev);
		key->inode = seen->number;
		key->generation = seen->generation;
	}
	ask_table(scratch, table);
	if (!inode || table->state != FILE_READY)
		return;
	file->inode = seen->inode;
	file->number = seen->number;
	file->generation = seen->generation;
	file->turn = stamp->turn;
	file->epoch = stamp->epoch;
	file->table = *table;
}

/* Looks which inode the file of scratch->seen is; none if it has no file. */
static __always_inline void see_file(struct scratch *scratch)
{
	struct seen_mapping *seen = &scratch->seen;
	const struct file *file = (const void *)seen->file;
	const struct inode *inode;

	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	seen->inode = (u64)inode;
	seen->number = BPF_CORE_READ(inode, i_ino);
	seen->generation = BPF_CORE_READ(inode, i_generation);
}

/* A hash of which inode it is, and by which name it was opened; 0: it has no file. */
static __always_inline u32 hash_of_file(const struct seen_mapping *seen)
{
	const struct file *file = (const void *)seen->file;
	u64 hash;

	if (!file)
		return 0;
	hash = context_add(seen->inode, (u64)BPF_CORE_READ(file, f_path.dentry));
	return context_add(context_add(hash, seen->number), seen->generation) >> 36;
}

/* Whether scratch->seen has a file, or is the vDSO; else it is anonymous memory, which is where JIT
 * compilers write. */
static __always_inline bool has_table(const struct scratch *scratch)
{
	const struct mm_struct *mm = (const void *)scratch->walk.mm;

	return scratch->seen.file || scratch->seen.start == (u64)BPF_CORE_READ(mm, context.vdso);
}

#endif
