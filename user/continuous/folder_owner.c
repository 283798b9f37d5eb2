/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Root writes into no folder in which another user decides what a name leads to.
 */
#include "continuous/folder_owner.h"

#include "base/fail.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted(const struct stat *file)
{
	return !file->st_uid || file->st_uid == geteuid();
}

int folder_check_owner(const char *directory, const char *remedy)
{
	struct stat name, folder;

	/* a link can be turned elsewhere by whose it is */
	if (lstat(directory, &name) || stat(directory, &folder))
		return fail(-errno, NULL, "cannot look at %s", directory);
	if (is_trusted(&name) && is_trusted(&folder))
		return 0;
	return fail_plain(-EPERM, remedy,
			  "%s is user %u's, who could have files of others written over", directory,
			  is_trusted(&name) ? folder.st_uid : name.st_uid);
}
