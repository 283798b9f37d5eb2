/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose the folder of a cache of names is.
 */
#include "symbolize/names_cache_files.h"

#include "base/fail.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_BITS = 0700 };

/* Whether what is made in a folder of this owner will be where it belongs: root does not leave its
 * files in other people's homes. */
static bool may_make_in(uid_t owner)
{
	return owner == geteuid() || !owner;
}

int names_folder_make(char *path)
{
	char *last = strrchr(path, '/');
	struct stat status = {0};
	int error = 0;

	if (!stat(path, &status))
		return may_make_in(status.st_uid) ? 0 : -EPERM;
	if (errno != ENOENT)
		return -errno;
	if (last && last != path) {
		*last = 0;
		error = names_folder_make(path);
		*last = '/';
	}
	if (!error && mkdir(path, FOLDER_BITS) && errno != EEXIST)
		error = -errno;
	return error;
}

uid_t names_folder_owner(const char *path)
{
	struct stat status;

	return stat(path, &status) ? geteuid() : status.st_uid;
}

int names_folder_refuse(const char *path, bool is_read_only, int error)
{
	if (error == -EPERM && is_read_only)
		return fail_plain(error, "give them to the owner of the store, and nobody else",
				  "the names in %s may be another user's", path);
	if (error == -EPERM)
		return fail_plain(error, "name another folder, or use it as its owner",
				  "the names in %s are another user's", path);
	return fail(error, NULL, "cannot %s names in %s", is_read_only ? "read the" : "keep", path);
}
