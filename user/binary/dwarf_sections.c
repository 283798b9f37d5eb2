/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sections that DWARF is in.
 *
 * libdw takes its sections from an ELF file. Ours never exists: libelf is given a new file whose
 * sections point to bytes that are there already, so handles share them, and what was compressed is
 * unpacked once and within bounds.
 */
#include "binary/dwarf_sections.h"

#include "base/file.h"
#include "binary/elf_file.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
	/* What compilers write shrinks to a third or so. */
	UNPACKING_RATIO_MAX = 256,
	UNPACKING_FREE_BYTES = 1 << 20,
	COMPRESSED_ZLIB = 1, /* ch_type; gABI, "Section Compression" */
	COMPRESSED_ZSTD = 2,
};

#define AS_PART_NAME(name) [DWARF_##name] = #name,
static const char *const part_names[] = {DWARF_PARTS(AS_PART_NAME)};

static bool unpack_zlib(struct bytes packed, u8 *room, u64 bytes)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.start};
	u64 done_in = 0, done_out = 0;
	int state = Z_OK;

	if (inflateInit(&stream) != Z_OK)
		return false;
	stream.next_out = room;
	/* zlib counts in 32 bits. */
	while (state == Z_OK && done_in < packed.length && done_out < bytes) {
		u64 in_left = packed.length - done_in, out_left = bytes - done_out;
		uInt in = in_left > 1 << 30 ? 1 << 30 : (uInt)in_left;
		uInt out = out_left > 1 << 30 ? 1 << 30 : (uInt)out_left;

		stream.avail_in = in;
		stream.avail_out = out;
		state = inflate(&stream, Z_NO_FLUSH);
		done_in += in - stream.avail_in;
		done_out += out - stream.avail_out;
	}
	inflateEnd(&stream);
	return done_out == bytes;
}

static bool unpack_into(u32 kind, struct bytes packed, u8 *room, u64 bytes)
{
	if (kind == COMPRESSED_ZSTD)
		return ZSTD_decompress(room, bytes, packed.start, packed.length) == bytes;
	return kind == COMPRESSED_ZLIB && unpack_zlib(packed, room, bytes);
}

/* Room for a section and the zeros behind it; NULL if there is none. It takes memory only where it
 * is written. */
