/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantities with units, in and out. Parsers take the whole text or refuse it.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "bpfprof/types.h"

#include <stddef.h>

/* Decimal, 0x… or 0… digits without sign. Returns 0, -EINVAL (not a number) or -ERANGE. */
int number_parse_u64(const char *text, u64 *ret_value);
/* The same, at most 2^32 - 1. */
int number_parse_u32(const char *text, u32 *ret_value);
/* Bytes, with an optional K, M, G or T (powers of 1024, also KiB, KB, k). */
int number_parse_bytes(const char *text, u64 *ret_bytes);
/* A time span, "10", "10s", "1.5m", "250ms", "1h", "7d"; a bare number counts seconds. In ns. */
int number_parse_duration(const char *text, u64 *ret_ns);
/* 0 … 100, with an optional "%". */
int number_parse_percent(const char *text, double *ret_percent);
/* perf's time stamp "SECONDS[.FRACTION]" in ns. */
int number_parse_timestamp(const char *text, u64 *ret_ns);

/* A cpu or id list "0-3,7" as an ascending array without doubles, owned by the caller.
 * Returns 0, -EINVAL or -ERANGE (an id above `highest`). */
int number_parse_list(const char *text, u32 highest, u32 **ret_ids, size_t *ret_count);

enum { NUMBER_TEXT_BYTES = 48 };

/* "3 812": digits in groups of three. Writes into `text`, returns it. */
const char *number_format_count(u64 count, char text[static NUMBER_TEXT_BYTES]);
/* "4.2 MB" (powers of 1000). Writes into `text`, returns it. */
const char *number_format_bytes(u64 bytes, char text[static NUMBER_TEXT_BYTES]);
/* "12.3 s", "870 ms", "4.1 us". Writes into `text`, returns it. */
const char *number_format_duration(u64 ns, char text[static NUMBER_TEXT_BYTES]);

#endif
