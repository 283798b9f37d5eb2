/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a cache of names as bytes: what stands around them, and the numbers and strings that
 * they are made of. Pure. Private to symbolize/.
 *
 * A file is a header and a packed block; a checksum over both tells whether it is whole. Numbers in
 * the block take as many bytes as they need, seven bits in each, the lowest first.
 */
#ifndef SYMBOLIZE_KEPT_FILE_H
#define SYMBOLIZE_KEPT_FILE_H

#include "base/cursor.h"
#include "base/text.h"

#include <stdio.h>

enum kept_kind { KEPT_NAMES = 1, KEPT_PLACES = 2, KEPT_CALLERS = 3 };

enum { KEPT_HEADER_BYTES = 48 };

/*
 * Makes the bytes of a file.
 *
 * rows      how much is in it: a file with more is worth more
 * ret_file  appended to
 * Returns 0 or -EIO, without a sentence.
 */
int kept_file_make(enum kept_kind kind, u64 rows, struct bytes block, struct text *ret_file);

/*
 * Takes the block out of a file that anybody may have written.
 *
 * ret_block  its start is owned by the caller, free()
 * Returns 0, -ENOTSUP (another version's) or -EBADMSG (damaged, or of another kind).
 */
int kept_file_read(enum kept_kind kind, struct bytes file, struct bytes *ret_block);

/* Whether a file is whole, without unpacking it. Returns the same. */
int kept_file_check(enum kept_kind kind, struct bytes file, u64 *ret_rows);

/* Appends a number. */
void kept_put(struct text *block, u64 value);
/* Appends a string with its NUL. */
void kept_put_text(struct text *block, const char *text);
/* The next number; 0 and `overrun` if there is none. */
u64 kept_take(struct cursor *cursor);
/* How many rows follow, of which each takes at least `row_bytes` bytes: 0 and `overrun` if they are
 * not there. */
u64 kept_take_count(struct cursor *cursor, u64 row_bytes);
/* The next string, borrowed; "" and `overrun` if there is none. */
const char *kept_take_text(struct cursor *cursor);

#endif
