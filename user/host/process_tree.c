/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is whose child, by /proc/PID/stat.
 */
#include "host/process_tree.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The parent of a process, 0 if it has none or is gone. */
static u32 parent_of(u32 pid)
{
	CLEANUP(freep) char *path = must_format("/proc/%u/stat", pid);
	CLEANUP(freep) char *text = NULL;
	const char *behind_name;

	if (file_read(path, 4096, &text, NULL))
		return 0;
	behind_name = strrchr(text, ')'); /* then the state and the parent: ") S 1" */
	return behind_name && strlen(behind_name) > 4 ? (u32)strtoul(behind_name + 4, NULL, 10) : 0;
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
