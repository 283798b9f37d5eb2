/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of binaries, and of code that processes made, that are read where they can do no harm.
 */
#ifndef SYMBOLIZE_CONFINED_NAMES_H
#define SYMBOLIZE_CONFINED_NAMES_H

#include "host/host.h"
#include "symbolize/names_cache.h"

struct kept_names;
struct kept_places;

/* What is done over there: the work of a struct confined that reads names, CONFINED_NAMES_WORKS of
 * it. A process is for one file: to identify it, and to read it. */
enum { CONFINED_NAMES_WORKS = 4, CONFINED_NAMES_EACH = 2 };
extern confined_work *const confined_names_works[];

/* Which file it is, and the name of its debug file ("": it names none). */
struct confined_identity {
	struct build_id id;
	char link[DEBUG_LINK_BYTES];
};

/* Identifies an open file, as build_id_of_fd(). Returns also as confined_run(). */
int confined_names_identify(struct confined *confined, int fd,
			    struct confined_identity *ret_identity);
/* As binary_finder_read(), which looks at nothing of the file by itself; `known` is what is known
 * of the binary's open file, or NULL. Returns also as confined_run(). */
int confined_names_read(struct confined *confined, const struct running_binary *binary,
			const struct confined_identity *known, struct kept_names *ret_names);
/* Looks up the lines of places in the file of a binary that has a build id, and its debug file, as
 * source_places_read(), of which they are what is found; kept_places_release() them. Returns also
 * -ENOENT (no file with that build id) and as confined_run(). */
int confined_names_read_places(struct confined *confined, const struct running_binary *binary,
			       const struct code_places *wanted, struct kept_places *ret_places);
/* The names that a perf-PID.map has, which is open. Returns as jit_code_read() and confined_run().
 */
int confined_names_read_jit(struct confined *confined, const struct jit_code *code,
			    struct kept_names *ret_names);

#endif
