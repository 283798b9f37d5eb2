/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Telling text from bytes that only look like it.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character that NUL terminated `text` begins with: 1 … 4; 0 if it begins with
 * none (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF) or is at its end. */
size_t utf8_bytes(const unsigned char *text);

/* The same, and 0 for control characters too (C0, DEL, C1). */
size_t utf8_printable_bytes(const unsigned char *text);

#endif
