/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the file of a mapping.
 *
 * A mapping is told after the fact, so its file may be gone or replaced by then. Three ways lead to
 * it, tried from the surest: the mapping itself while the process lives (also a deleted file), the
 * path below the process's root, and the path as we see it. What they lead to, also the first, as
 * another file may be mapped there by then, must have the mapping's inode and device, and its
 * generation as far as the file system tells it: inodes are used again within milliseconds. (The
 * device numbers of stat differ from those of mappings on btrfs and overlayfs: there the first two
 * ways must do without, and the last, which may be in another mount namespace, leads nowhere.)
 */
#include "host/mapped_file.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "host/proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum {
	PREFIX_BYTES = 32, /* "/proc/self/fd/N" */
	NS_PER_S = 1000000000,
};

static bool is_same_device(const struct mapping *mapping, const struct stat *status)
{
	return major(status->st_dev) == mapping->major && minor(status->st_dev) == mapping->minor;
}

int mapped_file_generation(int fd, u32 *ret_generation)
{
	/* The kernel writes an int, whatever the request's number says. */
	long generation = 0;

	if (ioctl(fd, FS_IOC_GETVERSION, &generation))
		return -errno;
	*ret_generation = (u32)generation;
	return 0;
}

/* Whether stat() may tell another device of the file than its mappings have. */
static bool has_two_devices(int fd)
{
	struct statfs filesystem;

	return !fstatfs(fd, &filesystem) && (filesystem.f_type == OVERLAYFS_SUPER_MAGIC ||
					     filesystem.f_type == BTRFS_SUPER_MAGIC);
}

static bool has_generation(int fd, u32 generation)
{
	u32 found = 0;

	return !generation || mapped_file_generation(fd, &found) || found == generation;
}

/* Whether the file is the mapping's. Sets ret_status. */
static bool is_same(int fd, const struct mapping *mapping, enum mapped_match match,
		    struct stat *ret_status)
{
	bool is_comparable;

	if (fstat(fd, ret_status))
		return false;
	if (!mapping->inode) /* told by its build id only */
		return match == MATCH_PLACE;
	is_comparable = is_same_device(mapping, ret_status);
	if (!is_comparable && !has_two_devices(fd))
		return false;
	if (ret_status->st_ino != mapping->inode)
		return match == MATCH_PLACE && !is_comparable;
	return has_generation(fd, mapping->inode_generation);
}

/* The descriptor if its file is the mapping's, else -ESTALE, and it is closed. */
static int keep_if_same(int fd, const struct mapping *mapping, enum mapped_match match,
			struct stat *ret_status)
{
	if (is_same(fd, mapping, match, ret_status))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Where the mapping of code that begins at `start` ends now; 0: there is none among the first ones,
 * as a process may have as many before it as it likes. */
static u64 end_of_mapping(const char *process, u64 start)
{
	enum { MAPS_BYTES = 64 << 10 };
	CLEANUP(freep) char *maps = must_format("%s/maps", process), *text = NULL;
	char path[MAPS_PATH_BYTES];
	struct mapping found = {0};
	struct bytes left = {0};
	int more;

	if (file_read_start(maps, MAPS_BYTES, &text, &left.length))
		return 0;
	left.start = (const u8 *)text;
	do
		more = proc_maps_next(&left, 0, path, &found);
	while (more == 1 && found.start < start);
	return more == 1 && found.start == start ? found.start + found.bytes : 0;
}

static char *link_to(const char *process, u64 start, u64 end)
{
	return must_format("%s/map_files/%" PRIx64 "-%" PRIx64, process, start, end);
}

/* The link to what the process has mapped where the mapping begins, the caller's to free. It may be
 * shorter than the kernel has told: of the first segment of a file it says how much all of them
 * take, and cuts it then. */
static char *link_of(const char *process, const struct mapping *mapping)
{
	char *path = link_to(process, mapping->start, mapping->start + mapping->bytes);
	struct stat status;
	u64 end;

	if (!lstat(path, &status) || errno != ENOENT)
		return path;
	end = end_of_mapping(process, mapping->start);
	if (!end)
		return path;
	free(path);
	return link_to(process, mapping->start, end);
}

static int open_mapping_itself(const char *process, const struct mapping *mapping,
			       enum mapped_match match, struct stat *ret_status)
{
	CLEANUP(freep) char *path = link_of(process, mapping);
	int fd, error = open_below("", path, LINKS_FOLLOWED, &fd);

