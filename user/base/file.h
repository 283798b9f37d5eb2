/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole files: mapped, read, replaced.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/cursor.h"

#include <sys/types.h>

/*
 * Maps a regular file read-only, private. The descriptor stays the caller's.
 *
 * ret_bytes  the whole file, unmapped with file_unmap(); length 0 for an empty file
 * Returns 0 or a negative errno without a sentence: the caller knows what the file was for.
 */
int file_map_fd(int fd, struct bytes *ret_bytes);
/* Unmaps; harmless on empty bytes, which it leaves behind. For CLEANUP too. */
void file_unmap(struct bytes *bytes);
/* Takes whole pages of a part of a mapped file out of memory, where they count as the program's;
 * what is read again comes from the file again. */
void file_forget(struct bytes part);
/* Makes the pages of a part of a mapped file there, so that who reads it does not have to stop for
 * each few of them. */
void file_bring(struct bytes part);

/*
 * Reads a whole file of unknown size (/proc, /sys), at most `limit` bytes.
 *
 * ret_text    NUL terminated, owned by the caller
 * ret_length  without the NUL; may be NULL
 * Returns 0 or a negative errno (-EFBIG: longer than `limit`), without a sentence.
 */
int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_length);
/* The same of a file's beginning: what is behind `limit` bytes is left alone, and never made by the
 * kernel. A file shorter than that is there as a whole. */
int file_read_start(const char *path, size_t limit, char **ret_text, size_t *ret_length);

/* Writes all bytes, over short writes and EINTR. Returns 0 or a negative errno. */
int file_write_all(int fd, const void *bytes, size_t length);
/* The same at an offset in bytes, without moving the file position. */
int file_write_all_at(int fd, const void *bytes, size_t length, off_t offset_bytes);

#endif
