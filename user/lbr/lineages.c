/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash for each process, of one mapping after the other.
 */
#include "lbr/lineages.h"

#include <string.h>
#include <xxhash.h>

static struct lineage *lineage_of(struct lineages *lineages, u32 pid)
{
	u32 *row;

	if (lineages->last_row && lineages->last_pid == pid)
		return &lineages->rows.items[lineages->last_row - 1];
	row = idmap_place(&lineages->row_of, pid);
	if (!*row) {
		*vec_add(&lineages->rows) = (struct lineage){0};
		*row = (u32)lineages->rows.count;
	}
	lineages->last_pid = pid;
	lineages->last_row = *row;
	return &lineages->rows.items[*row - 1];
}

/* What is mapped where, after `seed`. */
static u64 mapping_hash(const struct mapping *mapping, u64 seed)
{
	const u64 parts[] = {mapping->start,	   mapping->bytes,
			     mapping->file_offset, (u64)mapping->major << 32 | mapping->minor,
			     mapping->inode,	   mapping->inode_generation};
	u64 hash = XXH3_64bits_withSeed(parts, sizeof(parts), seed);

	hash = XXH3_64bits_withSeed(mapping->build_id, mapping->build_id_bytes, hash);
	return XXH3_64bits_withSeed(mapping->path, strlen(mapping->path), hash);
}

void lineages_map(struct lineages *lineages, const struct mapping *mapping, bool covers)
{
	struct lineage *lineage = lineage_of(lineages, mapping->pid);
	bool is_file = mapping->inode || mapping->build_id_bytes;

	/* Memory for code that is made at run time comes all the time. */
	if (is_file || covers || !lineage->is_sampled)
		lineage->hash = mapping_hash(mapping, lineage->hash);
}

void lineages_exec(struct lineages *lineages, u32 pid)
{
	*lineage_of(lineages, pid) = (struct lineage){0};
}

void lineages_fork(struct lineages *lineages, const struct thread_life *life)
{
	struct lineage parent;

	if (life->pid == life->parent_pid || life->is_synthesized)
		return;
	parent = *lineage_of(lineages, life->parent_pid);
	*lineage_of(lineages, life->pid) = parent;
}

u64 lineages_sampled(struct lineages *lineages, u32 pid)
{
	struct lineage *lineage = lineage_of(lineages, pid);

	lineage->is_sampled = true;
	return lineage->hash;
}

void lineages_release(struct lineages *lineages)
{
	idmap_release(&lineages->row_of);
	vec_release(&lineages->rows);
	*lineages = (struct lineages){0};
}
