/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Features of the header as text; private to this folder.
 */
#ifndef PERFDATA_FEATURE_PRINT_H
#define PERFDATA_FEATURE_PRINT_H

#include "perfdata/session.h"

#include <stdio.h>

struct printer {
	const struct perfdata *data;
	FILE *out;
};

/* Prints foreign text: a host name or command line could hold escape codes. NULL prints nothing. */
void print_foreign(FILE *out, const char *text);

/* CPUs by package, die and core, and where each of them is. */
void print_cpu_topology(struct printer printer, struct cursor *cursor);
/* Memory and CPUs of each node. */
void print_numa_topology(struct printer printer, struct cursor *cursor);
/* Caches, and which CPUs share them. */
void print_caches(struct printer printer, struct cursor *cursor);
/* Which blocks of memory each node has. */
void print_memory_topology(struct printer printer, struct cursor *cursor);
/* Kinds of CPUs. */
void print_hybrid_topology(struct printer printer, struct cursor *cursor);

#endif
