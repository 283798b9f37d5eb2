/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our own copy of what naming or unwinding needs of an ELF file.
 */
#include "binary/elf_image.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/dwarf_sections.h"
#include "binary/elf_file.h"
#include "binary/open_below.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum {
	HEADERS_BYTES = 4096,	    /* the ELF header, and the program headers of most files */
	TABLES_MAX_BYTES = 1 << 30, /* of one file; Chromium's with debug symbols: some 200 MB */
	FRAMES_MAX_BYTES = 64 << 20,
	SECTION_TABLE_BYTES = 64 << 20, /* at most; read where the count is not in the ELF header */
};

static const u64 debug_max_bytes = 4ull << 30;

struct image {
	int fd;
	u8 *start;
	u64 length;
	u64 zeros;	   /* behind the file's end */
	u64 bytes_left;	   /* that may still be copied */
	XXH3_state_t *sum; /* of what was copied; NULL: nobody asks */
};

static void add_to_sum(const struct image *image, u64 offset, u64 bytes)
{
	if (!image->sum)
		return;
	XXH3_128bits_update(image->sum, &offset, sizeof(offset));
	XXH3_128bits_update(image->sum, image->start + offset, bytes);
}

/* Copies what there is of a part of the file; the rest stays zeros. */
static void copy_part(struct image *image, u64 offset, u64 bytes)
{
	u64 first = offset;

	if (offset >= image->length)
		return;
	if (bytes > image->length - offset)
		bytes = image->length - offset;
	if (bytes > image->bytes_left)
		return;
	image->bytes_left -= bytes;
	while (bytes) {
		ssize_t got = pread(image->fd, image->start + offset, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		offset += (u64)got;
		bytes -= (u64)got;
	}
	add_to_sum(image, first, offset - first);
}

static struct bytes bytes_of(const struct image *image)
{
	return (struct bytes){.start = image->start, .length = image->length};
}

/* The tables of sections and segments, which the ELF header leads to. */
static int copy_headers(struct image *image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	GElf_Ehdr header;

	copy_part(image, 0, HEADERS_BYTES);
	if (elf_file_open(bytes_of(image), &file) || !gelf_getehdr(file.elf, &header))
		return -EBADMSG;
	copy_part(image, header.e_phoff, (u64)header.e_phnum * header.e_phentsize);
	copy_part(image, header.e_shoff,
		  header.e_shnum ? (u64)header.e_shnum * header.e_shentsize : SECTION_TABLE_BYTES);
	return 0;
}

static bool is_table(const struct elf_section *section)
{
	static const u32 types[] = {SHT_STRTAB, SHT_SYMTAB, SHT_SYMTAB_SHNDX, SHT_DYNSYM, SHT_NOTE};

	for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
		if (section->type == types[i])
			return true;
	}
	return false;
}

static int copy_tables(struct image *image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};

	if (elf_file_open(bytes_of(image), &file))
		return -EBADMSG;
	for (u32 i = 0; i < file.section_count; i++) {
		if (is_table(&file.sections[i]))
			copy_part(image, file.sections[i].offset, file.sections[i].bytes);
	}
	return 0;
}

static int copy_relocations(struct image *image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};

	if (elf_file_open(bytes_of(image), &file))
		return -EBADMSG;
	for (u32 i = 0; i < file.section_count; i++) {
		if (file.sections[i].type == SHT_RELA)
			copy_part(image, file.sections[i].offset, file.sections[i].bytes);
	}
	return 0;
}

/* Sections that only their names tell, which have been copied before. Returns how many there are,
 * or -EBADMSG. */
static int copy_named(struct image *image, const char *const *names, size_t count)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	int found = 0;

	if (elf_file_open(bytes_of(image), &file))
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		const struct elf_section *section = elf_file_section(&file, SHT_NULL, names[i]);

		if (!section || section->type == SHT_NOBITS)
			continue;
		copy_part(image, section->offset, section->bytes);
		found++;
	}
	return found;
}

static int open_image(int fd, struct image *image)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size <= 0)
		return -EBADMSG;
	image->fd = fd;
	image->length = (u64)status.st_size;
	/* Pages that are never written take no memory. */
	image->start = mmap(NULL, image->length + image->zeros, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return image->start == MAP_FAILED ? -errno : 0;
}

/* What names come from: the tables, and of relocations those of the PLT. */
static int copy_symbols(struct image *image)
{
	static const char *const names[] = {".gnu_debuglink", ".gnu_debugdata", ".rela.plt",
					    ".rel.plt"};
	int error = copy_headers(image);

	if (!error)
		error = copy_tables(image);
	if (!error)
		error = copy_named(image, names, ARRAY_COUNT(names));
	return error < 0 ? error : 0;
}

/* Makes an image and lets `copy` fill it. */
static int read_image(int fd, int (*copy)(struct image *image), struct bytes *ret_image)
{
	CLEANUP(file_unmap) struct bytes bytes = {0};
	struct image image = {.bytes_left = TABLES_MAX_BYTES};
	int error = open_image(fd, &image);

	if (error)
		return error;
	bytes = bytes_of(&image);
	error = copy(&image);
	if (error)
		return error;
	*ret_image = bytes;
	bytes = (struct bytes){0};
	return 0;
}

int elf_image_read(int fd, struct bytes *ret_image)
{
	return read_image(fd, copy_symbols, ret_image);
}