static u8 *make_room(struct dwarf_sections *sections, u64 bytes)
{
	void *room = mmap(NULL, bytes + DWARF_SLACK_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return NULL;
	*vec_add(&sections->unpacked) = (struct bytes){room, bytes + DWARF_SLACK_BYTES};
	return room;
}

static int unpack(struct dwarf_sections *sections, u32 kind, struct bytes packed, u64 bytes,
		  struct bytes *ret_part)
{
	u8 *room;

	if (!bytes || bytes / UNPACKING_RATIO_MAX > packed.length + UNPACKING_FREE_BYTES)
		return -EFBIG;
	room = make_room(sections, bytes);
	if (!room)
		return -ENOMEM;
	if (!unpack_into(kind, packed, room, bytes))
		return -EBADMSG;
	*ret_part = (struct bytes){room, bytes};
	return 0;
}

/* A section with SHF_COMPRESSED begins with a header of the file's class and byte order. */
static int unpack_flagged(struct dwarf_sections *sections, struct bytes packed, bool swap,
			  struct bytes *ret_part)
{
	struct cursor cursor = cursor_of(packed);
	u64 bytes;
	u32 kind;

	cursor.swap = swap;
	kind = cursor_u32(&cursor);
	if (sections->class == ELFCLASS64) {
		cursor_u32(&cursor);
		bytes = cursor_u64(&cursor);
		cursor_u64(&cursor);
	} else {
		bytes = cursor_u32(&cursor);
		cursor_u32(&cursor);
	}
	if (cursor.overrun)
		return -EBADMSG;
	packed = (struct bytes){cursor.next, cursor_left(&cursor)};
	return unpack(sections, kind, packed, bytes, ret_part);
}

/* .zdebug_…, older than the flag: "ZLIB" and the size, big endian. */
static int unpack_named(struct dwarf_sections *sections, struct bytes packed,
			struct bytes *ret_part)
{
	struct cursor cursor = cursor_of(packed);
	const u8 *magic = cursor_take(&cursor, 4);
	u64 bytes = cursor_u64(&cursor);

	if (cursor.overrun || memcmp(magic, "ZLIB", 4))
		return -EBADMSG;
	if (__BYTE_ORDER == __LITTLE_ENDIAN)
		bytes = bswap_64(bytes);
	packed = (struct bytes){cursor.next, cursor_left(&cursor)};
	return unpack(sections, COMPRESSED_ZLIB, packed, bytes, ret_part);
}

/* The part that a section's name says, with `suffix` behind it; -1 if none. */
static int part_of(const char *name, const char *suffix, bool *ret_is_packed)
{
	*ret_is_packed = !strncmp(name, ".zdebug_", 8);
	if (!*ret_is_packed && strncmp(name, ".debug_", 7) != 0)
		return -1;
	name += *ret_is_packed ? 8 : 7;
	for (int part = 0; part < DWARF_PART_COUNT; part++) {
		size_t length = strlen(part_names[part]);

		if (!strncmp(name, part_names[part], length) &&
		    !strcmp(name + length, part == DWARF_cu_index ? "" : suffix))
			return part;
	}
	return -1;
}

bool dwarf_wants_section(const char *name)
{
	bool is_packed;

	return part_of(name, "", &is_packed) >= 0 || part_of(name, ".dwo", &is_packed) >= 0;
}

bool dwarf_sections_copy_part(struct dwarf_sections *sections, enum dwarf_part part, u64 shift)
{
	struct bytes *bytes = &sections->parts[part];
	u8 *room = make_room(sections, shift + bytes->length);

	if (!room)
		return false;
	memcpy(room + shift, bytes->start, bytes->length);
	*bytes = (struct bytes){room, shift + bytes->length};
	return true;
}

static int read_section(struct dwarf_sections *sections, const struct elf_file *file,
			const struct elf_section *section, const char *suffix)
{
	bool is_packed;
	int part = part_of(section->name, suffix, &is_packed);
	struct bytes contents;

	if (part < 0 || sections->parts[part].length)
		return 0;
	contents = elf_file_contents(file, section);
	if (!contents.length)
		return 0;
	if (section->flags & SHF_COMPRESSED)
		return unpack_flagged(sections, contents, file->is_swapped, &sections->parts[part]);
	if (is_packed)
		return unpack_named(sections, contents, &sections->parts[part]);
	sections->parts[part] = contents;
	return sections->is_copied && !dwarf_sections_copy_part(sections, part, 0) ? -ENOMEM : 0;
}

static bool ends_in_zeros(struct bytes image)
{
	static const u8 zeros[DWARF_SLACK_BYTES];

	return image.length >= sizeof(zeros) &&
	       !memcmp(image.start + image.length - sizeof(zeros), zeros, sizeof(zeros));
}

/* So that no string runs over the end of its section. */
static void end_strings(struct bytes *strings)
{
	while (strings->length && strings->start[strings->length - 1])
		strings->length--;
}

int dwarf_sections_read(struct bytes image, const char *suffix, struct dwarf_sections *ret_sections)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	CLEANUP(dwarf_sections_release) struct dwarf_sections sections = {0};
	const char *identity;
	int error = elf_file_open(image, &file);

	if (error)
		return error;
	identity = elf_getident(file.elf, NULL);
	sections.class = (u8)identity[EI_CLASS];
	sections.order = (u8)identity[EI_DATA];
	sections.machine = file.machine;
	sections.type = file.type;
	sections.is_copied = !ends_in_zeros(image);
	for (u32 i = 1; i < file.section_count && !error; i++)
		error = read_section(&sections, &file, &file.sections[i], suffix);
	if (error)
		return error;
	if (!sections.parts[DWARF_info].length)
		return -ENODATA;
	end_strings(&sections.parts[DWARF_str]);
	end_strings(&sections.parts[DWARF_line_str]);
	*ret_sections = sections;
	sections = (struct dwarf_sections){0};
	return 0;
}

