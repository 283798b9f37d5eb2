/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds a cgroup in the mounted hierarchies.
 */
#include "host/cgroups.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"

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

/* `path` below the mounts of one kind: cgroup v2, or v1 with the perf_event controller. */
static void add_mounts(struct candidates *candidates, const char *path, bool is_v2)
{
	CLEANUP(endmntentp) FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;

	while (mounts && (mount = getmntent(mounts))) {
		bool fits = is_v2 ? !strcmp(mount->mnt_type, "cgroup2")
				  : !strcmp(mount->mnt_type, "cgroup") &&
					    hasmntopt(mount, "perf_event");

		if (fits)
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
