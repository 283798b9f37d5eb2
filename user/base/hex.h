/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes as people look at them.
 */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include "base/cursor.h"

#include <stdio.h>

/* Ends a line with `width` bytes from `at` on: each in hexadecimal, then all of them as text, a dot
 * for what is none. What lies behind the end is blank. */
void hex_write_row(FILE *out, struct bytes bytes, size_t at, size_t width);

#endif
