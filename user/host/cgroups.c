/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds cgroups in the mounted hierarchies.
 */
#include "host/cgroups.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Folders that may be the cgroup, the likeliest first. */
struct candidates {
	VEC(char *) paths;
};

static void candidates_release(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->paths.count; i++)
		free(candidates->paths.items[i]);
	vec_release(&candidates->paths);
}

static void endmntentp(FILE **file)
{
	if (*file)
		endmntent(*file);
}

/* Whether it is of cgroup v2, or of v1 with the perf_event controller. */
static bool is_mount_of(const struct mntent *mount, bool is_v2)
{
	return is_v2 ? !strcmp(mount->mnt_type, "cgroup2")
		     : !strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, "perf_event");
}

/* `path` below the mounts of one kind. */
static void add_mounts(struct candidates *candidates, const char *path, bool is_v2)
{
	CLEANUP(endmntentp) FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;

	while (mounts && (mount = getmntent(mounts))) {
		if (is_mount_of(mount, is_v2))
			*vec_add(&candidates->paths) = must_format("%s/%s", mount->mnt_dir,
								   path + strspn(path, "/"));
	}
}

/* The kernel's id of a v2 cgroup is its file handle; the inode number on 64-bit machines. */
static u64 cgroup_id(int fd, u64 inode)
{
	union {
		struct file_handle handle;
		u8 bytes[sizeof(struct file_handle) + sizeof(u64)];
	} space = {.handle = {.handle_bytes = sizeof(u64)}};
	int mount_id;
	u64 id;

	if (name_to_handle_at(fd, "", &space.handle, &mount_id, AT_EMPTY_PATH) ||
	    space.handle.handle_bytes != sizeof(id))
		return inode;
	memcpy(&id, space.handle.f_handle, sizeof(id));
	return id;
}

static int open_folder(const char *path, struct cgroup *ret_cgroup)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs filesystem;
	struct stat status;

	if (fd < 0 || fstatfs(fd, &filesystem) || fstat(fd, &status))
		return -errno;
	if (filesystem.f_type != CGROUP2_SUPER_MAGIC && filesystem.f_type != CGROUP_SUPER_MAGIC)
		return -ENOTTY;
	ret_cgroup->is_v2 = filesystem.f_type == CGROUP2_SUPER_MAGIC;
	ret_cgroup->id = ret_cgroup->is_v2 ? cgroup_id(fd, status.st_ino) : status.st_ino;
	ret_cgroup->fd = fd;
	fd = -1;
	return 0;
}

int cgroup_open(const char *path, struct cgroup *ret_cgroup)
{
	CLEANUP(candidates_release) struct candidates candidates = {0};
	int error = -ENOENT;

	add_mounts(&candidates, path, true);
	add_mounts(&candidates, path, false);
	if (candidates.paths.count == 0)
		return fail_plain(-ENOENT, "mount -t cgroup2 none /sys/fs/cgroup",
				  "no cgroup hierarchy is mounted");
	if (path[0] == '/')
		*vec_add(&candidates.paths) = must_copy(path);
	for (size_t i = 0; i < candidates.paths.count; i++) {
		int result = open_folder(candidates.paths.items[i], ret_cgroup);

		if (!result)
			return 0;
		if (result != -ENOENT) /* the most telling reason */
			error = result;
	}
	if (error == -ENOTTY)
		return fail_plain(-EINVAL, "give its path below the mount of cgroups",
				  "%s is not a cgroup", path);
	return fail(error, "give its path below the mount of cgroups", "cannot open cgroup %s",
		    path);
}

/* --- all of them --- */

static char *first_mount(bool is_v2)
{
	CLEANUP(endmntentp) FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;

	while (mounts && (mount = getmntent(mounts)))
		if (is_mount_of(mount, is_v2))
			return must_copy(mount->mnt_dir);
	return NULL;
}

enum cgroup_tree cgroup_tree_find(char **ret_folder)
{
	enum cgroup_tree tree = CGROUP_TREE_V1;
	char *folder = first_mount(false);

	if (!folder) {
		tree = CGROUP_TREE_V2;
		folder = first_mount(true);
	}
	if (!folder)
		return CGROUP_TREE_NONE;
	*ret_folder = folder;
	return tree;
}

static bool is_child(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0;
}

void cgroups_walk(const char *folder, void (*take)(void *context, u64 id, const char *path),
		  void *context)
{
	struct candidates waiting = {0};
	struct stat status;

	if (stat(folder, &status))
		return;
	take(context, status.st_ino, "/");
	*vec_add(&waiting.paths) = must_copy("");
	while (waiting.paths.count) {
		CLEANUP(freep) char *path = waiting.paths.items[--waiting.paths.count];
		CLEANUP(freep) char *whole = must_format("%s%s", folder, path);
		CLEANUP(closedirp) DIR *directory = opendir(whole);
		const struct dirent *entry;

		while (directory && (entry = readdir(directory))) {
			if (!is_child(entry))
				continue;
			*vec_add(&waiting.paths) = must_format("%s/%s", path, entry->d_name);
			take(context, entry->d_ino, waiting.paths.items[waiting.paths.count - 1]);
		}
	}
	candidates_release(&waiting);
}
