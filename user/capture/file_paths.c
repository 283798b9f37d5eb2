/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ring of paths with an index. Keys are hashes: who asks checks the file anyway, so two files
 * with one hash cost one of them its path and nothing else.
 */
#include "capture/file_paths.h"

#include "base/memory.h"

#include <string.h>
#include <xxhash.h>

void file_paths_release(struct file_paths *paths)
{
	for (u32 i = 0; i < FILE_PATHS_MAX; i++)
		free(paths->paths[i].path);
	idmap_release(&paths->rows);
	*paths = (struct file_paths){0};
}

static u64 key_of_file(const struct mapping *mapping)
{
	const u64 words[] = {(u64)mapping->major << 32 | mapping->minor, mapping->inode};

	return XXH3_64bits(words, sizeof(words)) | 1;
}

static u64 key_of_place(const struct mapping *mapping)
{
	const u64 words[] = {mapping->pid, mapping->start};

	return (XXH3_64bits(words, sizeof(words)) | 1) - 1;
}

/* The row of a key; one that is new has no path. */
static struct file_path *row_of(struct file_paths *paths, u64 key)
{
	u32 *place = idmap_place(&paths->rows, key);
	struct file_path *row;

	if (*place)
		return &paths->paths[*place - 1];
	row = &paths->paths[paths->next];
	*place = paths->next + 1;
	paths->next = (paths->next + 1) % FILE_PATHS_MAX;
	if (row->path)
		idmap_remove(&paths->rows, row->key);
	free(row->path);
	*row = (struct file_path){.key = key};
	return row;
}

static void remember(struct file_paths *paths, u64 key, const struct mapping *mapping)
{
	struct file_path *row = row_of(paths, key);

	if (!row->path || strcmp(row->path, mapping->path) != 0) {
		free(row->path);
		row->path = must_copy(mapping->path);
	}
	row->generation = mapping->inode_generation;
	row->build_id_bytes = mapping->build_id_bytes;
	memcpy(row->build_id, mapping->build_id, sizeof(row->build_id));
}

void file_paths_note(struct file_paths *paths, const struct mapping *mapping)
{
	if (mapping->is_data || mapping->space != SPACE_USER || mapping->path[0] != '/')
		return;
	if (mapping->inode)
		remember(paths, key_of_file(mapping), mapping);
	else
		remember(paths, key_of_place(mapping), mapping);
}

void file_paths_tell(const struct file_paths *paths, struct mapping *mapping)
{
	u32 by_file = idmap_get(&paths->rows, key_of_file(mapping));
	u32 place = by_file ? by_file : idmap_get(&paths->rows, key_of_place(mapping));
	const struct file_path *row;

	mapping->path = "";
	if (!place)
		return;
	row = &paths->paths[place - 1];
	mapping->path = row->path;
	/* The number of an inode that is gone is given to the next file. (/proc tells no
	 * generations.) */
	if (by_file && row->generation && row->generation != mapping->inode_generation)
		return;
	mapping->build_id_bytes = row->build_id_bytes;
	memcpy(mapping->build_id, row->build_id, sizeof(mapping->build_id));
}
