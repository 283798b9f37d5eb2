/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections by name, or by program header alone.
 *
 * Without section headers nothing says how long .eh_frame is: it goes on to its end mark, or, where
 * other objects' entries stand behind that, to the last entry of the table in .eh_frame_hdr.
 */
#include "unwind/cfi_sections.h"

#include "base/memory.h"
#include "unwind/cfi_number.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
	HEADER_VERSION = 1, /* of .eh_frame_hdr; source: LSB 5.0 core, 10.6.2 */
	TABLE_SORTED_DATA4 =
		0x3b, /* pairs of s32, relative to the header: what every linker makes */
	TABLE_ROW_BYTES = 8,
	COMPRESSED_BY_ZSTD = 2,	   /* ELFCOMPRESS_ZSTD, which not every elf.h has yet */
	UNPACKED_TIMES_MAX = 1100, /* deflate packs 1032 bytes into one at best */
};

/* The part of a segment that is in the file. Returns false if there is none. */
static bool segment_of(const GElf_Phdr *header, struct bytes image, struct cfi_segment *ret_segment)
{
	u64 bytes = header->p_filesz;

	if (header->p_offset >= image.length)
		return false;
	if (bytes > image.length - header->p_offset)
		bytes = image.length - header->p_offset;
	*ret_segment = (struct cfi_segment){header->p_vaddr, header->p_offset, bytes};
	return bytes > 0;
}

static int read_text(struct bytes image, struct cfi_sections *sections)
{
	struct cfi_segment segment;
	GElf_Phdr header;
	size_t count = 0;

	if (elf_getphdrnum(sections->elf, &count))
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(sections->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X) || !segment_of(&header, image, &segment))
			continue;
		if (sections->text_count == CFI_SEGMENTS_MAX)
			return -EBADMSG;
		sections->text[sections->text_count++] = segment;
	}
	return 0;
}

/* The bytes of the image from a loaded address to the end of its segment; empty if it is not
 * loaded.
 */
static struct bytes loaded_at(const struct cfi_sections *sections, struct bytes image, u64 address)
{
	struct cfi_segment segment;
	GElf_Phdr header;
	size_t count = 0;
	u64 skipped;

	if (elf_getphdrnum(sections->elf, &count))
		return (struct bytes){0};
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(sections->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !segment_of(&header, image, &segment))
			continue;
		skipped = address - segment.address;
		if (skipped < segment.bytes)
			return (struct bytes){image.start + segment.offset + skipped,
					      segment.bytes - skipped};
	}
	return (struct bytes){0};
}

/* The entry at an offset of .eh_frame: where it ends; 0 if it is the end mark or cut. */
static u64 entry_end(struct bytes bytes, u64 offset)
{
	struct cursor cursor = cursor_of(bytes);
	u64 length;

	if (!cursor_take(&cursor, offset))
		return 0;
	length = cursor_u32(&cursor);
	if (length == 0xffffffff)
		length = cursor_u64(&cursor);
	if (!length || !cursor_take(&cursor, length))
		return 0;
	return (u64)(cursor.next - bytes.start);
}

/* The end of .eh_frame. `table`: at the rows of .eh_frame_hdr, which has the given address. */
static u64 frames_end(const struct cfi_section *frames, struct cursor *table, u64 rows, u64 address)
{
	u64 end = 0, next;

	while ((next = entry_end(frames->bytes, end)))
		end = next;
	for (; rows && cursor_left(table) >= TABLE_ROW_BYTES; rows--) {
		cursor_u32(table); /* the function */
		next = entry_end(frames->bytes,
				 address + (u64)(s32)cursor_u32(table) - frames->address);
		if (next > end)
			end = next;
	}
	return end;
}

/* .eh_frame by the table that leads to it. */
static void read_by_table(struct cfi_sections *sections, struct bytes image, u64 address)
{
	struct cfi_section header = {.bytes = loaded_at(sections, image, address),
				     .address = address,
				     .data_address = address};
	struct cfi_section *frames = &sections->eh_frame;
	struct cursor cursor = cursor_of(header.bytes);
	u8 version = cursor_u8(&cursor), pointer = cursor_u8(&cursor), number = cursor_u8(&cursor);
	u8 table = cursor_u8(&cursor);
	u64 rows;

	sections->is_walked = true;
	frames->address = cfi_pointer(&cursor, pointer, &header);
	if (version != HEADER_VERSION || cursor.overrun)
		return;
	rows = cfi_pointer(&cursor, number, &header);
	if (table != TABLE_SORTED_DATA4 || cursor.overrun)
		rows = 0;
	frames->bytes = loaded_at(sections, image, frames->address);
	if (frames->bytes.length)
		frames->bytes.length = frames_end(frames, &cursor, rows, address);
}

static void read_without_sections(struct cfi_sections *sections, struct bytes image)
{
	GElf_Phdr header;
	size_t count = 0;

	if (elf_getphdrnum(sections->elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(sections->elf, (int)i, &header) &&
		    header.p_type == PT_GNU_EH_FRAME) {
			read_by_table(sections, image, header.p_vaddr);
			return;
		}
	}
}

static bool unpack_zlib(struct bytes packed, u8 *bytes, size_t count)
{
	uLongf written = count;

	return uncompress(bytes, &written, packed.start, packed.length) == Z_OK && written == count;
}

