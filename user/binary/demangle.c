/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable names of C++ and Rust symbols, through libiberty: what perf uses too.
 */
#include "binary/demangle.h"

#include <libiberty/demangle.h>
#include <string.h>

/* A name longer than this is not worth reading, and demangling it can take very long. */
enum { MANGLED_MAX_BYTES = 64 << 10 };

char *demangle(const char *name, int brief)
{
	/* _Z…, _R… and _GLOBAL_…; spares the others the call. */
	if (name[0] != '_' || strnlen(name, MANGLED_MAX_BYTES) == MANGLED_MAX_BYTES)
		return NULL;
	return cplus_demangle(name, brief ? DMGL_NO_OPTS : DMGL_PARAMS | DMGL_ANSI);
}
