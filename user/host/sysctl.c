/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers below /proc/sys.
 */
#include "host/sysctl.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>

enum { SYSCTL_BYTES = 4096 };

int sysctl_read(const char *name, long *ret_value)
{
	CLEANUP(freep) char *path = must_format("/proc/sys/%s", name);
	CLEANUP(freep) char *text = NULL;
	int error = file_read(path, SYSCTL_BYTES, &text, NULL);
	char *end;
	long value;

	if (error)
		return error;
	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || (*end && *end != '\n') || errno)
		return -EBADMSG;
	*ret_value = value;
	return 0;
}
