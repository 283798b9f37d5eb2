/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for the procedure linkage table: its n-th entry belongs to the n-th relocation of
 * .rela.plt (or .rel.plt), whose symbol is in .dynsym.
 *
 * Entry sizes: tools/perf/util/symbol-elf.c (get_plt_sizes), Linux 6.1. Where the linker made a
 * second table for branch protection (.plt.sec), calls land there, so it has the names as well;
 * perf has that since 6.3.
 */
#include "binary/plt.h"

#include "base/memory.h"
#include "binary/demangle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The name and the suffix, with room for long C++ names; perf's has 1024 bytes too. */
enum { PLT_NAME_BYTES = 1024, PLT_ENTRY_MAX_BYTES = 4096, PLT_ENTRIES_MAX = 1 << 20 };

struct plt_layout {
	u64 header_bytes, entry_bytes;
};

struct relocations {
	Elf_Data *entries;
	Elf_Data *symbols;
	struct bytes names;
	size_t count;
	bool has_addend;
};

static struct plt_layout layout_of(const struct elf_file *image, const struct elf_section *plt)
{
	switch (image->machine) {
	case EM_ARM:
		return (struct plt_layout){20, 12};
	case EM_AARCH64:
		return (struct plt_layout){32, 16};
	case EM_SPARC:
		return (struct plt_layout){48, 12};
	case EM_SPARCV9:
		return (struct plt_layout){128, 32};
	default:
		return (struct plt_layout){plt->entry_bytes, plt->entry_bytes};
	}
}

static const char *relocation_name(const struct relocations *relocations, size_t index)
{
	u64 symbol_index;
	GElf_Sym symbol;
	GElf_Rela with_addend;
	GElf_Rel without;

	if (relocations->has_addend) {
		if (!gelf_getrela(relocations->entries, (int)index, &with_addend))
			return NULL;
		symbol_index = GELF_R_SYM(with_addend.r_info);
	} else {
		if (!gelf_getrel(relocations->entries, (int)index, &without))
			return NULL;
		symbol_index = GELF_R_SYM(without.r_info);
	}
	if (symbol_index > PLT_ENTRIES_MAX * 16ULL ||
	    !gelf_getsym(relocations->symbols, (int)symbol_index, &symbol) ||
	    symbol.st_name >= relocations->names.length ||
	    !memchr(relocations->names.start + symbol.st_name, 0,
		    relocations->names.length - symbol.st_name))
		return NULL;
	return (const char *)relocations->names.start + symbol.st_name;
}

static bool open_relocations(const struct elf_file *image, struct relocations *ret_relocations)
{
	const struct elf_section *section = elf_file_section(image, SHT_NULL, ".rela.plt");
	const struct elf_section *dynamic = elf_file_section(image, SHT_DYNSYM, NULL);
	struct relocations relocations = {0};

	if (!section)
		section = elf_file_section(image, SHT_NULL, ".rel.plt");
	if (!section || !dynamic || (section->type != SHT_RELA && section->type != SHT_REL) ||
	    section->link != (u32)(dynamic - image->sections) ||
	    dynamic->link >= image->section_count)
		return false;
	relocations.has_addend = section->type == SHT_RELA;
	relocations.entries = elf_file_table(image, section);
	relocations.symbols = elf_file_table(image, dynamic);
	relocations.names = elf_file_contents(image, &image->sections[dynamic->link]);
	if (!relocations.entries || !relocations.symbols)
		return false;
	relocations.count = relocations.entries->d_size /
			    gelf_fsize(image->elf, relocations.has_addend ? ELF_T_RELA : ELF_T_REL,
				       1, EV_CURRENT);
	if (relocations.count > PLT_ENTRIES_MAX)
		relocations.count = PLT_ENTRIES_MAX;
	*ret_relocations = relocations;
	return true;
}

/* Adds names for the entries of one table, which begin at `offset`. */
static void add_entries(struct symbols *symbols, const struct relocations *relocations, u64 offset,
			u64 entry_bytes)
{
	for (size_t i = 0; i < relocations->count; i++) {
		const char *name = relocation_name(relocations, i);
		char text[PLT_NAME_BYTES];

		if (!name || offset + (i + 1) * entry_bytes < offset)
			return;
		snprintf(text, sizeof(text), "%s@plt", name);
		symbols_add(symbols, &(struct symbol){.start = offset + i * entry_bytes,
						      .end = offset + (i + 1) * entry_bytes,
						      .name = text,
						      .binding = SYMBOL_GLOBAL});
	}
}

void plt_add_symbols(struct symbols *symbols, const struct elf_file *image)
{
	const struct elf_section *plt = elf_file_section(image, SHT_NULL, ".plt");
	const struct elf_section *second = elf_file_section(image, SHT_NULL, ".plt.sec");
	struct relocations relocations;
	struct plt_layout layout;

	if (!plt || !open_relocations(image, &relocations))
		return;
	layout = layout_of(image, plt);
	if (!layout.entry_bytes || layout.entry_bytes > PLT_ENTRY_MAX_BYTES)
		return;
	add_entries(symbols, &relocations, plt->offset + layout.header_bytes, layout.entry_bytes);
	if (second && second->entry_bytes && second->entry_bytes <= PLT_ENTRY_MAX_BYTES)
		add_entries(symbols, &relocations, second->offset, second->entry_bytes);
}
