/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The build id of a file, for tests that have a path.
 */
#ifndef UNIT_BUILD_ID_AT_H
#define UNIT_BUILD_ID_AT_H

#include "base/memory.h"
#include "binary/binary.h"

#include <errno.h>
#include <fcntl.h>

/* As build_id_of_fd(). */
static inline int build_id_at(const char *path, struct build_id *ret_id)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : build_id_of_fd(fd, ret_id);
}

#endif
