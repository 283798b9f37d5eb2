/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Few processes make code: a list will do.
 */
#include "cmd/jit_maps.h"

#include "base/file.h"
#include "symbolize/symbolize.h"

#include <errno.h>

enum { OPEN_MAX = 256 };

int jit_map_of(struct jit_maps *maps, u32 pid)
{
	struct jit_map *map = NULL;

	for (size_t i = 0; i < maps->items.count && !map; i++)
		if (maps->items.items[i].pid == pid)
			map = &maps->items.items[i];
	if (!map && maps->items.count >= OPEN_MAX)
		return -EMFILE;
	if (!map) {
		map = vec_add(&maps->items);
		*map = (struct jit_map){.pid = pid, .fd = -1};
	}
	/* It may have been written since. */
	if (map->fd < 0)
		map->fd = perf_map_open(pid);
	return map->fd;
}

int jit_map_take(struct jit_maps *maps, u32 pid)
{
	int fd = jit_map_of(maps, pid);

	for (size_t i = 0; i < maps->items.count; i++)
		if (maps->items.items[i].pid == pid) {
			maps->items.items[i] = maps->items.items[--maps->items.count];
			return fd;
		}
	return perf_map_open(pid);
}

void jit_maps_release(struct jit_maps *maps)
{
	for (size_t i = 0; i < maps->items.count; i++)
		closep(&maps->items.items[i].fd);
	vec_release(&maps->items);
}
