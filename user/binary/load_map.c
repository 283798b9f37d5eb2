/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From file offsets to linked addresses, by program headers.
 */
#include "binary/load_map.h"

#include "base/memory.h"

#include <errno.h>
#include <gelf.h>

enum { PARTS_MAX = 4096 };

/* Those that are executable (PF_X), or not (0). */
static void add_parts(Elf *elf, size_t count, u32 executable, struct load_map *map)
{
	GElf_Phdr header;

	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++)
		if (header.p_type == PT_LOAD && (header.p_flags & PF_X) == executable)
			*vec_add(&map->parts) = (struct load_part){header.p_offset, header.p_vaddr,
								   header.p_filesz};
}

int load_map_read(int fd, struct load_map *map)
{
	size_t count = 0;
	Elf *elf;
	int error;

	elf_version(EV_CURRENT);
	/* Read, not mapped: who cuts the file short meanwhile does no harm. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	error = elf && !elf_getphdrnum(elf, &count) && count <= PARTS_MAX ? 0 : -EBADMSG;
	if (!error) {
		add_parts(elf, count, PF_X, map);
		add_parts(elf, count, 0, map);
	}
	elf_end(elf);
	return error;
}

u64 load_map_address(const struct load_map *map, u64 offset)
{
	for (size_t i = 0; i < map->parts.count; i++) {
		const struct load_part *part = &map->parts.items[i];

		if (offset - part->offset < part->bytes)
			return part->address + (offset - part->offset);
	}
	return ~(u64)0;
}

void load_map_release(struct load_map *map)
{
	vec_release(&map->parts);
}
