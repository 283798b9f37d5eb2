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

static void remember(struct file_paths *paths, u64 key, const char *path)
{
	struct file_path *row;
	u32 *place = idmap_place(&paths->rows, key);

	if (*place) {
		row = &paths->paths[*place - 1];
		if (!strcmp(row->path, path))
			return;
	} else {
		row = &paths->paths[paths->next];
		*place = paths->next + 1;
		paths->next = (paths->next + 1) % FILE_PATHS_MAX;
		if (row->path)
			idmap_remove(&paths->rows, row->key);
	}
	free(row->path);
	*row = (struct file_path){.key = key, .path = must_copy(path)};
}

void file_paths_note(struct file_paths *paths, const struct mapping *mapping)
{
	if (mapping->is_data || mapping->space != SPACE_USER || mapping->path[0] != '/')
		return;
	if (mapping->inode)
		remember(paths, key_of_file(mapping), mapping->path);
	else
		remember(paths, key_of_place(mapping), mapping->path);
}

const char *file_paths_find(const struct file_paths *paths, const struct mapping *mapping)
{
	u32 row = idmap_get(&paths->rows, key_of_file(mapping));

	if (!row)
		row = idmap_get(&paths->rows, key_of_place(mapping));
	return row ? paths->paths[row - 1].path : "";
}
