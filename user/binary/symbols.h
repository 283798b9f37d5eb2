/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorted symbol arrays: what every source of names (ELF, kallsyms, perf maps) is turned into.
 */
#ifndef BINARY_SYMBOLS_H
#define BINARY_SYMBOLS_H

#include "base/cursor.h"
#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

enum symbol_binding { SYMBOL_LOCAL, SYMBOL_GLOBAL, SYMBOL_WEAK };

struct symbol {
	u64 start, end;	  /* [start, end): file offsets for ELF, else virtual addresses */
	const char *name; /* raw; borrowed from the table */
	u32 order;	  /* set by symbols_finish(): its index in the table */
	u16 group;	  /* symbols without a size don't reach into another group; 0 is one too */
	u8 binding;	  /* enum symbol_binding */
	bool is_data;	  /* a variable, as far as the source of names tells */
};

struct symbols;

/* An empty table to fill; free with symbols_free(). */
struct symbols *symbols_new(void);
/* Frees; NULL is fine. */
void symbols_free(struct symbols *symbols);
/* For CLEANUP. */
void symbols_freep(struct symbols **symbols);

/* Adds one; `end` 0: size unknown. The name is copied. */
void symbols_add(struct symbols *symbols, const struct symbol *symbol);
/* The same, but the name is borrowed until the end, and not looked at unless it is needed. */
void symbols_add_borrowed(struct symbols *symbols, const struct symbol *symbol);
/* Makes room for so many more. */
void symbols_expect(struct symbols *symbols, size_t count);
/* Keeps an image that names are borrowed from: takes it over, and file_unmap()s it in the end. */
void symbols_own(struct symbols *symbols, struct bytes *image);
/* Sorts, gives an end to those without one and chooses one name among those at one address, by
 * perf's rules. Call it before others are added that are not to change what is there, as in perf,
 * which settles .symtab before it looks at .dynsym. */
void symbols_settle(struct symbols *symbols);
/* Settles all, for those below. Call it last; if more are added after it, once more. */
void symbols_finish(struct symbols *symbols);

/* The symbol that holds `address`, the innermost one if several do; NULL if none does. Borrowed. */
const struct symbol *symbols_find(const struct symbols *symbols, u64 address);
/* How many there are. */
size_t symbols_count(const struct symbols *symbols);
/* Symbol `index`, in ascending order of start. Borrowed. */
const struct symbol *symbols_at(const struct symbols *symbols, size_t index);

/*
 * Adds the functions of an ELF image by file offset, as perf does: .symtab and .dynsym, PLT entries
 * as "name@plt". `debug` (length 0: none) is the separate debug file: its .symtab is taken instead,
 * with the file offsets of `image`. Finishes the table. Names are copied. Returns 0, -ENODATA (no
 * symbols), -EBADMSG (not ELF, or malformed; what was readable has been added).
 */
int symbols_add_elf(struct symbols *symbols, struct bytes image, struct bytes debug);
/* The same, but names are borrowed from both until the end: symbols_own() them. Most are never
 * looked at, and of a large C++ library they are more than all the rest. */
int symbols_add_elf_borrowed(struct symbols *symbols, struct bytes image, struct bytes debug);
/* Adds only the PLT entries of an image, which perf leaves out where there are no other functions.
 * Finishes the table. Returns as symbols_add_elf(). */
int symbols_add_linkage(struct symbols *symbols, struct bytes image);

/* Adds the .symtab of a kernel image by its link-time virtual addresses. Finishes the table.
 * reference      name of a symbol whose address is wanted
 * ret_reference  that address, 0 if there is no such symbol
 * Returns as symbols_add_elf(). */
int symbols_add_kernel_image(struct symbols *symbols, struct bytes image, const char *reference,
			     u64 *ret_reference);

#endif
