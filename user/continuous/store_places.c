/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The store's folders, and what lies in the place of one, or of a file, that is something else.
 *
 * Nobody but a person put it there, so it is left alone, and told with what can be done.
 */
#include "continuous/store_state.h"

#include "base/fail.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const char *store_remedy(int error)
{
	return error == -ENOSPC || error == -EDQUOT
		       ? "make room"
		       : "let the user who runs the daemon write there";
}

/* Whoever may read files may look for them. */
static mode_t folder_mode(const struct store *store)
{
	u32 files = store_file_mode(store->directory);

	return files | (files & 0444) >> 2;
}

int store_make_folder(const struct store *store, const char *path)
{
	if (!mkdir(path, folder_mode(store)) || errno == EEXIST)
		return 0;
	return fail(-errno, store_remedy(-errno), "cannot make %s", path);
}

int store_refuse_other_than_folder(const char *path)
{
	struct stat status;

	if (stat(path, &status) || S_ISDIR(status.st_mode))
		return 0;
	return fail_plain(-EPROTO, "give another --store, or remove it", "%s is no folder", path);
}

/* Whether it may be in a folder in which a store was not begun, or not to the end. */
static bool is_known_name(const char *name)
{
	static const char *const known[] = {
		".", "..", "lock", "format", "format.new", "push", "lost+found",
	};

	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}

int store_refuse_others_folder(const struct store *store)
{
	CLEANUP(closedirp) DIR *folder = opendir(store->directory);
	const struct dirent *entry;

	if (!folder)
		return fail(-errno, store_remedy(-errno), "cannot read %s", store->directory);
	while ((entry = readdir(folder)))
		if (!is_known_name(entry->d_name))
			return fail_plain(-EPROTO,
					  "give an empty folder, or one that is not there, "
					  "with --store",
					  "%s is no store, and has other files", store->directory);
	return 0;
}

int store_make_day(const struct store *store, const char *path)
{
	struct stat status;
	int error = store_make_folder(store, path);

	if (!error && (stat(path, &status) || !S_ISDIR(status.st_mode)))
		return fail_plain(-ENOTDIR, "remove or rename it", "%s is no folder", path);
	return error;
}

int store_refuse_other_than_file(const char *path)
{
	struct stat status;
	int error = stat(path, &status) ? -errno : 0;

	if (error != -ELOOP && (error || S_ISREG(status.st_mode)))
		return 0;
	return store_refuse_no_file(path);
}

int store_refuse_no_file(const char *path)
{
	return fail_plain(-EPROTO, "remove it", "%s is no file", path);
}
