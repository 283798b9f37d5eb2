/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may read a store: its folder says it, and files follow. Nobody but its owner, unless there is
 * a group for it or an administrator gave the folder to another one.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "continuous/store_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ROOT_GROUP = 0,
	OWNER_ONLY = 0700,
	GROUP_READS = 0750,
	INHERITED = S_ISGID,
	GROUP_READS_FILE = 0640,
};

u32 store_file_mode(const char *directory)
{
	struct stat status;
	bool is_read_by_group = !stat(directory, &status) && status.st_mode & S_IRGRP;

	return is_read_by_group ? 0640 : 0600;
}

static bool is_chosen(const struct stat *folder)
{
	return folder->st_gid != ROOT_GROUP && folder->st_gid != getegid();
}

static bool is_shared(const struct stat *status, gid_t group)
{
	return status->st_gid == group && status->st_mode & S_IRGRP;
}

/* Files that are made in it shall be the group's: the folder hands that on, or we are of it, where
 * a sandbox lets nobody set that bit. */
static int give_to_group(const char *directory, gid_t group)
{
	if (chown(directory, (uid_t)-1, group))
		return -errno;
	if (!chmod(directory, GROUP_READS | INHERITED))
		return 0;
	return group == getegid() ? -chmod(directory, GROUP_READS) : -EPERM;
}

void store_settle_access(const struct store *store)
{
	const struct group *group;
	struct stat folder;

	if (stat(store->directory, &folder) || folder.st_uid != geteuid())
		return;
	group = getgrnam(STORE_GROUP);
	if (group && is_shared(&folder, group->gr_gid))
		return;
	if (is_chosen(&folder) && !(group && folder.st_gid == group->gr_gid))
		return;
	if (group && !give_to_group(store->directory, group->gr_gid))
		return;
	/* What others may do by now was nobody's choice but that of an older version. */
	(void)!chmod(store->directory, OWNER_ONLY);
}

/* --- what is in it ------------------------------------------------------------------------------
 */

static int share_open(int fd, const struct stat *status, gid_t group)
{
	if (fchown(fd, (uid_t)-1, group))
		return -errno;
	if (S_ISREG(status->st_mode))
		return fchmod(fd, GROUP_READS_FILE) ? -errno : 0;
	/* without the bit where a sandbox lets nobody set it */
	return fchmod(fd, GROUP_READS | INHERITED) && fchmod(fd, GROUP_READS) ? -errno : 0;
}

/* Whether it is the store's alone: of ours, and no other name of a file that lies elsewhere. */
static bool may_share(const struct stat *status)
{
	return status->st_uid == geteuid() &&
	       (S_ISDIR(status->st_mode) || (S_ISREG(status->st_mode) && status->st_nlink == 1));
}

/* A file, or all that is in a folder and then that. Goes on behind what cannot be given. */
static int share(int parent, const char *name, gid_t group)
{
	CLEANUP(closep)
	int fd = openat(parent, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	CLEANUP(closedirp) DIR *folder = NULL;
	const struct dirent *entry;
	struct stat status;
	int first_error = 0, error;

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? 0 : -errno;
	if (fstat(fd, &status) || !may_share(&status))
		return 0;
	if (S_ISDIR(status.st_mode))
		folder = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	while (folder && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		error = share(fd, entry->d_name, group);
		first_error = first_error ? first_error : error;
	}
	error = share_open(fd, &status, group);
	return first_error ? first_error : error;
}

void store_share_content(struct store *store)
{
	/* No others: somebody may keep a secret beside them. windows/ tells that all were given. */
	static const char *const names[] = {"format", "lock", "pushes", "names", "windows"};
	CLEANUP(closep) int fd = open(store->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat folder, windows;
	int error = 0;

	if (fd < 0 || fstat(fd, &folder) || folder.st_uid != geteuid() ||
	    folder.st_gid == ROOT_GROUP || !(folder.st_mode & S_IRGRP))
		return;
	if (stat(store->windows, &windows) || is_shared(&windows, folder.st_gid))
		return;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		int one_error = share(fd, names[i], folder.st_gid);

		error = error ? error : one_error;
	}
	if (error)
		store_note(store, "not all of %s can be read by its group: %s", store->directory,
			   strerror(-error));
}

/* --- who may not --------------------------------------------------------------------------------
 */

int store_refuse_reader(const struct store *store)
{
	const struct group *group;
	struct stat folder;
	char number[16];

	if (!stat(store->directory, &folder) && folder.st_mode & S_IRGRP &&
	    folder.st_gid != ROOT_GROUP) {
		group = getgrgid(folder.st_gid);
		snprintf(number, sizeof(number), "%u", folder.st_gid);
		return fail(-EACCES, "run as root, or as a member of the group that may",
			    "cannot read the store %s, which group %s may", store->directory,
			    group ? group->gr_name : number);
	}
	return fail(-EACCES,
		    "run as root; members of a group " STORE_GROUP
		    " may read it if there is one when the daemon starts",
		    "cannot read the store %s", store->directory);
}
