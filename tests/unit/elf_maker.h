/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small ELF files of every class and byte order for tests, written through libelf.
 *
 * Layout: .text at address 0x1000, offset 0x100; a PLT behind it; .symtab, .dynsym
 * and .rela.plt as asked for.
 */
#ifndef TESTS_ELF_MAKER_H
#define TESTS_ELF_MAKER_H

#include "unit/elf_parts.h"

#include <sys/mman.h>
#include <unistd.h>

struct made_elf {
	int class;     /* ELFCLASS…; 0: 64 */
	int order;     /* ELFDATA2…; 0: little endian */
	int machine;   /* 0: EM_X86_64 */
	bool is_debug; /* .text is an empty shell, and nothing is where the image has it */
	u8 id[20];     /* build id; all zero: none */
	const struct made_symbol *symbols, *dynamic;
	size_t symbol_count, dynamic_count;
	size_t plt_count;	    /* relocations of the first dynamic symbols */
	const u32 *section_numbers; /* .symtab_shndx: of no symbol, and of the first of `symbols` */
	size_t section_number_count;
	size_t far_count; /* loaded sections behind all others */
	const char *link;
	u32 link_checksum;
	const void *packed; /* .gnu_debugdata */
	size_t packed_bytes;
};

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

static void made_note(struct elf_being_made *making, const u8 id[20], u32 note[9])
{
	note[0] = made_u32(making, 4);
	note[1] = made_u32(making, 20);
	note[2] = made_u32(making, 3);
	memcpy(&note[3], "GNU", 4);
	memcpy(&note[4], id, 20);
	made_section(making, (GElf_Shdr){.sh_type = SHT_NOTE, .sh_offset = 0xc0, .sh_size = 36},
		     ".note.gnu.build-id", note, ELF_T_BYTE);
}

static void made_link(struct elf_being_made *making, const char *name, u32 checksum, u8 link[64])
{
	size_t name_bytes = (strlen(name) + 4) & ~(size_t)3;

	strcpy((char *)link, name);
	checksum = made_u32(making, checksum);
	memcpy(link + name_bytes, &checksum, 4);
	made_section(making, (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_size = name_bytes + 4},
		     ".gnu_debuglink", link, ELF_T_BYTE);
}

/* Source: System V gABI 4.1, SHT_SYMTAB_SHNDX. */
static void made_section_numbers(struct elf_being_made *making, const struct made_elf *made,
				 u16 symbols)
{
	made_section(making,
		     (GElf_Shdr){.sh_type = SHT_SYMTAB_SHNDX,
				 .sh_size = made->section_number_count * sizeof(u32),
				 .sh_entsize = sizeof(u32),
				 .sh_link = symbols},
		     ".symtab_shndx", made->section_numbers, ELF_T_WORD);
}

static void made_far_sections(struct elf_being_made *making, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		Elf_Scn *section = elf_newscn(making->elf);
		GElf_Shdr header = {.sh_type = SHT_NOBITS,
				    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				    .sh_addr = MADE_TEXT,
				    .sh_offset = MADE_OFFSET,
				    .sh_addralign = 1};

		gelf_update_shdr(section, &header);
	}
}

/* The names of the sections, and where all is. */
static void made_end(struct elf_being_made *making)
{
	u16 names = made_section(
		making, (GElf_Shdr){.sh_type = SHT_STRTAB, .sh_size = sizeof(making->names)},
		".shstrtab", making->names, ELF_T_BYTE);
	GElf_Ehdr header;

	gelf_getehdr(making->elf, &header);
	header.e_shstrndx = names;
	header.e_shoff = (making->next_offset + 63) & ~(u64)63;
	gelf_update_ehdr(making->elf, &header);
}

/* Writes the file into memory; returns its descriptor, the caller's to close. */
static __attribute__((unused)) int make_elf(const struct made_elf *made)
{
	static const u8 text[MADE_TEXT_BYTES] = {0x90};
	int fd = memfd_create("elf", 0);
	struct elf_being_made making = {.order = made->order ? made->order : ELFDATA2LSB,
					.next_offset = MADE_OFFSET + MADE_LOADED_BYTES,
					.names_bytes = 1};
	CLEANUP(freep) char *symbols = NULL, *dynamic = NULL, *relocations = NULL;
	u8 link[64] = {0};
	u32 note[9] = {0};
	u16 symbols_index = 0, dynamic_index = 0;
	bool is_written;

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
	if (made->id[0])
		made_note(&making, made->id, note);
	if (made->symbol_count)
		symbols_index = made_symbols(&making, made->symbols, made->symbol_count, false,
					     &symbols);
	if (made->section_number_count)
		made_section_numbers(&making, made, symbols_index);
	if (made->dynamic_count)
		dynamic_index = made_symbols(&making, made->dynamic, made->dynamic_count, true,
					     &dynamic);
	if (made->plt_count)
		made_relocations(&making, made->plt_count, dynamic_index, &relocations);
	if (made->link)
		made_link(&making, made->link, made->link_checksum, link);
	if (made->packed)
		made_section(&making,
			     (GElf_Shdr){.sh_type = SHT_PROGBITS, .sh_size = made->packed_bytes},
			     ".gnu_debugdata", made->packed, ELF_T_BYTE);
	made_end(&making);
	made_far_sections(&making, made->far_count);
	is_written = elf_update(making.elf, ELF_C_WRITE) >= 0;
	elf_end(making.elf);
	if (is_written)
		return fd;
	close(fd);
	return -1;
}

#endif
