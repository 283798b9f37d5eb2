/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an image to the words of its unwind table. Private to capture/.
 */
#ifndef CAPTURE_READ_TABLE_H
#define CAPTURE_READ_TABLE_H

#include "unwind/unwind.h"

/* Reads call frame information. Returns as unwind_table_read() and table_words_make();
 * table_words_release() the words. */
int read_table(struct bytes image, struct table_words *ret_words);

#endif