static int copy_code_tables(struct image *image)
{
	int error = copy_headers(image);

	if (!error)
		error = copy_tables(image);
	return error ? error : copy_relocations(image);
}

int elf_image_code(int fd, struct bytes *ret_image)
{
	return read_image(fd, copy_code_tables, ret_image);
}

static int copy_section_names(struct image *image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	size_t names;

	if (elf_file_open(bytes_of(image), &file))
		return -EBADMSG;
	if (!elf_getshdrstrndx(file.elf, &names) && names < file.section_count)
		copy_part(image, file.sections[names].offset, file.sections[names].bytes);
	return 0;
}

static int copy_loaded(struct image *image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};

	if (elf_file_open(bytes_of(image), &file))
		return -EBADMSG;
	for (u32 i = 0; i < file.segment_count; i++)
		copy_part(image, file.segments[i].offset, file.segments[i].file_bytes);
	return 0;
}

static int copy_frames(struct image *image)
{
	static const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".debug_frame"};
	int found = copy_headers(image);

	if (!found)
		found = copy_section_names(image);
	if (!found)
		found = copy_named(image, names, ARRAY_COUNT(names));
	if (found)
		return found < 0 ? found : 0;
	return copy_loaded(image);
}

int elf_image_frames(int fd, struct bytes *ret_image, struct elf_digest *ret_digest)
{
	CLEANUP(file_unmap) struct bytes bytes = {0};
	struct image image = {.bytes_left = FRAMES_MAX_BYTES};
	int error = open_image(fd, &image);
	XXH128_hash_t sum;

	if (error)
		return error;
	bytes = bytes_of(&image);
	image.sum = XXH3_createState();
	if (!image.sum)
		return -ENOMEM;
	XXH3_128bits_reset(image.sum);
	error = copy_frames(&image);
	sum = XXH3_128bits_digest(image.sum);
	XXH3_freeState(image.sum);
	if (error)
		return error;
	*ret_digest = (struct elf_digest){sum.low64, sum.high64};
	*ret_image = bytes;
	bytes = (struct bytes){0};
	return 0;
}

static int copy_debug(struct image *image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};

	if (elf_file_open(bytes_of(image), &file))
		return -EBADMSG;
	for (u32 i = 0; i < file.section_count; i++) {
		const struct elf_section *section = &file.sections[i];

		if (section->type == SHT_NOBITS || !dwarf_wants_section(section->name))
			continue;
		if (section->bytes > image->bytes_left)
			return -EFBIG;
		copy_part(image, section->offset, section->bytes);
	}
	return 0;
}

int elf_image_debug(int fd, struct bytes *ret_image)
{
	static const char *const names[] = {".gnu_debuglink", ".gnu_debugaltlink", ".debug_sup",
					    ".note.gnu.build-id"};
	CLEANUP(file_unmap) struct bytes bytes = {0};
	struct image image = {.bytes_left = debug_max_bytes, .zeros = DWARF_SLACK_BYTES};
	int error = open_image(fd, &image);

	if (error)
		return error;
	bytes = (struct bytes){image.start, image.length + image.zeros};
	error = copy_headers(&image);
	if (!error)
		error = copy_section_names(&image);
	if (!error)
		error = copy_named(&image, names, ARRAY_COUNT(names));
	if (error >= 0)
		error = copy_debug(&image);
	if (error < 0)
		return error;
	*ret_image = bytes;
	bytes = (struct bytes){0};
	return 0;
}

static void take_table(struct file_pieces *pieces, u64 offset, u64 bytes)
{
	file_pieces_at(pieces, offset, bytes < SECTION_TABLE_BYTES ? bytes : SECTION_TABLE_BYTES);
}

/* The tables of segments and sections. */
static int take_tables(struct file_pieces *pieces)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	GElf_Ehdr header;

	if (elf_file_open(file_pieces_all(pieces), &file) || !gelf_getehdr(file.elf, &header))
		return -EBADMSG;
	take_table(pieces, header.e_phoff, (u64)header.e_phnum * header.e_phentsize);
	take_table(pieces, header.e_shoff,
		   header.e_shnum ? (u64)header.e_shnum * header.e_shentsize : SECTION_TABLE_BYTES);
	return 0;
}

static int take_section_names(struct file_pieces *pieces)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	size_t names;

	if (elf_file_open(file_pieces_all(pieces), &file))
		return -EBADMSG;
	if (!elf_getshdrstrndx(file.elf, &names) && names < file.section_count)
		take_table(pieces, file.sections[names].offset, file.sections[names].bytes);
	return 0;
}

int elf_pieces_headers(struct file_pieces *pieces)
{
	int error;

	file_pieces_at(pieces, 0, HEADERS_BYTES);
	error = take_tables(pieces);
	return error ? error : take_section_names(pieces);
}

int elf_image_whole(int fd, struct bytes *ret_image)
{
	struct image image = {.bytes_left = TABLES_MAX_BYTES};
	int error = open_image(fd, &image);

	if (error)
		return error;
	*ret_image = bytes_of(&image);
	if (image.length > TABLES_MAX_BYTES) {
		file_unmap(ret_image);
		return -EFBIG;
	}
	copy_part(&image, 0, image.length);
	return 0;
}

int elf_image_below(const char *root, const char *path, struct bytes *ret_image)
{
	CLEANUP(closep) int fd = -1;
	int error = open_below(root, path, LINKS_FOLLOWED, &fd);

	return error ? error : elf_image_read(fd, ret_image);
}
