/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * By /proc/PID/status and /proc/PID/stat.
 */
#include "host/process_tree.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"
#include "host/process_stat.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STAT_BYTES = 4096, STATUS_BYTES = 65536 };

u32 process_of_thread(u32 tid)
{
	static const char label[] = "\nTgid:";
	CLEANUP(freep) char *path = must_format("/proc/%u/status", tid);
	CLEANUP(freep) char *text = NULL;
	const char *line;

	if (file_read(path, STATUS_BYTES, &text, NULL))
		return 0;
	line = strstr(text, label);
	return line ? (u32)strtoul(line + strlen(label), NULL, 10) : 0;
}

/* The parent of a process, 0 if it has none or is gone. */
static u32 parent_of(u32 pid)
{
	CLEANUP(freep) char *path = must_format("/proc/%u/stat", pid);
	CLEANUP(freep) char *text = NULL;
	struct process_stat stat;

	return file_read(path, STAT_BYTES, &text, NULL) || process_stat_parse(text, &stat)
		       ? 0
		       : stat.parent;
}

int processes_parents(struct process_parent **ret_rows, size_t *ret_count)
{
	CLEANUP(closedirp) DIR *proc = opendir("/proc");
	VEC(struct process_parent) rows = {0};
	const struct dirent *entry;
	u32 pid;

	if (!proc)
		return fail(-errno, "mount proc on /proc", "cannot see which processes run");
	while ((entry = readdir(proc)))
		if (!number_parse_u32(entry->d_name, &pid))
			*vec_add(&rows) = (struct process_parent){pid, parent_of(pid)};
	*ret_rows = rows.items;
	*ret_count = rows.count;
	return 0;
}

size_t processes_descending(struct process_parent *rows, size_t count, struct idmap *family)
{
	size_t found = 0, before;

	do {
		before = found;
		for (size_t i = found; i < count; i++) {
			struct process_parent row = rows[i];

			if (!idmap_get(family, row.parent) || idmap_get(family, row.pid))
				continue;
			*idmap_place(family, row.pid) = 1;
			rows[i] = rows[found];
			rows[found++] = row;
		}
	} while (found > before);
	return found;
}
