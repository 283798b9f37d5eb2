/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/self/statm and /proc/self/fdinfo. Source: proc(5).
 */
#include "host/own_memory.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

enum { TEXT_MAX_BYTES = 64 << 10 };

u64 own_resident_bytes(void)
{
	CLEANUP(freep) char *text = NULL;
	const char *second;

	if (file_read("/proc/self/statm", TEXT_MAX_BYTES, &text, NULL))
		return 0;
	second = strchr(text, ' ');
	return second ? strtoull(second, NULL, 10) * (u64)sysconf(_SC_PAGESIZE) : 0;
}

u64 bpf_map_bytes(const char *fdinfo)
{
	static const char word[] = "memlock:";
	const char *found = strstr(fdinfo, "map_type:") ? strstr(fdinfo, word) : NULL;

	return found ? strtoull(found + strlen(word), NULL, 10) : 0;
}

u64 own_bpf_bytes(void)
{
	CLEANUP(closedirp) DIR *folder = opendir("/proc/self/fdinfo");
	const struct dirent *row;
	u64 bytes = 0;

	while (folder && (row = readdir(folder))) {
		CLEANUP(freep) char *path = must_format("/proc/self/fdinfo/%s", row->d_name);
		CLEANUP(freep) char *text = NULL;

		if (!file_read(path, TEXT_MAX_BYTES, &text, NULL))
			bytes += bpf_map_bytes(text);
	}
	return bytes;
}
