/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small ELF images with call frame information for tests, written byte by byte, so that they can be
 * wrong.
 *
 * Layout: addresses are file offsets; one executable segment holds all; text is at MADE_TEXT_START.
 * Put sections one after the other: made_begin(), entries, made_end().
 */
#ifndef TESTS_CFI_MAKER_H
#define TESTS_CFI_MAKER_H

#include "base/cursor.h"

#include <elf.h>

enum {
	MADE_HEADERS_BYTES = 0x400,
	MADE_TEXT_START = 0x10000,
	MADE_IMAGE_BYTES = 0x20000,
	MADE_SECTIONS_MAX = 6,
	MADE_SEGMENTS_MAX = 2,
};

struct made_cfi {
	u8 bytes[MADE_IMAGE_BYTES];
	u64 next;    /* free offset */
	u64 section; /* begun last */
	bool is_debug_frame, is_64;
	u16 machine; /* 0: EM_X86_64 */
	u64 entry;
	Elf64_Shdr sections[MADE_SECTIONS_MAX];
	u16 section_count;
	Elf64_Phdr segments[MADE_SEGMENTS_MAX];
	u16 segment_count;
	bool has_no_sections; /* stripped of its section headers */
};

/* The bytes of instructions: an argument pair. */
#define MADE_BYTES(...) (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__})

static void made_put(struct made_cfi *made, const void *bytes, size_t count)
{
	memcpy(made->bytes + made->next, bytes, count);
	made->next += count;
}

static void made_u32_put(struct made_cfi *made, u32 value)
{
	made_put(made, &value, sizeof(value));
}

/* Fills with DW_CFA_nop up to eight bytes, and writes the length of the entry that began there. */
static void made_entry_end(struct made_cfi *made, u64 start)
{
	u32 length;

	while (made->next & 7)
		made->bytes[made->next++] = 0;
	length = (u32)(made->next - start - sizeof(u32));
	memcpy(made->bytes + start, &length, sizeof(length));
}

/* Begins a section; returns its offset. */
static __attribute__((unused)) u64 made_begin(struct made_cfi *made, bool is_debug_frame)
{
	if (!made->next)
		made->next = MADE_HEADERS_BYTES;
	made->next = (made->next + 15) & ~(u64)15;
	made->is_debug_frame = is_debug_frame;
	made->section = made->next;
	return made->section;
}

/* Ends the section that began at `start`. */
static __attribute__((unused)) void made_end(struct made_cfi *made, u64 start, u64 flags)
{
	made->sections[made->section_count++] = (Elf64_Shdr){
		.sh_name = made->is_debug_frame ? 11 : 1,
		.sh_type = SHT_PROGBITS,
		.sh_flags = flags,
		.sh_addr = made->is_debug_frame ? 0 : start,
		.sh_offset = start,
		.sh_size = made->next - start,
		.sh_addralign = 1,
	};
}

/* A CIE: code factor 1, data factor -8, return address in `return_register`, pointers of four
 * absolute bytes (.debug_frame: eight). Returns its offset. */
static __attribute__((unused)) u64 made_cie(struct made_cfi *made, u8 return_register,
					    const u8 *instructions, size_t count)
{
	const u8 eh_frame[] = {1, 'z', 'R', 0, 1, 0x78, return_register, 1, 0x03};
	const u8 debug_frame[] = {4, 0, 8, 0, 1, 0x78, return_register};
	u64 start = made->next;

	made_u32_put(made, 0);
	made_u32_put(made, made->is_debug_frame ? ~0U : 0);
	if (made->is_debug_frame)
		made_put(made, debug_frame, sizeof(debug_frame));
	else
		made_put(made, eh_frame, sizeof(eh_frame));
	made_put(made, instructions, count);
	made_entry_end(made, start);
	return start;
}

/* The CIE of x86-64: CFA = rsp + 8, the return address below it. */
static __attribute__((unused)) u64 made_usual_cie(struct made_cfi *made)
{
	return made_cie(made, 16, MADE_BYTES(0x0c, 7, 8, 0x90, 1));
}

/* A function of [range[0], range[1]). Returns the FDE's offset. */
static __attribute__((unused)) u64 made_fde(struct made_cfi *made, u64 cie, const u64 range[2],
					    const u8 *instructions, size_t count)
{
	u64 start = made->next, length = range[1] - range[0];
	size_t pointer = made->is_debug_frame ? sizeof(u64) : sizeof(u32);

	made_u32_put(made, 0);
	made_u32_put(made, (u32)(made->is_debug_frame ? cie - made->section : made->next - cie));
	made_put(made, &range[0], pointer);
	made_put(made, &length, pointer);
	if (!made->is_debug_frame)
		made->bytes[made->next++] = 0; /* no augmentation data */
	made_put(made, instructions, count);
	made_entry_end(made, start);
	return start;
}

static void made_names_add(struct made_cfi *made)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";
	u64 start = made->next;

	made_put(made, names, sizeof(names));
	made->sections[made->section_count++] = (Elf64_Shdr){
		.sh_name = 24,
		.sh_type = SHT_STRTAB,
		.sh_offset = start,
		.sh_size = sizeof(names),
	};
}

/* The image, with its headers; borrowed from `made`. */
static __attribute__((unused)) struct bytes made_image(struct made_cfi *made)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = made->machine ? made->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = made->entry,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};

	made_names_add(made);
	made->segments[made->segment_count++] = (Elf64_Phdr){.p_type = PT_LOAD,
							     .p_flags = PF_R | PF_X,
							     .p_filesz = MADE_IMAGE_BYTES,
							     .p_memsz = MADE_IMAGE_BYTES};
	header.e_phnum = made->segment_count;
	if (!made->has_no_sections) {
		header.e_shoff = MADE_HEADERS_BYTES - sizeof(made->sections) - sizeof(Elf64_Shdr);
		header.e_shnum = (u16)(made->section_count + 1); /* the first is none */
		header.e_shstrndx = made->section_count;
		memcpy(made->bytes + header.e_shoff + sizeof(Elf64_Shdr), made->sections,
		       sizeof(made->sections));
	}
	memcpy(made->bytes, &header, sizeof(header));
	memcpy(made->bytes + sizeof(header), made->segments, sizeof(made->segments));
	return (struct bytes){made->bytes, sizeof(made->bytes)};
}

#endif
