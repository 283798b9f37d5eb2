/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable names of C++ and Rust symbols, through libiberty: what perf uses too.
 */
#include "binary/demangle.h"

#include "base/memory.h"

#include <libiberty/demangle.h>
#include <string.h>

/* A name longer than this is not worth reading, and demangling it can take very long. */
enum { MANGLED_MAX_BYTES = 64 << 10 };

static const char plt_suffix[] = "@plt";

char *demangle(const char *name)
{
	size_t length = strnlen(name, MANGLED_MAX_BYTES), suffix = sizeof(plt_suffix) - 1;
	CLEANUP(freep) char *stem = NULL, *shown = NULL;

	/* _Z…, _R… and _GLOBAL_…; spares the others the call. */
	if (name[0] != '_' || length == MANGLED_MAX_BYTES)
		return NULL;
	if (length <= suffix || strcmp(name + length - suffix, plt_suffix) != 0)
		return cplus_demangle(name, DMGL_NO_OPTS);
	stem = must_copy_bytes(name, length - suffix);
	shown = cplus_demangle(stem, DMGL_NO_OPTS);
	return shown ? must_format("%s%s", shown, plt_suffix) : NULL;
}
