/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which addresses the parts of an ELF file were linked for.
 */
#ifndef BINARY_LOAD_MAP_H
#define BINARY_LOAD_MAP_H

#include "base/vec.h"
#include "bpfprof/types.h"

struct load_part {
	u64 offset, address, bytes;
};

struct load_map {
	VEC(struct load_part) parts; /* those with code first */
};

/* Reads the program headers of a file. The map is appended to; load_map_release() it, also after an
 * error. Returns 0 or -EBADMSG (not ELF, or malformed), without a sentence. */
int load_map_read(int fd, struct load_map *map);
/* The linked address of a file offset, ~0 if nothing of it is loaded. */
u64 load_map_address(const struct load_map *map, u64 offset);
/* Frees; harmless on a zeroed struct. For CLEANUP too. */
void load_map_release(struct load_map *map);

#endif
