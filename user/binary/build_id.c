/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The identity of a binary: its GNU build id note.
 *
 * For files it reads headers itself instead of through libelf: the start-up scan of a machine asks
 * this of thousands of files, and three small preads answer it. Formats: gABI chapters 4 and 5 (ELF
 * header, program header, note section).
 */
#include "binary/build_id.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/elf_file.h"
#include "binary/open_below.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	PROGRAM_HEADERS_MAX = 4096, /* of a file; real ones have about ten */
	NOTES_MAX_BYTES = 1 << 20,
};

/* Where something lies in the file. */
struct extent {
	u64 offset, bytes;
	u32 type;
};

/* What the ELF header says about the program headers. */
struct elf_layout {
	bool is_64_bit, swap;
	u64 table_offset;
	u32 entry_bytes, entry_count;
};

/* Reads exactly `bytes` at `offset`. Returns 0, -EBADMSG (the file ends before) or why not. */
static int read_at(int fd, u64 offset, void *to, size_t bytes)
{
	size_t done = 0;

	if (offset > INT64_MAX - bytes)
		return -EBADMSG;
	while (done < bytes) {
		ssize_t got = pread(fd, (u8 *)to + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		done += (size_t)got;
	}
	return 0;
}

static int read_layout(int fd, struct elf_layout *ret_layout)
{
	u8 header[sizeof(Elf64_Ehdr)] = {0};
	int error = read_at(fd, 0, header, sizeof(Elf32_Ehdr));
	struct elf_layout layout;
	struct cursor cursor;

	if (error)
		return error;
	if (memcmp(header, ELFMAG, SELFMAG) ||
	    (header[EI_CLASS] != ELFCLASS32 && header[EI_CLASS] != ELFCLASS64) ||
	    (header[EI_DATA] != ELFDATA2LSB && header[EI_DATA] != ELFDATA2MSB))
		return -EBADMSG;
	layout.is_64_bit = header[EI_CLASS] == ELFCLASS64;
	layout.swap = (header[EI_DATA] == ELFDATA2MSB) == (__BYTE_ORDER == __LITTLE_ENDIAN);
	if (layout.is_64_bit)
		error = read_at(fd, 0, header, sizeof(Elf64_Ehdr));
	if (error)
		return error;
	cursor = cursor_of((struct bytes){.start = header, .length = sizeof(header)});
	cursor.swap = layout.swap;
	cursor_take(&cursor, layout.is_64_bit ? offsetof(Elf64_Ehdr, e_phoff)
					      : offsetof(Elf32_Ehdr, e_phoff));
	layout.table_offset = layout.is_64_bit ? cursor_u64(&cursor) : cursor_u32(&cursor);
	/* e_shoff, e_flags, e_ehsize */
	cursor_take(&cursor, (layout.is_64_bit ? 8 : 4) + 4 + 2);
	layout.entry_bytes = cursor_u16(&cursor);
	layout.entry_count = cursor_u16(&cursor);
	if (layout.entry_bytes != (layout.is_64_bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) &&
	    layout.entry_count)
		return -EBADMSG;
	*ret_layout = layout;
	return 0;
}

static struct extent read_program_header(struct cursor *cursor, bool is_64_bit)
{
	struct extent extent = {.type = cursor_u32(cursor)};

	if (is_64_bit) {
		cursor_take(cursor, 4); /* p_flags */
		extent.offset = cursor_u64(cursor);
		cursor_take(cursor, 16); /* p_vaddr, p_paddr */
		extent.bytes = cursor_u64(cursor);
		cursor_take(cursor, 16); /* p_memsz, p_align */
		return extent;
	}
	extent.offset = cursor_u32(cursor);
	cursor_take(cursor, 8);
	extent.bytes = cursor_u32(cursor);
	cursor_take(cursor, 12); /* p_memsz, p_flags, p_align */
	return extent;
}

static int build_id_in_extent(int fd, const struct extent *extent, bool swap,
			      struct build_id *ret_id)
{
	CLEANUP(freep) u8 *notes = NULL;
	int error;

	if (extent->bytes > NOTES_MAX_BYTES)
		return -EBADMSG;
	notes = must_alloc(extent->bytes);
	error = read_at(fd, extent->offset, notes, extent->bytes);
	if (error)
		return error;
	return build_id_in_notes((struct bytes){.start = notes, .length = extent->bytes}, swap,
				 ret_id);
}

int build_id_of_fd(int fd, struct build_id *ret_id)
{
	CLEANUP(freep) u8 *table = NULL;
	struct elf_layout layout;
	struct cursor cursor;
	size_t table_bytes;
	int error = read_layout(fd, &layout);

	if (error)
		return error;
	if (layout.entry_count > PROGRAM_HEADERS_MAX)
		return -EBADMSG;
	table_bytes = (size_t)layout.entry_count * layout.entry_bytes;
	table = must_alloc(table_bytes);
	error = read_at(fd, layout.table_offset, table, table_bytes);
	if (error)
		return error;
	cursor = cursor_of((struct bytes){.start = table, .length = table_bytes});
	cursor.swap = layout.swap;
	error = -ENODATA;
	for (u32 i = 0; i < layout.entry_count && error; i++) {
		struct extent extent = read_program_header(&cursor, layout.is_64_bit);
		int found = extent.type == PT_NOTE
				    ? build_id_in_extent(fd, &extent, layout.swap, ret_id)
				    : -ENODATA;

		if (found != -ENODATA)
			error = found;
	}
	return error;
}

bool build_id_is(const struct build_id *id, const u8 *bytes, size_t length)
{
	return id->length == length && !memcmp(id->bytes, bytes, length);
}

static u64 padded(u64 bytes)
{
	return (bytes + 3) & ~(u64)3;
}

int build_id_in_notes(struct bytes notes, bool swap, struct build_id *ret_id)
{
	struct cursor cursor = cursor_of(notes);

	cursor.swap = swap;
	while (cursor_left(&cursor) >= sizeof(Elf64_Nhdr)) {
		u32 name_bytes = cursor_u32(&cursor), id_bytes = cursor_u32(&cursor);
		u32 type = cursor_u32(&cursor);
		const u8 *name = cursor_take(&cursor, padded(name_bytes));
		const u8 *id;

		/* The last note may lack its padding. */
		id = cursor_take(&cursor, id_bytes);
		if (!id)
			return -EBADMSG;
		if (type == NT_GNU_BUILD_ID && name_bytes == 4 && !memcmp(name, "GNU", 4) &&
		    id_bytes > 0 && id_bytes <= BUILD_ID_MAX_BYTES) {
			*ret_id = (struct build_id){.length = (u8)id_bytes};
			memcpy(ret_id->bytes, id, id_bytes);
			return 0;
		}
		if (cursor_left(&cursor) < padded(id_bytes) - id_bytes)
			break;
		cursor_take(&cursor, padded(id_bytes) - id_bytes);
	}
	return -ENODATA;
}

int build_id_of_image(struct bytes image, struct build_id *ret_id)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	int error = elf_file_open(image, &file);

	if (error)
		return error;
	error = -ENODATA;
	for (u32 i = 0; i < file.section_count && error; i++) {
		if (file.sections[i].type == SHT_NOTE)
			error = build_id_in_notes(elf_file_contents(&file, &file.sections[i]),
						  file.is_swapped, ret_id);
	}
	return error;
}

/* In a file of nothing but notes, as the kernel shows them. */
static int build_id_of_notes(const char *path, struct build_id *ret_id)
{
	CLEANUP(freep) char *notes = NULL;
	size_t length;
	int error = file_read(path, NOTES_MAX_BYTES, &notes, &length);

	if (error)
		return error;
	return build_id_in_notes((struct bytes){.start = (u8 *)notes, .length = length}, false,
				 ret_id);
}

int build_id_of_kernel(struct build_id *ret_id)
{
	return build_id_of_notes("/sys/kernel/notes", ret_id);
}

int build_id_of_module(const char *name, struct build_id *ret_id)
{
	CLEANUP(freep)
	char *path = must_format("/sys/module/%s/notes/.note.gnu.build-id", name);

	return build_id_of_notes(path, ret_id);
}

const char *build_id_text(const struct build_id *id, char text[static BUILD_ID_TEXT_BYTES])
{
	text[0] = 0;
	for (u32 i = 0; i < id->length && i < BUILD_ID_MAX_BYTES; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", id->bytes[i]);
	return text;
}
