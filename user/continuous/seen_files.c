/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files by what tells them apart: path, build id or inode, and how they are mapped.
 */
#include "continuous/seen_files.h"

#include "profile/profile.h"

#include <string.h>

enum {
	PATH_MAX_BYTES = 4096,
	PLACED_FILES_MAX = 1 << 23,
	ROOM_BITS = 32, /* of the places of a file */
};

/* No processor has code of a process there, and it is not the kernel's half. */
static const u64 first_place = 1ULL << 56;

/* Without holes, so that equal files are equal bytes; the path with its NUL behind it. */
struct file_key {
	u64 inode, inode_generation;
	u32 major, minor, protection, flags;
	u8 build_id[BUILD_ID_MAX_BYTES];
	u8 build_id_bytes, space, reserved[2];
	char path[PATH_MAX_BYTES];
};

/* Perf looks for the names of memfds by address, as for those of what has no file. */
static bool is_file(const char *path)
{
	return path[0] == '/' && !path_is_anonymous(path) && strncmp(path, "/memfd:", 7) != 0;
}

u32 seen_files_add(struct seen_files *files, const struct mapping *mapping)
{
	struct file_key key;
	size_t length = strnlen(mapping->path, PATH_MAX_BYTES - 1);
	u32 id;

	memset(&key, 0, offsetof(struct file_key, path));
	key.inode = mapping->inode;
	key.inode_generation = mapping->inode_generation;
	key.major = mapping->major;
	key.minor = mapping->minor;
	key.protection = mapping->protection;
	key.flags = mapping->flags;
	key.space = mapping->space;
	if (mapping->build_id_bytes <= BUILD_ID_MAX_BYTES) {
		key.build_id_bytes = mapping->build_id_bytes;
		memcpy(key.build_id, mapping->build_id, mapping->build_id_bytes);
	}
	memcpy(key.path, mapping->path, length);
	key.path[length] = 0;
	id = intern_bytes(&files->keys, &key, offsetof(struct file_key, path) + length + 1);
	if (id > files->states.count)
		*vec_add(&files->states) = (struct file_state){
			.is_jit = mapping->space == SPACE_USER && path_is_anonymous(mapping->path),
			.is_placed = mapping->space == SPACE_USER && is_file(mapping->path),
		};
	return id;
}

void seen_files_fill(const struct seen_files *files, u32 file, struct mapping *mapping)
{
	const char *view = intern_view(&files->keys, file);
	struct file_key key;

	memcpy(&key, view, offsetof(struct file_key, path));
	mapping->inode = key.inode;
	mapping->inode_generation = key.inode_generation;
	mapping->major = key.major;
	mapping->minor = key.minor;
	mapping->protection = key.protection;
	mapping->flags = key.flags;
	mapping->space = key.space;
	mapping->build_id_bytes = key.build_id_bytes;
	memcpy(mapping->build_id, key.build_id, sizeof(key.build_id));
	mapping->path = view + offsetof(struct file_key, path);
}

struct file_state *seen_files_state(struct seen_files *files, u32 file)
{
	return &files->states.items[file - 1];
}

u64 seen_files_place(const struct seen_files *files, u32 file, u64 file_offset, u64 bytes)
{
	const u64 room = 1ULL << ROOM_BITS;

	if (!files->states.items[file - 1].is_placed || file > PLACED_FILES_MAX || bytes > room ||
	    file_offset > room - bytes)
		return 0;
	return first_place + file * room + file_offset;
}

bool seen_files_at_place(const struct seen_files *files, u64 place, u32 *ret_file,
			 u64 *ret_file_offset)
{
	u64 file = place < first_place ? 0 : (place - first_place) >> ROOM_BITS;

	if (!file || file > PLACED_FILES_MAX || file > files->states.count)
		return false;
	*ret_file = (u32)file;
	*ret_file_offset = place & ((1ULL << ROOM_BITS) - 1);
	return true;
}

void seen_files_count(struct seen_files *files, u32 file)
{
	files->states.items[file - 1].is_counted = true;
}

static void move(struct seen_files *from, u32 file, struct seen_files *to)
{
	struct file_state *old = seen_files_state(from, file);
	struct mapping mapping = {0};

	seen_files_fill(from, file, &mapping);
	old->next = seen_files_add(to, &mapping);
	seen_files_state(to, old->next)->is_told = old->is_told;
	seen_files_state(to, old->next)->is_overwritten = old->is_overwritten;
	seen_files_state(to, old->next)->checked = old->checked;
}

void seen_files_compact(struct seen_files *files, struct seen_files *ret_old)
{
	struct seen_files kept = {0};

	for (u32 file = 1; file <= files->states.count; file++)
		if (files->states.items[file - 1].is_counted)
			move(files, file, &kept);
	*ret_old = *files;
	*files = kept;
}

void seen_files_release(struct seen_files *files)
{
	intern_release(&files->keys);
	vec_release(&files->states);
}
