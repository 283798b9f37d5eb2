/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable names of C++ and Rust symbols, through libiberty: what perf uses too.
 */
#include "binary/demangle.h"

#include "base/memory.h"
#include "base/text.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* A name longer than this is not worth reading, and demangling it can take very long: one of 450
 * bytes may name parts of itself again and again, and become a terabyte. */
enum { MANGLED_MAX_BYTES = 64 << 10, SHOWN_MAX_BYTES = 256 << 10 };

static const char plt_suffix[] = "@plt";

struct demangling {
	struct text shown;
	jmp_buf is_too_long; /* there is no other way to end it */
};

static void take_piece(const char *piece, size_t length, void *context)
{
	struct demangling *demangling = context;

	if (demangling->shown.length + length > SHOWN_MAX_BYTES)
		longjmp(demangling->is_too_long, 1);
	text_append_bytes(&demangling->shown, piece, length);
}

/* As cplus_demangle() does it: what it would leave on the heap lies on the stack here. */
static bool demangle_pieces(const char *name, struct demangling *demangling)
{
	if (setjmp(demangling->is_too_long))
		return false;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, take_piece, demangling))
		return true;
	text_truncate(&demangling->shown, 0);
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take_piece, demangling);
}

static char *demangle_stem(const char *name)
{
	struct demangling demangling = {0};

	if (demangle_pieces(name, &demangling))
		return text_take(&demangling.shown);
	text_release(&demangling.shown);
	return NULL;
}

char *demangle(const char *name)
{
	size_t length = strnlen(name, MANGLED_MAX_BYTES), suffix = sizeof(plt_suffix) - 1;
	CLEANUP(freep) char *stem = NULL, *shown = NULL;

	/* _Z…, _R… and _GLOBAL_…; spares the others the call. */
	if (name[0] != '_' || length == MANGLED_MAX_BYTES)
		return NULL;
	if (length <= suffix || strcmp(name + length - suffix, plt_suffix) != 0)
		return demangle_stem(name);
	stem = must_copy_bytes(name, length - suffix);
	shown = demangle_stem(stem);
	return shown ? must_format("%s%s", shown, plt_suffix) : NULL;
}
