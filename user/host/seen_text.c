/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small files that stay open.
 */
#include "host/seen_text.h"

#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void seen_text_open(struct seen_text *seen, const char *path)
{
	seen->fd = open(path, O_RDONLY | O_CLOEXEC);
	seen->length = -1;
}

bool seen_text_changed(struct seen_text *seen)
{
	char text[ATTRIBUTE_BYTES];
	ssize_t length = pread(seen->fd, text, sizeof(text), 0);

	if (length > 0 && length == seen->length && !memcmp(text, seen->text, (size_t)length))
		return false;
	seen->length = length;
	if (length > 0)
		memcpy(seen->text, text, (size_t)length);
	return true;
}

void seen_text_close(struct seen_text *seen)
{
	closep(&seen->fd);
}
