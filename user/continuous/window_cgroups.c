/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table by id.
 */
#include "continuous/window_cgroups.h"

#include <string.h>

static struct window_cgroup *row_made(struct window_cgroups *cgroups, u64 id, u32 *ret_row)
{
	u32 *place = idmap_place(&cgroups->row_of, id);

	if (!*place) {
		*vec_add(&cgroups->rows) = (struct window_cgroup){.id = id};
		*place = (u32)cgroups->rows.count;
	}
	*ret_row = *place;
	return &cgroups->rows.items[*place - 1];
}

void window_cgroups_tell(struct window_cgroups *cgroups, const struct cgroup_name *name)
{
	u32 number;
	struct window_cgroup *row = row_made(cgroups, name->id, &number);

	row->is_told = true;
	if (row->path && !strcmp(row->path, name->path))
		return;
	cgroups->path_bytes += strlen(name->path) - (row->path ? strlen(row->path) : 0);
	free(row->path);
	row->path = must_copy(name->path);
}

u32 window_cgroups_need(struct window_cgroups *cgroups, u64 id)
{
	u32 row = 0;

	if (id)
		row_made(cgroups, id, &row)->has_sample = true;
	return row;
}

u64 window_cgroups_id(const struct window_cgroups *cgroups, u32 row)
{
	return row ? cgroups->rows.items[row - 1].id : 0;
}

void window_cgroups_turn(struct window_cgroups *cgroups)
{
	size_t kept = 0;

	idmap_release(&cgroups->row_of);
	cgroups->path_bytes = 0;
	for (size_t i = 0; i < cgroups->rows.count; i++) {
		struct window_cgroup row = cgroups->rows.items[i];

		if (!row.is_told) {
			free(row.path);
			continue;
		}
		row.is_told = row.has_sample = false;
		cgroups->path_bytes += strlen(row.path);
		cgroups->rows.items[kept++] = row;
		*idmap_place(&cgroups->row_of, row.id) = (u32)kept;
	}
	cgroups->rows.count = kept;
}

u64 window_cgroups_bytes(const struct window_cgroups *cgroups)
{
	return cgroups->rows.count * (sizeof(struct window_cgroup) + sizeof(struct idmap_slot)) +
	       cgroups->path_bytes;
}

void window_cgroups_release(struct window_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->rows.count; i++)
		free(cgroups->rows.items[i].path);
	vec_release(&cgroups->rows);
	idmap_release(&cgroups->row_of);
	cgroups->path_bytes = 0;
}
