/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF image in memory, opened through libelf: its sections and what of it is loaded where.
 * Private to binary/.
 */
#ifndef BINARY_ELF_FILE_H
#define BINARY_ELF_FILE_H

#include "base/cursor.h"
#include "bpfprof/types.h"

#include <gelf.h>
#include <stdbool.h>

/* One section header, and what its name tells. */
struct elf_section {
	const char *name; /* borrowed from the image; "" if it has none */
	u64 flags, address, offset, bytes, entry_bytes;
	u32 type, link, alignment;
};

/* A PT_LOAD header. */
struct elf_segment {
	u64 address, memory_bytes, offset, file_bytes;
};

struct elf_file {
	Elf *elf;
	u16 machine, type; /* EM_…, ET_… */
	bool is_swapped;   /* of the other byte order */
	struct elf_section *sections;
	u32 section_count; /* the first is the null section */
	struct elf_segment *segments;
	u32 segment_count;
};

/* Opens an image, which must outlive the file. Returns 0 or -EBADMSG. */
int elf_file_open(struct bytes image, struct elf_file *ret_file);
/* Closes; harmless on a zeroed struct. For CLEANUP. */
void elf_file_close(struct elf_file *file);

/* The first section of this type or (type SHT_NULL) name; NULL if there is none. */
const struct elf_section *elf_file_section(const struct elf_file *file, u32 type, const char *name);
/* The contents of a section as they are in the file; length 0 if they are not there. Borrowed. */
struct bytes elf_file_contents(const struct elf_file *file, const struct elf_section *section);
/* The same in this machine's byte order and with its alignment, NULL if not there. Borrowed. */
Elf_Data *elf_file_table(const struct elf_file *file, const struct elf_section *section);

/* The file offset of a virtual address; `section` (may be NULL) helps where no segment holds it. */
u64 elf_file_offset(const struct elf_file *file, u64 address, const struct elf_section *section);

#endif
