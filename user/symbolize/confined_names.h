/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of binaries that are read where they can do no harm.
 */
#ifndef SYMBOLIZE_CONFINED_NAMES_H
#define SYMBOLIZE_CONFINED_NAMES_H

#include "host/host.h"
#include "symbolize/names_cache.h"

struct kept_names;

/* What is done over there: the work of a struct confined that reads names, CONFINED_NAMES_WORKS of
 * it. */
enum { CONFINED_NAMES_WORKS = 2 };
extern confined_work *const confined_names_works[];

/* The build id of an open file, as build_id_of_fd(). Returns also as confined_run(). */
int confined_names_identify(struct confined *confined, int fd, struct build_id *ret_id);
/* As binary_finder_read(), which looks at nothing of the file by itself. Returns also as
 * confined_run(). */
int confined_names_read(struct confined *confined, const struct running_binary *binary,
			struct kept_names *ret_names);

#endif
