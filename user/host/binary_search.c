/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One place after the other, until a file is accepted.
 */
#include "host/binary_search.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "host/mapped_file.h"
#include "host/proc_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAPS_MAX_BYTES = 64 << 20 };

static const char deleted[] = " (deleted)";

/* A search with its path as the file was called before it went. */
struct looking {
	const struct binary_search *search;
	char *path; /* owned */
	bool is_deleted;
};

static bool has_recorded_id(const struct looking *looking)
{
	return looking->search->build_id_bytes > 0;
}

static int identify(const struct binary_search *search, int fd, struct build_id *ret_id)
{
	return search->identify ? search->identify(search->context, fd, ret_id)
				: build_id_of_fd(fd, ret_id);
}

static bool is_below_symfs(const struct binary_search *search)
{
	return search->symfs && search->symfs[0];
}

/* Whether the file certainly is not the one that was mapped. Where its device has another number
 * than mappings have (btrfs, overlayfs), nobody can tell. */
static bool has_another_inode(const struct looking *looking, int fd)
{
	const struct mapped_inode *mapped = &looking->search->inode;
	struct stat status;
	u32 generation;

	if (!mapped->inode || has_recorded_id(looking) || is_below_symfs(looking->search))
		return false;
	if (fstat(fd, &status) || status.st_dev != makedev(mapped->major, mapped->minor))
		return false;
	if (status.st_ino != mapped->inode)
		return true;
	return mapped->generation && !mapped_file_generation(fd, &generation) &&
	       generation != mapped->generation;
}

/* Takes the file if it is the one that ran. */
static bool try_file(const struct looking *looking, int fd, const char *root)
{
	const struct binary_search *search = looking->search;
	struct found_binary found = {.fd = fd, .root = root, .path = looking->path};
	int error = has_another_inode(looking, fd) ? -ESTALE : identify(search, fd, &found.id);

	if (error == -ENODATA)
		error = 0;
	if (!error && has_recorded_id(looking) &&
	    !build_id_is(&found.id, search->build_id, search->build_id_bytes))
		error = -ESTALE;
	if (error && search->refuse)
		search->refuse(search->context, error == -ESTALE ? error : -EBADMSG);
	return !error && search->accept(search->context, &found);
}

static bool try_path(const struct looking *looking, const char *root, const char *path)
{
	CLEANUP(closep) int fd = -1;

	return !open_below(root, path, LINKS_FOLLOWED, &fd) && try_file(looking, fd, root);
}

/* Whether two links of /proc lead to the same thing. */
static bool is_same(const char *a, const char *b)
{
	struct stat first, second;

	return !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

static bool has_other_files(u32 pid)
{
	CLEANUP(freep) char *root = must_format("/proc/%u/root", pid);
	CLEANUP(freep) char *mounts = must_format("/proc/%u/ns/mnt", pid);

	return access(root, F_OK) == 0 &&
	       !(is_same(root, "/") && is_same(mounts, "/proc/self/ns/mnt"));
}

/* "path" and "path (deleted)" are the same file before and after somebody replaced it. */
static bool is_mapping_of(const struct looking *looking, const char *mapped)
{
	size_t length = strlen(looking->path);

	return !strncmp(mapped, looking->path, length) &&
	       (!mapped[length] || !strcmp(mapped + length, deleted));
}

/* The file itself through the mapping of a living process. */
static bool try_mapped(const struct looking *looking, u32 pid)
{
	CLEANUP(freep) char *maps_path = must_format("/proc/%u/maps", pid);
	CLEANUP(freep) char *root = must_format("/proc/%u/root", pid);
	CLEANUP(freep) char *maps = NULL;
	char path[MAPS_PATH_BYTES];
	struct bytes text;
	struct mapping mapping;
	int found;

	if (file_read(maps_path, MAPS_MAX_BYTES, &maps, &text.length))
		return false;
	text.start = (const u8 *)maps;
	while ((found = proc_maps_next(&text, pid, path, &mapping))) {
		CLEANUP(freep) char *link = NULL;
		CLEANUP(closep) int fd = -1;

		if (found != 1 || !is_mapping_of(looking, path))
			continue;
		link = must_format("/proc/%u/map_files/%llx-%llx", pid,
				   (unsigned long long)mapping.start,
				   (unsigned long long)mapping.start + mapping.bytes);
		if (!open_below("", link, LINKS_FOLLOWED, &fd) && try_file(looking, fd, root))
			return true;
	}
	return false;
}

/* perf keeps copies of what it recorded. */
static bool try_cache(const struct looking *looking)
{
	const struct binary_search *search = looking->search;
	const char *home = getenv("HOME");
	CLEANUP(freep) char *path = NULL;
	struct build_id id = {.length = search->build_id_bytes};
	char text[BUILD_ID_TEXT_BYTES];

	if (!home || !has_recorded_id(looking))
		return false;
	memcpy(id.bytes, search->build_id, search->build_id_bytes);
	build_id_text(&id, text);
	path = must_format("%s/.debug/.build-id/%.2s/%s/%s", home, text, text + 2,
			   search->cache_name);
	return try_path(looking, "", path);
}

static bool look(const struct looking *looking)
{
	const char *symfs = looking->search->symfs;
	u32 pid = looking->search->owner_pid;
	CLEANUP(freep) char *root = must_format("/proc/%u/root", pid);
	bool is_elsewhere = pid != ~0u && has_other_files(pid);
	bool is_first_mapped = (is_elsewhere || looking->is_deleted) && !has_recorded_id(looking);
	bool is_known = has_recorded_id(looking) || looking->search->inode.inode;

	if (looking->search->is_open &&
	    try_file(looking, looking->search->fd, is_elsewhere ? root : ""))
		return true;
	if (is_below_symfs(looking->search))
		return try_path(looking, symfs, looking->path);
	/* Without a build id only the living mapping tells that the pid was not used again. */
	if (is_elsewhere && has_recorded_id(looking) && try_path(looking, root, looking->path))
		return true;
	if (is_first_mapped && try_mapped(looking, pid))
		return true;
	if ((!looking->is_deleted || has_recorded_id(looking)) &&
	    try_path(looking, "", looking->path))
		return true;
	return (is_known && !is_first_mapped && pid != ~0u && try_mapped(looking, pid)) ||
	       try_cache(looking);
}

bool binary_search_run(const struct binary_search *search)
{
	size_t length = strlen(search->path), suffix = sizeof(deleted) - 1;
	bool is_deleted = length > suffix && !strcmp(search->path + length - suffix, deleted);
	struct looking looking = {
		.search = search,
		.path = must_copy_bytes(search->path, is_deleted ? length - suffix : length),
		.is_deleted = is_deleted,
	};
	bool is_found = look(&looking);

	free(looking.path);
	return is_found;
}