	return error ? error : keep_if_same(fd, mapping, match, ret_status);
}

/* What a path leads to, if that is the mapping's file. */
static int open_if_same(const char *root, const struct mapping *mapping, struct stat *ret_status)
{
	int fd, error = open_below(root, mapping->path, LINKS_FOLLOWED, &fd);

	return error ? error : keep_if_same(fd, mapping, MATCH_INODE, ret_status);
}

int mapped_file_open(int folder, const struct mapping *mapping, enum mapped_match match,
		     struct stat *ret_status)
{
	CLEANUP(freep) char *root = NULL;
	char process[PREFIX_BYTES];
	int fd;

	if (folder < 0)
		snprintf(process, sizeof(process), "/proc/%u", mapping->pid);
	else
		snprintf(process, sizeof(process), "/proc/self/fd/%d", folder);
	fd = open_mapping_itself(process, mapping, match, ret_status);
	if (fd >= 0 || mapping->path[0] != '/')
		return fd;
	root = must_format("%s/root", process);
	fd = open_if_same(root, mapping, ret_status);
	if (fd >= 0)
		return fd;
	fd = open_if_same("", mapping, ret_status);
	if (fd >= 0 && !is_same_device(mapping, ret_status)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static struct file_stamp stamp_of(const struct stat *status)
{
	return (struct file_stamp){
		.inode = status->st_ino,
		.changed_ns = (u64)status->st_ctim.tv_sec * NS_PER_S + (u64)status->st_ctim.tv_nsec,
	};
}

/* Whoever writes into a file that was changed just now may leave it with the same time. */
static bool is_settled(const struct file_stamp *stamp)
{
	return stamp->changed_ns + NS_PER_S < clock_ns(CLOCK_REALTIME);
}

/* Whether the file that is mapped there is as it was. Returns 1, 0 or a negative errno. */
static int is_as_checked(const char *process, const struct mapping *mapping,
			 const struct file_stamp *checked)
{
	CLEANUP(freep) char *link = NULL;
	struct file_stamp stamp;
	struct stat status;

	if (!checked->changed_ns)
		return 0;
	link = link_of(process, mapping);
	if (stat(link, &status))
		return -errno;
	stamp = stamp_of(&status);
	return stamp.inode == checked->inode && stamp.changed_ns == checked->changed_ns;
}

int mapped_file_is_overwritten(const struct mapping *mapping, struct id_reader reader,
			       struct file_stamp *checked)
{
	CLEANUP(closep) int fd = -1;
	char process[PREFIX_BYTES];
	struct build_id id = {0};
	struct file_stamp stamp;
	struct stat status = {0};
	int error, known;

	snprintf(process, sizeof(process), "/proc/%u", mapping->pid);
	known = is_as_checked(process, mapping, checked);
	if (known)
		return known < 0 ? known : 0;
	fd = open_mapping_itself(process, mapping, MATCH_PLACE, &status);
	if (fd < 0)
		return fd;
	stamp = stamp_of(&status);
	if (!is_settled(&stamp))
		stamp = (struct file_stamp){0};
	error = id_reader_ask(&reader, fd, &id);
	if (error && error != -ENODATA && error != -EBADMSG)
		return error;
	if (!build_id_is(&id, mapping->build_id, mapping->build_id_bytes))
		return 1;
	*checked = stamp;
	return 0;
}
