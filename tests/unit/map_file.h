/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A whole file in memory, for tests that have a path.
 */
#ifndef TESTS_MAP_FILE_H
#define TESTS_MAP_FILE_H

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>

/* As file_map_fd(). */
static inline int map_file(const char *path, struct bytes *ret_bytes)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : file_map_fd(fd, ret_bytes);
}

#endif
