/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of an ELF file that a test makes: sections, symbol tables, relocations. For
 * elf_maker.h.
 */
#ifndef TESTS_ELF_PARTS_H
#define TESTS_ELF_PARTS_H

#include "base/memory.h"
#include "bpfprof/types.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

struct made_symbol {
	const char *name;
	u64 value, bytes;
	u8 binding, type, visibility;
	u16 section; /* 1: .text; SHN_… */
};

enum {
	MADE_TEXT = 0x1000,
	MADE_OFFSET = 0x100,
	MADE_TEXT_BYTES = 0xf00,
	MADE_PLT = 0x1f00,
	MADE_LOADED_BYTES = 0x1000
};

struct elf_being_made {
	Elf *elf;
	int order;
	u64 next_offset;
	char names[1024];
	size_t names_bytes;
	u16 count;
};

static u32 made_name(char *names, size_t *bytes, const char *name)
{
	u32 at = (u32)*bytes;

	strcpy(names + *bytes, name);
	*bytes += strlen(name) + 1;
	return at;
}

/* Adds a section; returns its index. `bytes` of memory that lives until elf_update(). */
static u16 made_section(struct elf_being_made *making, GElf_Shdr header, const char *name,
			const void *contents, Elf_Type type)
{
	Elf_Scn *section = elf_newscn(making->elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr now;

	gelf_getshdr(section, &now);
	header.sh_name = made_name(making->names, &making->names_bytes, name);
	if (!header.sh_offset) {
		header.sh_offset = making->next_offset;
		making->next_offset += (header.sh_size + 15) & ~(u64)15;
	}
	header.sh_addralign = 1;
	data->d_buf = (void *)(uintptr_t)contents;
	data->d_size = header.sh_size;
	data->d_type = type;
	data->d_align = 1;
	data->d_version = EV_CURRENT;
	gelf_update_shdr(section, &header);
	return ++making->count;
}

/* Bytes for the names of the symbols, so that a table behind them is aligned. */
static size_t made_names_room(const struct made_symbol *symbols, size_t count)
{
	size_t room = 64;

	for (size_t i = 0; i < count; i++)
		room += symbols[i].name ? strlen(symbols[i].name) + 1 : 0;
	return room & ~(size_t)15;
}

/* A symbol table and its strings. `dynamic`: .dynsym, .dynstr. Returns its index. */
static u16 made_symbols(struct elf_being_made *making, const struct made_symbol *symbols,
			size_t count, bool dynamic, char **owned)
{
	size_t entry = gelf_fsize(making->elf, ELF_T_SYM, 1, EV_CURRENT), names_bytes = 1;
	size_t room = made_names_room(symbols, count);
	char *names = must_alloc(room + (count + 1) * sizeof(GElf_Sym));
	Elf_Data table = {.d_buf = names + room,
			  .d_size = (count + 1) * entry,
			  .d_type = ELF_T_SYM,
			  .d_version = EV_CURRENT};
	u16 strings;

	*owned = names;
	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol = {
			.st_name = symbols[i].name ? made_name(names, &names_bytes, symbols[i].name)
						   : 0,
			.st_info = GELF_ST_INFO(symbols[i].binding, symbols[i].type),
			.st_other = symbols[i].visibility,
			.st_shndx = symbols[i].section,
			.st_value = symbols[i].value,
			.st_size = symbols[i].bytes,
		};

		if (gelf_getclass(making->elf) == ELFCLASS64) {
			((Elf64_Sym *)table.d_buf)[i + 1] = symbol;
		} else {
			((Elf32_Sym *)table.d_buf)[i + 1] = (Elf32_Sym){
				.st_name = symbol.st_name,
				.st_value = (u32)symbol.st_value,
				.st_size = (u32)symbol.st_size,
				.st_info = symbol.st_info,
				.st_other = symbol.st_other,
				.st_shndx = symbol.st_shndx,
			};
		}
	}
	strings = made_section(making, (GElf_Shdr){.sh_type = SHT_STRTAB, .sh_size = names_bytes},
			       dynamic ? ".dynstr" : ".strtab", names, ELF_T_BYTE);
	return made_section(making,
			    (GElf_Shdr){.sh_type = dynamic ? SHT_DYNSYM : SHT_SYMTAB,
					.sh_size = table.d_size,
					.sh_entsize = entry,
					.sh_link = strings},
			    dynamic ? ".dynsym" : ".symtab", table.d_buf, ELF_T_SYM);
}

static void made_relocations(struct elf_being_made *making, size_t count, u16 dynamic, char **owned)
{
	size_t entry = gelf_fsize(making->elf, ELF_T_RELA, 1, EV_CURRENT);
	char *table = must_alloc(count * sizeof(Elf64_Rela) + 16 * (count + 1));

	*owned = table;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getclass(making->elf) == ELFCLASS64)
			((Elf64_Rela *)table)[i].r_info = ELF64_R_INFO(i + 1, 7);
		else
			((Elf32_Rela *)table)[i].r_info = (u32)ELF32_R_INFO(i + 1, 7);
	}
	made_section(making,
		     (GElf_Shdr){.sh_type = SHT_RELA,
				 .sh_size = count * entry,
				 .sh_entsize = entry,
				 .sh_link = dynamic},
		     ".rela.plt", table, ELF_T_RELA);
	made_section(making,
		     (GElf_Shdr){.sh_type = SHT_PROGBITS,
				 .sh_flags = SHF_ALLOC,
				 .sh_addr = MADE_PLT,
				 .sh_offset = MADE_PLT - MADE_TEXT + MADE_OFFSET,
				 .sh_size = 16 * (count + 1),
				 .sh_entsize = 16},
		     ".plt", table + count * sizeof(Elf64_Rela), ELF_T_BYTE);
}

#endif
