/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON written as a stream, with commas, indentation and escapes taken care of.
 *
 * `key` is NULL inside arrays and for the outermost value. Strings may be foreign: bytes that are
 * not UTF-8 become U+FFFD.
 */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stdio.h>

struct json_writer;

/* Writes to `out`, which stays the caller's. Free with json_writer_free(). */
struct json_writer *json_writer_new(FILE *out);
/* Ends with a newline and frees; every object and array must have been closed. */
void json_writer_free(struct json_writer *json);
/* For CLEANUP. */
void json_writer_freep(struct json_writer **json);

/* Opens an object. */
void json_object(struct json_writer *json, const char *key);
/* Closes the innermost object. */
void json_object_end(struct json_writer *json);
/* Opens an array. */
void json_array(struct json_writer *json, const char *key);
/* Closes the innermost array. */
void json_array_end(struct json_writer *json);

/* A string; NULL writes null. */
void json_text(struct json_writer *json, const char *key, const char *value);
/* A whole number, exact. */
void json_u64(struct json_writer *json, const char *key, u64 value);
/* A number with `decimals` digits behind the point; not finite writes null. */
void json_double(struct json_writer *json, const char *key, double value, int decimals);
/* true or false. */
void json_bool(struct json_writer *json, const char *key, bool value);

#endif
