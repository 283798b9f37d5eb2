/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A made-up sysfs with PMUs, in a folder of its own.
 */
#ifndef UNIT_CAPTURE_SYSFS_H
#define UNIT_CAPTURE_SYSFS_H

#include "base/file.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is in it: paths below bus/event_source/devices/. Each test has its own. */
struct sysfs_file {
	const char *path, *text;
};

/* Its folder, from sysfs_make() on. */
static char root[] = "/tmp/bpfprof_sysfs.XXXXXX";

static inline void sysfs_make_folders(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* Returns 0, or -1 if it cannot be made. */
static inline int sysfs_make(const struct sysfs_file *files, size_t count)
{
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < count; i++) {
		CLEANUP(freep)
		char *path = must_format("%s/bus/event_source/devices/%s", root, files[i].path);

		sysfs_make_folders(path);
		CLEANUP(closep) int fd = open(path, O_WRONLY | O_CREAT, 0600);

		if (file_write_all(fd, files[i].text, strlen(files[i].text)))
			return -1;
	}
	return 0;
}

static inline int sysfs_remove_one(const char *path, const struct stat *status, int kind,
				   struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

/* A tear-down of cmocka's. */
static inline int sysfs_remove(void **state)
{
	(void)state;
	return nftw(root, sysfs_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
