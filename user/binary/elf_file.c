/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF image in memory, opened through libelf.
 *
 * libelf checks offsets against the image and turns tables of the other byte order around; sizes
 * are checked here once more where memory is asked for.
 */
#include "binary/elf_file.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum {
	SECTIONS_MAX = 1 << 20, /* Linux with -ffunction-sections in a module: some ten thousand */
	SEGMENTS_MAX = 4096,
};

static void read_section(Elf *elf, size_t names, size_t index, struct elf_section *ret_section)
{
	Elf_Scn *section = elf_getscn(elf, index);
	GElf_Shdr header;
	const char *name;

	*ret_section = (struct elf_section){.name = ""};
	if (!section || !gelf_getshdr(section, &header))
		return;
	name = elf_strptr(elf, names, header.sh_name);
	*ret_section = (struct elf_section){
		.name = name ? name : "",
		.flags = header.sh_flags,
		.address = header.sh_addr,
		.offset = header.sh_offset,
		.bytes = header.sh_size,
		.entry_bytes = header.sh_entsize,
		.type = header.sh_type,
		.link = header.sh_link,
		.alignment = (u32)header.sh_addralign,
	};
}

/* A file without section headers has none, and then no symbols; that is no error. */
static int read_sections(struct elf_file *file)
{
	size_t count = 0, names = 0;

	if (elf_getshdrnum(file->elf, &count) || count > SECTIONS_MAX)
		return -EBADMSG;
	if (elf_getshdrstrndx(file->elf, &names))
		names = 0;
	file->sections = must_alloc_array(count, sizeof(*file->sections));
	for (size_t i = 0; i < count; i++)
		read_section(file->elf, names, i, &file->sections[i]);
	file->section_count = (u32)count;
	return 0;
}

static int read_segments(struct elf_file *file)
{
	size_t count = 0;

	if (elf_getphdrnum(file->elf, &count) || count > SEGMENTS_MAX)
		return -EBADMSG;
	file->segments = must_alloc_array(count, sizeof(*file->segments));
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		file->segments[file->segment_count++] = (struct elf_segment){
			.address = header.p_vaddr,
			.memory_bytes = header.p_memsz,
			.offset = header.p_offset,
			.file_bytes = header.p_filesz,
		};
	}
	return 0;
}

int elf_file_open(struct bytes image, struct elf_file *ret_file)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	GElf_Ehdr header;

	if (image.length < sizeof(Elf32_Ehdr) || elf_version(EV_CURRENT) == EV_NONE)
		return -EBADMSG;
	/* libelf takes char *, but only reads what it is given this way. */
	file.elf = elf_memory((char *)(uintptr_t)image.start, image.length);
	if (!file.elf || elf_kind(file.elf) != ELF_K_ELF || !gelf_getehdr(file.elf, &header))
		return -EBADMSG;
	file.machine = header.e_machine;
	file.type = header.e_type;
	file.is_swapped = (header.e_ident[EI_DATA] == ELFDATA2MSB) ==
			  (__BYTE_ORDER == __LITTLE_ENDIAN);
	if (read_sections(&file) || read_segments(&file))
		return -EBADMSG;
	*ret_file = file;
	file = (struct elf_file){0};
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	free(file->sections);
	free(file->segments);
	*file = (struct elf_file){0};
}

const struct elf_section *elf_file_section(const struct elf_file *file, u32 type, const char *name)
{
	for (u32 i = 1; i < file->section_count; i++) {
		const struct elf_section *section = &file->sections[i];

		if (type != SHT_NULL ? section->type == type : !strcmp(section->name, name))
			return section;
	}
	return NULL;
}

static Elf_Scn *handle_of(const struct elf_file *file, const struct elf_section *section)
{
	return elf_getscn(file->elf, (size_t)(section - file->sections));
}

struct bytes elf_file_contents(const struct elf_file *file, const struct elf_section *section)
{
	Elf_Data *data = section && section->type != SHT_NOBITS
				 ? elf_rawdata(handle_of(file, section), NULL)
				 : NULL;

	if (!data || !data->d_buf)
		return (struct bytes){0};
	return (struct bytes){.start = data->d_buf, .length = data->d_size};
}

Elf_Data *elf_file_table(const struct elf_file *file, const struct elf_section *section)
{
	Elf_Data *data = section && section->type != SHT_NOBITS
				 ? elf_getdata(handle_of(file, section), NULL)
				 : NULL;

	return data && data->d_buf ? data : NULL;
}

u64 elf_file_offset(const struct elf_file *file, u64 address, const struct elf_section *section)
{
	for (u32 i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];
		u64 bytes = segment->memory_bytes > segment->file_bytes ? segment->memory_bytes
									: segment->file_bytes;

		if (address >= segment->address && address - segment->address < bytes)
			return address - segment->address + segment->offset;
	}
	return section ? address - section->address + section->offset : address;
}
