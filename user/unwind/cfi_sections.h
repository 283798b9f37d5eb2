/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an ELF image keeps its call frame information, and which of its addresses are text.
 */
#ifndef UNWIND_CFI_SECTIONS_H
#define UNWIND_CFI_SECTIONS_H

#include "unwind/eh_frame.h"

#include <libelf.h>

enum { CFI_SEGMENTS_MAX = 64 };

/* A piece of the file that is loaded. */
struct cfi_segment {
	u64 address, offset, bytes;
};

struct cfi_sections {
	struct cfi_section eh_frame, debug_frame; /* no bytes: there is none */
	struct cfi_segment text[CFI_SEGMENTS_MAX];
	size_t text_count;
	u64 entry;	/* address of a program's first instruction; 0: it is no program */
	bool is_broken; /* there is a packed section that cannot be unpacked */
	bool is_walked; /* .eh_frame has no section: to find its end, all of it was looked at */
	Elf *elf;	/* these own what the sections point to */
	u8 *unpacked;
};

/*
 * Finds the sections of an image, which must outlive them. .eh_frame is found by its name or, where
 * section headers are missing, by the segment that leads to it.
 *
 * ret_sections  cfi_sections_close() it, also after an error
 * Returns 0, -ENOTSUP (not a 64-bit little-endian x86 or Arm binary) or -EBADMSG (not ELF, or
 * malformed).
 */
int cfi_sections_open(struct bytes image, struct cfi_sections *ret_sections);
/* Frees. */
void cfi_sections_close(struct cfi_sections *sections);

#endif
