/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this kernel and this user may do: one table of rows, each probed, never guessed from a
 * version. `check` prints it, `record` asks the same rows before it starts.
 */
#ifndef CAPTURE_FEATURES_H
#define CAPTURE_FEATURES_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

enum { FEATURE_FOUND_BYTES = 128 };

enum feature_need {
	FEATURE_REQUIRED, /* nothing can be recorded without it */
	FEATURE_WANTED,	  /* recording works, something is missing from it */
	FEATURE_OPTIONAL, /* a matter of cost or of hardware */
};

struct feature {
	const char *id;		/* "kernel-btf": for --json and tests */
	const char *name;	/* "kernel BTF" */
	const char *needed_for; /* "any recording" */
	const char *remedy;	/* what to do if it is missing; see feature_remedy() */
	enum feature_need need;
	/* 0: there; negative errno: why not. `found` (FEATURE_FOUND_BYTES, "" before the call) says
	 * what was found, "" is fine.
	 */
	int (*probe)(char *found);
};

/* The rows, in the order in which they are printed. */
const struct feature *features_all(size_t *ret_count);

/* What this user has to do if the feature is missing. */
const char *feature_remedy(const struct feature *feature);

/* Probes the required rows. Returns 0, or the first failure's errno with a sentence of name, reason
 * and remedy. */
int features_require(void);

/* The row with this id; NULL if there is none. */
const struct feature *feature_find(const char *id);

#endif
