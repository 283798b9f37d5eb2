/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our own copy of what naming or unwinding needs of an ELF file.
 */
#ifndef BINARY_ELF_IMAGE_H
#define BINARY_ELF_IMAGE_H

#include "base/cursor.h"
#include "binary/file_pieces.h"

/*
 * Copies the headers, symbol and string tables, relocations of the PLT, notes, .gnu_debuglink and
 * .gnu_debugdata of a file into memory, each at its offset; the rest of the image is zeros and
 * takes no memory. Others may write to the file or cut it short meanwhile, which would take a
 * mapped one away under us (SIGBUS); a copy stays as it was checked. What could not be read, or is
 * too large to be true, is zeros too.
 *
 * ret_image  as long as the file; file_unmap() it. Length 0 for an empty file
 * Returns 0 or a negative errno (-EBADMSG: not ELF), without a sentence.
 */
int elf_image_read(int fd, struct bytes *ret_image);

/* The same with what tells how code is connected instead: headers, symbol and string tables, notes,
 * and all relocations, of which large libraries have more bytes than all the rest. */
int elf_image_code(int fd, struct bytes *ret_image);

/* Of the bytes that an image was copied from: equal for copies of a file. */
struct elf_digest {
	u64 low, high;
};

/* The same with what unwinding needs instead: headers and call frame information, or all that is
 * loaded where no section says what that is. At most 64 MiB are copied: twice what the largest
 * table can come from. */
int elf_image_frames(int fd, struct bytes *ret_image, struct elf_digest *ret_digest);

/* The same with the sections that source lines come from, those that name other files, the
 * build id, and DWARF_SLACK_BYTES of zeros behind the file's end. At most 4 GiB are copied; returns
 * -EFBIG if there are more. */
int elf_image_debug(int fd, struct bytes *ret_image);

/* The same, but all of the file's bytes, at most 1 GiB of them. */
int elf_image_whole(int fd, struct bytes *ret_image);

/* Has the headers of an ELF file's segments and sections, and the names of these, copied. Returns 0
 * or -EBADMSG (not ELF). */
int elf_pieces_headers(struct file_pieces *pieces);

/* elf_image_read() of a regular file below `root`, as open_below() finds it. */
int elf_image_below(const char *root, const char *path, struct bytes *ret_image);

#endif
