/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The limit of a cache of names.
 */
#include "symbolize/names_cache_files.h"

#include "base/memory.h"
#include "base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	NS_PER_S = 1000000000,
	BLOCK_BYTES = 512,    /* stat(2): st_blocks */
	LEFT_BEHIND_S = 3600, /* after which nobody writes to a temporary file any more */
};

struct cached_file {
	char *path;
	u64 used_ns, bytes;
};

struct cached_files {
	VEC(struct cached_file) items;
	u64 bytes;
};

static void add_file(int folder, const char *path, bool is_temporary, struct cached_files *files)
{
	struct stat status;

	if (fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return;
	if (is_temporary && time(NULL) - status.st_mtime > LEFT_BEHIND_S)
		unlinkat(folder, path, 0);
	if (is_temporary)
		return;
	files->bytes += (u64)status.st_blocks * BLOCK_BYTES;
	*vec_add(&files->items) = (struct cached_file){
		.path = must_copy(path),
		.used_ns = (u64)status.st_mtim.tv_sec * NS_PER_S + (u64)status.st_mtim.tv_nsec,
		.bytes = (u64)status.st_blocks * BLOCK_BYTES,
	};
}

/* The names below one of the folders for two digits. */
static void list_folder(int folder, const char *name, struct cached_files *files)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(closedirp) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory) {
		closep(&fd);
		return;
	}
	while ((entry = readdir(directory))) {
		CLEANUP(freep) char *path = must_format("%s/%s", name, entry->d_name);

		add_file(folder, path, entry->d_name[0] == '.', files);
	}
}

static int compare_use(const void *a, const void *b)
{
	const struct cached_file *first = a, *second = b;

	return (first->used_ns > second->used_ns) - (first->used_ns < second->used_ns);
}

void names_cache_trim(int folder, u64 max_bytes)
{
	struct cached_files files = {0};

	for (unsigned int i = 0; i < 256; i++) {
		char name[3];

		snprintf(name, sizeof(name), "%02x", i);
		list_folder(folder, name, &files);
	}
	if (files.items.count)
		qsort(files.items.items, files.items.count, sizeof(*files.items.items),
		      compare_use);
	for (size_t i = 0; i < files.items.count && files.bytes > max_bytes; i++) {
		unlinkat(folder, files.items.items[i].path, 0);
		files.bytes -= files.items.items[i].bytes;
	}
	for (size_t i = 0; i < files.items.count; i++)
		free(files.items.items[i].path);
	vec_release(&files.items);
}
