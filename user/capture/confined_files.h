/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Binaries that samples lie in, read where they can do no harm: build ids and unwind tables.
 */
#ifndef CAPTURE_CONFINED_FILES_H
#define CAPTURE_CONFINED_FILES_H

#include "binary/binary.h"
#include "host/host.h"
#include "unwind/unwind.h"

/* What is done over there: the work of a struct confined that reads for a capture,
 * CONFINED_FILES_WORKS of it. */
enum { CONFINED_FILES_WORKS = 2 };
extern confined_work *const confined_files_works[];

/* Build ids that are read there; NULL: by this process. */
struct id_reader confined_files_ids(struct confined *confined);
/* The unwind table of an open file, as unwind_table_read() and table_words_make(). Returns also as
 * confined_run(); table_words_release() the words. */
int confined_files_table(struct confined *confined, int fd, struct table_words *ret_words);

#endif
