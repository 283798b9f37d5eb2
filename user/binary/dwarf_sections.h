/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sections that DWARF is in, unpacked once and read by any number of libdw handles, since a
 * handle is only good for one thread. Private to binary/.
 */
#ifndef BINARY_DWARF_SECTIONS_H
#define BINARY_DWARF_SECTIONS_H

#include "base/cursor.h"
#include "base/vec.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>

/* The name without ".debug_". All but the last are for libdw. */
#define DWARF_PARTS(X) \
	X(info)        \
	X(abbrev)      \
	X(line)        \
	X(str)         \
	X(line_str)    \
	X(addr)        \
	X(str_offsets) \
	X(rnglists)    \
	X(ranges)      \
	X(aranges)     \
	X(cu_index)
#define AS_DWARF_PART(name) DWARF_##name,
enum dwarf_part { DWARF_PARTS(AS_DWARF_PART) DWARF_PART_COUNT };

/* libdw up to 0.188 at least reads over the end of a section where a number or a string is cut off;
 * so many zeros stop it. */
enum { DWARF_SLACK_BYTES = 64 };

struct dwarf_sections {
	struct bytes parts[DWARF_PART_COUNT]; /* length 0: not there */
	u16 machine, type;		      /* EM_…, ET_… */
	u8 class, order;		      /* ELFCLASS…, ELFDATA2… */
	bool is_copied;			      /* the image lacks the zeros at its end */
	VEC(struct bytes) unpacked;	      /* and copied; owned */
	/* An open file plus 1, to show to libelf where none may be made; 0: one may. Borrowed. */
	int file;
};

/* Whether a section of this name holds a part, packed or not, of whichever file. */
bool dwarf_wants_section(const char *name);

/*
 * Finds the sections in an image, which must outlive the result, and unpacks those that are
 * compressed (zlib, zstd; SHF_COMPRESSED and .zdebug_…). They are copied if the image does not end
 * with DWARF_SLACK_BYTES of zeros, as elf_image_debug()'s does.
 *
 * suffix  "" or ".dwo", behind each section's name (but that of .debug_cu_index)
 * Returns 0, -ENODATA (no .debug_info), -EFBIG (unpacks to more than is
 * believable) or -EBADMSG.
 */
int dwarf_sections_read(struct bytes image, const char *suffix,
			struct dwarf_sections *ret_sections);
/* Whether they are of the other byte order. */
bool dwarf_sections_are_swapped(const struct dwarf_sections *sections);
/* Makes a part a copy of its own, with `shift` zeros in front of it. False if there is no memory.
 */
bool dwarf_sections_copy_part(struct dwarf_sections *sections, enum dwarf_part part, u64 shift);
/* Frees; harmless on a zeroed struct. For CLEANUP too. */
void dwarf_sections_release(struct dwarf_sections *sections);

/* libdw's view of sections, for one thread. */
struct dwarf_handle {
	Dwarf *dwarf;
	Elf *elf;
};

/* Opens; the sections must outlive the handle. Returns 0 or -EBADMSG. */
int dwarf_handle_open(const struct dwarf_sections *sections, struct dwarf_handle *ret_handle);
/* Closes; harmless on a zeroed struct. For CLEANUP too. */
void dwarf_handle_close(struct dwarf_handle *handle);

#endif