bool dwarf_sections_are_swapped(const struct dwarf_sections *sections)
{
	return sections->order != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
}

void dwarf_sections_release(struct dwarf_sections *sections)
{
	for (size_t i = 0; i < sections->unpacked.count; i++)
		file_unmap(&sections->unpacked.items[i]);
	vec_release(&sections->unpacked);
	*sections = (struct dwarf_sections){0};
}

/* The names of the sections that are there, as .shstrtab has them. */
static const char section_names[] = "\0.shstrtab"
#define AS_SECTION_NAME(name) "\0.debug_" #name
	DWARF_PARTS(AS_SECTION_NAME);

static u32 section_name(const char *prefix, const char *name)
{
	for (u32 at = 1; at < sizeof(section_names); at += (u32)strlen(section_names + at) + 1) {
		size_t length = strlen(prefix);

		if (!strncmp(section_names + at, prefix, length) &&
		    !strcmp(section_names + at + length, name))
			return at;
	}
	return 0;
}

static bool add_section(Elf *elf, u32 type, u32 name, struct bytes bytes)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header))
		return false;
	/* libelf takes void *, but libdw only reads. */
	data->d_buf = (void *)(uintptr_t)bytes.start;
	data->d_size = bytes.length;
	data->d_type = ELF_T_BYTE;
	data->d_align = 1;
	header.sh_type = type;
	header.sh_name = name;
	header.sh_size = bytes.length;
	return gelf_update_shdr(section, &header);
}

static bool add_header(const struct dwarf_sections *sections, Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_newehdr(elf, sections->class) || !gelf_getehdr(elf, &header))
		return false;
	header.e_ident[EI_DATA] = sections->order;
	header.e_type = ET_DYN;
	header.e_machine = sections->machine;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = 1;
	return gelf_update_ehdr(elf, &header) &&
	       add_section(elf, SHT_STRTAB, section_name(".", "shstrtab"),
			   (struct bytes){(const u8 *)section_names, sizeof(section_names)});
}

int dwarf_handle_open(const struct dwarf_sections *sections, struct dwarf_handle *ret_handle)
{
	CLEANUP(dwarf_handle_close) struct dwarf_handle handle = {0};
	/* libelf wants a file to write to, though nothing is ever written. */
	CLEANUP(closep) int own = sections->file ? -1 : memfd_create("dwarf", MFD_CLOEXEC);
	int fd = sections->file ? sections->file - 1 : own;

	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return -EBADMSG;
	handle.elf = elf_begin(fd, ELF_C_WRITE, NULL);
	if (!handle.elf || !add_header(sections, handle.elf))
		return -EBADMSG;
	for (int part = 0; part < DWARF_cu_index; part++) {
		if (sections->parts[part].length &&
		    !add_section(handle.elf, SHT_PROGBITS,
				 section_name(".debug_", part_names[part]), sections->parts[part]))
			return -EBADMSG;
	}
	handle.dwarf = dwarf_begin_elf(handle.elf, DWARF_C_READ, NULL);
	if (!handle.dwarf)
		return -EBADMSG;
	/* It stays open no longer than this: a thousand units may be open at once. */
	elf_cntl(handle.elf, ELF_C_FDDONE);
	*ret_handle = handle;
	handle = (struct dwarf_handle){0};
	return 0;
}

void dwarf_handle_close(struct dwarf_handle *handle)
{
	dwarf_end(handle->dwarf);
	elf_end(handle->elf);
	*handle = (struct dwarf_handle){0};
}
