/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small ELF files of every class and byte order for tests, written through libelf.
 *
 * Layout: .text at address 0x1000, offset 0x100; a PLT behind it; .symtab, .dynsym
 * and .rela.plt as asked for.
 */
#ifndef TESTS_ELF_MAKER_H
#define TESTS_ELF_MAKER_H

#include "base/memory.h"
#include "base/vec.h"
#include "bpfprof/types.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct made_symbol {
	const char *name;
	u64 value, bytes;
	u8 binding, type, visibility;
	u16 section; /* 1: .text; SHN_… */
};

struct made_elf {
	int class;     /* ELFCLASS…; 0: 64 */
	int order;     /* ELFDATA2…; 0: little endian */
	int machine;   /* 0: EM_X86_64 */
	bool is_debug; /* .text is an empty shell, and nothing is where the image has it */
	u8 id[20];     /* build id; all zero: none */
	const struct made_symbol *symbols, *dynamic;
	size_t symbol_count, dynamic_count;
	size_t plt_count; /* relocations of the first dynamic symbols */
	const char *link;
	u32 link_checksum;
	const void *packed; /* .gnu_debugdata */
	size_t packed_bytes;
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

/* A symbol table and its strings. `dynamic`: .dynsym, .dynstr. Returns its index. */
static u16 made_symbols(struct elf_being_made *making, const struct made_symbol *symbols,
			size_t count, bool dynamic, char **owned)
{
	size_t entry = gelf_fsize(making->elf, ELF_T_SYM, 1, EV_CURRENT), names_bytes = 1;
	char *names = must_alloc(count * 64 + 64 + (count + 1) * sizeof(GElf_Sym));
	Elf_Data table = {.d_buf = names + count * 64 + 64,
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

static u32 made_u32(const struct elf_being_made *making, u32 value)
{
	bool is_little = __BYTE_ORDER == __LITTLE_ENDIAN;

	return (making->order == ELFDATA2LSB) == is_little ? value : __builtin_bswap32(value);
}

static void made_header(struct elf_being_made *making, const struct made_elf *made)
{
	GElf_Ehdr header = {0};
	GElf_Phdr load = {.p_type = PT_LOAD,
			  .p_offset = made->is_debug ? 0 : MADE_OFFSET,
			  .p_vaddr = MADE_TEXT,
			  .p_filesz = made->is_debug ? 0 : MADE_LOADED_BYTES,
			  .p_memsz = MADE_LOADED_BYTES,
			  .p_flags = PF_R | PF_X};
	GElf_Phdr note = {.p_type = PT_NOTE, .p_offset = 0xc0, .p_filesz = 36};

	gelf_newehdr(making->elf, made->class ? made->class : ELFCLASS64);
	gelf_getehdr(making->elf, &header);
	header.e_ident[EI_DATA] = (u8)making->order;
	header.e_type = ET_DYN;
	header.e_machine = (u16)(made->machine ? made->machine : EM_X86_64);
	header.e_version = EV_CURRENT;
	header.e_phoff = gelf_fsize(making->elf, ELF_T_EHDR, 1, EV_CURRENT);
	header.e_shstrndx = 0;
	gelf_update_ehdr(making->elf, &header);
	gelf_newphdr(making->elf, 2);
	gelf_update_phdr(making->elf, 0, &load);
	gelf_update_phdr(making->elf, 1, &note);
}

/* Writes the file into memory; returns its descriptor, the caller's to close. */
static __attribute__((unused)) int make_elf(const struct made_elf *made)
{
	int fd = memfd_create("elf", 0);
	struct elf_being_made making = {.order = made->order ? made->order : ELFDATA2LSB,
					.next_offset = MADE_OFFSET + MADE_LOADED_BYTES,
					.names_bytes = 1};
	u8 text[MADE_TEXT_BYTES] = {0x90}, link[64] = {0};
	char *owned[3] = {0};
	u32 note[9] = {0}, checksum;
	u16 dynamic = 0, names;
	size_t link_bytes;
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	making.elf = elf_begin(fd, ELF_C_WRITE, NULL);
	elf_flagelf(making.elf, ELF_C_SET, ELF_F_LAYOUT | ELF_F_PERMISSIVE);
	made_header(&making, made);
	made_section(&making,
		     (GElf_Shdr){.sh_type = made->is_debug ? SHT_NOBITS : SHT_PROGBITS,
				 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				 .sh_addr = MADE_TEXT,
				 .sh_offset = MADE_OFFSET,
				 .sh_size = MADE_TEXT_BYTES},
		     ".text", made->is_debug ? NULL : text, ELF_T_BYTE);
	made_section(&making, (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_size = 4}, ".comment", "abc",
		     ELF_T_BYTE);
	if (made->id[0]) {
		note[0] = made_u32(&making, 4);
		note[1] = made_u32(&making, 20);
		note[2] = made_u32(&making, 3);
		memcpy(&note[3], "GNU", 4);
		memcpy(&note[4], made->id, 20);
		made_section(&making,
			     (GElf_Shdr){.sh_type = SHT_NOTE, .sh_offset = 0xc0, .sh_size = 36},
			     ".note.gnu.build-id", note, ELF_T_BYTE);
	}
	if (made->symbol_count)
		made_symbols(&making, made->symbols, made->symbol_count, false, &owned[0]);
	if (made->dynamic_count)
		dynamic = made_symbols(&making, made->dynamic, made->dynamic_count, true,
				       &owned[1]);
	if (made->plt_count)
		made_relocations(&making, made->plt_count, dynamic, &owned[2]);
	if (made->link) {
		strcpy((char *)link, made->link);
		link_bytes = (strlen(made->link) + 4) & ~(size_t)3;
		checksum = made_u32(&making, made->link_checksum);
		memcpy(link + link_bytes, &checksum, 4);
		made_section(&making,
			     (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_size = link_bytes + 4},
			     ".gnu_debuglink", link, ELF_T_BYTE);
	}
	if (made->packed)
		made_section(&making,
			     (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_size = made->packed_bytes},
			     ".gnu_debugdata", made->packed, ELF_T_BYTE);
	names = made_section(&making,
			     (GElf_Shdr){.sh_type = SHT_STRTAB, .sh_size = sizeof(making.names)},
			     ".shstrtab", making.names, ELF_T_BYTE);
	gelf_getehdr(making.elf, &header);
	header.e_shstrndx = names;
	header.e_shoff = (making.next_offset + 63) & ~(u64)63;
	gelf_update_ehdr(making.elf, &header);
	if (elf_update(making.elf, ELF_C_WRITE) < 0) {
		close(fd);
		fd = -1;
	}
	elf_end(making.elf);
	for (size_t i = 0; i < ARRAY_COUNT(owned); i++)
		free(owned[i]);
	return fd;
}

#endif
