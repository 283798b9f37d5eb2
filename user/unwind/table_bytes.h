/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table's words from one process to another, which does not trust the first. Pure.
 */
#ifndef UNWIND_TABLE_BYTES_H
#define UNWIND_TABLE_BYTES_H

#include "base/cursor.h"
#include "base/text.h"
#include "unwind/table_words.h"

/* Appends the words, and what is known of them. */
void table_bytes_put(const struct table_words *words, struct text *bytes);
/*
 * Takes them back, if whoever follows them stays within them: rules that there are, rows and index
 * that lie in the table. That they are right nobody can tell.
 *
 * bytes      where malloc() has put them; the caller's, unless 0 is returned
 * ret_words  table_words_release() them, and the bytes with them
 * Returns 0 or -EBADMSG.
 */
int table_bytes_take(u8 *bytes, size_t length, struct table_words *ret_words);

#endif
