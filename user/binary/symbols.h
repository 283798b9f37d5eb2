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
/* Sorts, gives an end to those without one and chooses one name among those at one address, by
 * perf's rules. Call it last; if more are added after it, once more (what has been settled before
 * stays, as in perf, which settles .symtab before it looks at .dynsym). */
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
 * with the file offsets of `image`. Finishes the table. Returns 0, -ENODATA (no symbols), -EBADMSG
 * (not ELF, or malformed; what was readable has been added).
 */
int symbols_add_elf(struct symbols *symbols, struct bytes image, struct bytes debug);
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
