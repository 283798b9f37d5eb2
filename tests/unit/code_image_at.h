/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code of a file by its path, which has to be there.
 */
#ifndef UNIT_CODE_IMAGE_AT_H
#define UNIT_CODE_IMAGE_AT_H

#include "base/file.h"
#include "base/memory.h"
#include "binary/code_image.h"
#include "unit/unit.h"

#include <fcntl.h>

static inline struct code_image code_image_at(const char *path)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct code_image image;

	assert_int_equal(code_image_read(fd, &image), 0);
	return image;
}

#endif