static bool unpack_zstd(struct bytes packed, u8 *bytes, size_t count)
{
	return ZSTD_decompress(bytes, count, packed.start, packed.length) == count;
}

/* Unpacks a section, if that costs no more than any honest one needs. Returns nothing if not, or if
 * it is broken. (libelf would write into the image.) */
static struct bytes unpack(struct bytes packed, u8 **owned)
{
	struct cursor cursor = cursor_of(packed);
	const u8 *start = cursor_take(&cursor, sizeof(Elf64_Chdr));
	Elf64_Chdr header = {0};
	bool is_whole = false;

	if (start)
		memcpy(&header, start, sizeof(header));
	if (!header.ch_size || header.ch_size > CFI_BYTES_MAX ||
	    header.ch_size / UNPACKED_TIMES_MAX > packed.length)
		return (struct bytes){0};
	packed = (struct bytes){cursor.next, cursor_left(&cursor)};
	*owned = must_alloc(header.ch_size);
	if (header.ch_type == ELFCOMPRESS_ZLIB)
		is_whole = unpack_zlib(packed, *owned, header.ch_size);
	else if (header.ch_type == COMPRESSED_BY_ZSTD)
		is_whole = unpack_zstd(packed, *owned, header.ch_size);
	return (struct bytes){*owned, is_whole ? header.ch_size : 0};
}

static void read_section(Elf_Scn *scn, const GElf_Shdr *header, struct cfi_section *section,
			 struct cfi_sections *sections)
{
	Elf_Data *data = elf_rawdata(scn, NULL);

	section->address = header->sh_addr;
	if (data && data->d_buf)
		section->bytes = (struct bytes){data->d_buf, data->d_size};
	if (!(header->sh_flags & SHF_COMPRESSED))
		return;
	/* What is loaded is never packed, so that there is one to own at most. */
	if (section->is_debug_frame && !sections->unpacked)
		section->bytes = unpack(section->bytes, &sections->unpacked);
	else
		section->bytes = (struct bytes){0};
	sections->is_broken |= !section->bytes.length;
}

/* Finds the named sections. Returns false if none is .eh_frame, be it one without bytes: that of a
 * file of debug data, whose segments lead nowhere. */
static bool read_sections(struct cfi_sections *sections)
{
	bool is_named = false;
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(sections->elf, &names))
		return false;
	while ((scn = elf_nextscn(sections->elf, scn))) {
		struct cfi_section *section = NULL;
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(scn, &header))
			continue;
		name = elf_strptr(sections->elf, names, header.sh_name);
		if (name && !strcmp(name, ".eh_frame"))
			section = &sections->eh_frame;
		else if (name && !strcmp(name, ".debug_frame"))
			section = &sections->debug_frame;
		is_named |= section == &sections->eh_frame;
		if (section && !section->bytes.length && header.sh_type != SHT_NOBITS)
			read_section(scn, &header, section, sections);
	}
	return is_named;
}

/* Whether the dynamic linker loads others for this one. */
static bool needs_libraries(struct bytes dynamic)
{
	struct cursor cursor = cursor_of(dynamic);
	s64 tag;

	do {
		tag = (s64)cursor_u64(&cursor);
		cursor_u64(&cursor);
	} while (tag != DT_NULL && tag != DT_NEEDED);
	return tag == DT_NEEDED;
}

/* The entry of what is run: a program, or the dynamic linker, which is a library that needs none.
 * Other libraries have one too, but it is just where their text begins. */
static void read_entry(struct cfi_sections *sections, struct bytes image)
{
	bool is_run = false, is_library = false;
	GElf_Ehdr header;
	GElf_Phdr segment;
	size_t count = 0;

	if (!gelf_getehdr(sections->elf, &header) || elf_getphdrnum(sections->elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(sections->elf, (int)i, &segment))
			continue;
		is_run |= segment.p_type == PT_INTERP;
		is_library |= segment.p_type == PT_DYNAMIC &&
			      needs_libraries(loaded_at(sections, image, segment.p_vaddr));
	}
	sections->entry = is_run || !is_library ? header.e_entry : 0;
}

static int read_machine(struct cfi_sections *sections)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(sections->elf, &header))
		return -EBADMSG;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return -ENOTSUP;
	sections->eh_frame.machine = header.e_machine == EM_X86_64 ? CFI_X86_64 : CFI_AARCH64;
	sections->debug_frame.machine = sections->eh_frame.machine;
	sections->debug_frame.is_debug_frame = true;
	return 0;
}

int cfi_sections_open(struct bytes image, struct cfi_sections *ret_sections)
{
	int error;

	*ret_sections = (struct cfi_sections){0};
	elf_version(EV_CURRENT);
	ret_sections->elf = elf_memory((char *)(uintptr_t)image.start, image.length);
	if (!ret_sections->elf)
		return -EBADMSG;
	error = read_machine(ret_sections);
	if (!error)
		error = read_text(image, ret_sections);
	if (error)
		return error;
	read_entry(ret_sections, image);
	if (!read_sections(ret_sections))
		read_without_sections(ret_sections, image);
	return 0;
}

void cfi_sections_close(struct cfi_sections *sections)
{
	elf_end(sections->elf);
	free(sections->unpacked);
}
