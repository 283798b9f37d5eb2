/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may read a store: its folder says it, and files follow. Nobody but its owner, unless there is
 * a group for it or an administrator gave the folder to another one.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "continuous/store_state.h"

#include <errno.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOT_GROUP = 0, OWNER_ONLY = 0700, GROUP_READS = 0750, INHERITED = S_ISGID };

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
	if (group && folder.st_gid == group->gr_gid && folder.st_mode & S_IRGRP)
		return;
	if (is_chosen(&folder) && !(group && folder.st_gid == group->gr_gid))
		return;
	if (group && !give_to_group(store->directory, group->gr_gid))
		return;
	/* What others may do by now was nobody's choice but that of an older version. */
	(void)!chmod(store->directory, OWNER_ONLY);
}

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
