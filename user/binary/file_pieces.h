/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file of which those pieces are copied into memory that somebody asks for.
 *
 * It costs what is looked at, whatever the file's size; and nobody can take a copy away under us,
 * as who cuts the file short could a mapping (SIGBUS).
 */
#ifndef BINARY_FILE_PIECES_H
#define BINARY_FILE_PIECES_H

#include "base/cursor.h"

struct file_pieces;

/* The pieces of a file, which is taken over and stays open unless many are. Returns 0, -EFBIG (more
 * than 16 GiB) or why it cannot be read; then the file is the caller's still. */
int file_pieces_new(int fd, struct file_pieces **ret_pieces);
/* Of bytes that are all there, and borrowed. */
struct file_pieces *file_pieces_of(struct bytes bytes);
/* Frees; NULL is fine. */
void file_pieces_free(struct file_pieces *pieces);

/* Some bytes at an offset, as many of them as the file has; what cannot be read is zeros. Borrowed,
 * and the same until the end. */
struct bytes file_pieces_at(struct file_pieces *pieces, u64 offset, u64 bytes);
/* The memory of the whole file: what was not asked for yet is zeros. Borrowed. */
struct bytes file_pieces_all(const struct file_pieces *pieces);
/* Copies bytes at an offset to `to`, not to be kept; what there is not is zeros. Threads may do
 * this at the same time. */
void file_pieces_copy(const struct file_pieces *pieces, u64 offset, void *to, size_t bytes);

#endif
