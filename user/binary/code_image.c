/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF file's functions and dynamic relocations, and its text by the piece.
 */
#include "binary/code_image.h"

#include "base/file.h"
#include "binary/elf_file.h"
#include "binary/elf_image.h"
#include "binary/file_pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

/* Of one file; what is beyond is left out, and of the last two said to be (is_partial). Linkers
 * make no more than a dozen segments, and of tables of stubs four. */
enum { SEGMENTS_MAX = 64, STUB_TABLES_MAX = 16, SYMBOLS_MAX = 1 << 24 };
enum { RELOCATIONS_MAX = 1 << 22, DATA_MAX = 4096 };

/* Sections of relocations that are not read (Android's). */
enum { SHT_ANDROID_REL_TYPE = 0x60000001, SHT_ANDROID_RELA_TYPE = 0x60000002 };
/* Those of addresses that stand in the data, newer than some elf.h. */
enum { SHT_RELR_TYPE = 19, SHT_ANDROID_RELR_TYPE = 0x6fffff00 };

/* --- segments and symbols --- */

static const struct code_segment *segment_at(const struct code_image *image, u64 address)
{
	for (size_t i = 0; i < image->segments.count; i++)
		if (address - image->segments.items[i].address < image->segments.items[i].bytes)
			return &image->segments.items[i];
	return NULL;
}

/* Whether it lies apart from those before it: of addresses that are loaded from two places nothing
 * is known. */
static bool is_apart(const struct code_image *image, const struct code_segment *segment)
{
	for (size_t i = 0; i < image->segments.count; i++) {
		const struct code_segment *other = &image->segments.items[i];

		if (segment->address < other->address + other->bytes &&
		    other->address < segment->address + segment->bytes)
			return false;
	}
	return true;
}

static void add_segments(struct code_image *image, const struct elf_file *file)
{
	size_t count = 0;

	if (elf_getphdrnum(file->elf, &count))
		return;
	for (size_t i = 0; i < count && image->segments.count < SEGMENTS_MAX; i++) {
		struct code_segment segment;
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    header.p_offset > image->tables.length ||
		    header.p_filesz > image->tables.length - header.p_offset ||
		    header.p_vaddr + header.p_filesz < header.p_vaddr)
			continue;
		segment = (struct code_segment){
			.address = header.p_vaddr,
			.offset = header.p_offset,
			.bytes = header.p_filesz,
			.is_executable = header.p_flags & PF_X,
		};
		if (is_apart(image, &segment))
			*vec_add(&image->segments) = segment;
	}
}

static void add_symbol(struct code_image *image, const GElf_Sym *symbol, const char *name,
		       bool is_exported)
{
	u8 type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value)
		return;
	if (type == STT_OBJECT && is_exported)
		*vec_add(&image->objects) = symbol->st_value;
	/* Where stacks are split, code is called within functions. */
	image->is_partial |= name && !strcmp(name, "__morestack");
	/* Assembly may not say what it exports. */
	if (type != STT_FUNC && type != STT_GNU_IFUNC && (type != STT_NOTYPE || !is_exported))
		return;
	*vec_add(&image->symbols) = (struct code_symbol){
		.address = symbol->st_value,
		.bytes = symbol->st_size,
		.name = name ? name : "",
		.is_exported = is_exported,
		.is_resolver = type == STT_GNU_IFUNC,
	};
}

static void add_symbols(struct code_image *image, const struct elf_file *file, u32 type)
{
	const struct elf_section *section = elf_file_section(file, type, NULL);
	Elf_Data *table = section ? elf_file_table(file, section) : NULL;
	size_t count = table ? table->d_size / sizeof(Elf64_Sym) : 0;

	for (size_t i = 0; i < count && i < SYMBOLS_MAX; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(table, (int)i, &symbol))
			add_symbol(image, &symbol,
				   elf_strptr(file->elf, section->link, symbol.st_name),
				   type == SHT_DYNSYM);
	}
}

/* --- relocations --- */

struct relocations {
	const struct elf_file *file;
	Elf_Data *symbols;
	u32 names; /* section of their names */
};

static void add_slot(struct code_image *image, const struct relocations *relocations,
		     const GElf_Rela *entry)
{
	struct code_slot slot = {.address = entry->r_offset};
	u64 index = GELF_R_SYM(entry->r_info);
	GElf_Sym symbol;

	slot.is_resolver = GELF_R_TYPE(entry->r_info) == R_X86_64_IRELATIVE;
	if (!index) {
		slot.target = (u64)entry->r_addend;
	} else if (relocations->symbols && index < SYMBOLS_MAX &&
		   gelf_getsym(relocations->symbols, (int)index, &symbol)) {
		slot.name = elf_strptr(relocations->file->elf, relocations->names, symbol.st_name);
		if (symbol.st_shndx != SHN_UNDEF)
			slot.target = symbol.st_value + (u64)entry->r_addend;
	}
	*vec_add(&image->slots) = slot;
}

static void add_section_slots(struct code_image *image, const struct elf_file *file,
			      const struct elf_section *section)
{
	struct relocations relocations = {.file = file};
	Elf_Data *entries = elf_file_table(file, section);
	size_t count = entries ? entries->d_size / sizeof(Elf64_Rela) : 0;

	/* More than the file has room for are the same ones again. */
	if (count > RELOCATIONS_MAX - image->slots.count ||
	    count > image->tables.length / sizeof(Elf64_Rela) - image->slots.count) {
		image->is_partial = true;
		return;
	}
	if (section->link && section->link < file->section_count) {
		const struct elf_section *symbols = &file->sections[section->link];

		relocations.symbols = elf_file_table(file, symbols);
		relocations.names = symbols->link;
	}
	for (size_t i = 0; i < count; i++) {
		GElf_Rela entry;

		if (gelf_getrela(entries, (int)i, &entry))
			add_slot(image, &relocations, &entry);
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct code_slot *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void add_slots(struct code_image *image, const struct elf_file *file)
{
	for (u32 i = 1; i < file->section_count; i++) {
		const struct elf_section *section = &file->sections[i];

		if (section->type == SHT_RELA && section->flags & SHF_ALLOC)
			add_section_slots(image, file, section);
		image->has_packed_words |= section->type == SHT_RELR_TYPE ||
					   section->type == SHT_ANDROID_RELR_TYPE;
		image->is_partial |= section->type == SHT_ANDROID_REL_TYPE ||
				     section->type == SHT_ANDROID_RELA_TYPE;
	}
	if (image->slots.count)
		qsort(image->slots.items, image->slots.count, sizeof(*image->slots.items),
		      compare_slots);
}

/* --- stubs and data --- */

static void add_stubs(struct code_image *image, const struct elf_file *file)
{
	enum { STUB_BYTES_MIN = 8, STUB_BYTES = 16, STUB_BYTES_MAX = 64 };
	u64 left = image->tables.length; /* of the file: more are the same ones again */

	for (u32 i = 1; i < file->section_count && image->stubs.count < STUB_TABLES_MAX; i++) {
		const struct elf_section *section = &file->sections[i];
		u64 bytes = section->entry_bytes;

		if (strncmp(section->name, ".plt", 4) != 0 || !(section->flags & SHF_EXECINSTR) ||
		    section->bytes > left)
			continue;
		left -= section->bytes;
		*vec_add(&image->stubs) = (struct code_stubs){
			.address = section->address,
			.bytes = section->bytes,
			.stub_bytes = bytes >= STUB_BYTES_MIN && bytes <= STUB_BYTES_MAX
					      ? bytes
					      : STUB_BYTES,
		};
	}
}

/* Whether a section may be read by the program itself: it is not there for who loads or unwinds it.
 */
static bool is_data(const struct elf_section *section)
{
	static const char *const of_frames[] = {".eh_frame", ".eh_frame_hdr", ".gcc_except_table"};

	if ((section->type != SHT_PROGBITS && section->type != SHT_NOTE &&
	     section->type < SHT_LOUSER) ||
	    !(section->flags & SHF_ALLOC) || section->flags & SHF_EXECINSTR)
		return false;
	for (size_t i = 0; i < sizeof(of_frames) / sizeof(*of_frames); i++)
		if (!strcmp(section->name, of_frames[i]))
			return false;
	return true;
}

/* As far as it is loaded, and apart from what is there. */
static void add_data_at(struct code_image *image, u64 address, u64 bytes)
{
	const struct code_segment *segment = segment_at(image, address);
	struct code_data data = {.address = address};
	u64 within = segment ? address - segment->address : 0;

	if (!segment)
		return;
	data.offset = segment->offset + within;
	data.bytes = bytes < segment->bytes - within ? bytes : segment->bytes - within;
	for (size_t i = 0; i < image->data.count; i++)
		if (data.address < image->data.items[i].address + image->data.items[i].bytes &&
		    image->data.items[i].address < data.address + data.bytes)
			return;
	*vec_add(&image->data) = data;
}

/* By sections, which a file may have lost. */
static void add_data(struct code_image *image, const struct elf_file *file)
{
	for (u32 i = 1; i < file->section_count && image->data.count < DATA_MAX; i++)
		if (is_data(&file->sections[i]))
			add_data_at(image, file->sections[i].address, file->sections[i].bytes);
	image->is_partial |= file->section_count <= 1 || image->data.count == DATA_MAX;
}

/* --- reading --- */

/* What the tables say. */
static int read_tables(struct code_image *image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	GElf_Ehdr header;

	if (elf_file_open(image->tables, &file) || !gelf_getehdr(file.elf, &header))
		return -EBADMSG;
	if (file.machine != EM_X86_64 || gelf_getclass(file.elf) != ELFCLASS64 || file.is_swapped)
		return -ENOTSUP;
	add_segments(image, &file);
	add_symbols(image, &file, SHT_SYMTAB);
	add_symbols(image, &file, SHT_DYNSYM);
	add_slots(image, &file);
	add_stubs(image, &file);
	add_data(image, &file);
	image->entry = header.e_entry;
	return 0;
}

int code_image_take(struct bytes bytes, struct code_image *ret_image)
{
	struct code_image image = {.tables = bytes, .frames = bytes};
	int error = read_tables(&image);

	if (error)
		return error;
	image.text = file_pieces_of(bytes);
	*ret_image = image;
	return 0;
}

static int read_parts(int *fd, struct code_image *image)
{
	struct elf_digest digest;
	int error = elf_image_code(*fd, &image->tables);

	if (!error)
		error = read_tables(image);
	if (!error)
		error = elf_image_frames(*fd, &image->frames, &digest);
	if (!error)
		error = file_pieces_new(*fd, &image->text);
	if (!error)
		*fd = -1;
	return error;
}

/* A file that is changed again within one turn of the clock of its file system has the time that it
 * had before. */
static u64 state_of(int fd)
{
	enum { SETTLED_S = 2 };
	struct stat status;
	u64 parts[7];

	if (fstat(fd, &status) || status.st_ctim.tv_sec + SETTLED_S >= time(NULL) ||
	    status.st_mtim.tv_sec + SETTLED_S >= time(NULL))
		return 0;
	parts[0] = status.st_dev;
	parts[1] = status.st_ino;
	parts[2] = (u64)status.st_size;
	parts[3] = (u64)status.st_mtim.tv_sec;
	parts[4] = (u64)status.st_mtim.tv_nsec;
	parts[5] = (u64)status.st_ctim.tv_sec;
	parts[6] = (u64)status.st_ctim.tv_nsec;
	return XXH3_64bits(parts, sizeof(parts)) | 1;
}

int code_image_read(int file, struct code_image *ret_image)
{
	CLEANUP(closep) int fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
	CLEANUP(code_image_release) struct code_image image = {0};
	int error;

	if (fd < 0)
		return -errno;
	image.state = state_of(fd);
	if (build_id_of_fd(fd, &image.id))
		image.id = (struct build_id){0};
	error = read_parts(&fd, &image);
	if (error)
		return error;
	*ret_image = image;
	image = (struct code_image){0};
	return 0;
}

void code_image_release(struct code_image *image)
{
	if (image->frames.start != image->tables.start)
		file_unmap(&image->frames);
	file_unmap(&image->tables);
	file_pieces_free(image->text);
	vec_release(&image->segments);
	vec_release(&image->symbols);
	vec_release(&image->slots);
	vec_release(&image->stubs);
	vec_release(&image->data);
	vec_release(&image->objects);
	*image = (struct code_image){0};
}

/* --- asking --- */

u64 code_image_text_left(const struct code_image *image, u64 address)
{
	const struct code_segment *segment = segment_at(image, address);

	return segment && segment->is_executable ? segment->address + segment->bytes - address : 0;
}

struct bytes code_image_text(const struct code_image *image, u64 address, u64 most)
{
	const struct code_segment *segment = segment_at(image, address);
	u64 within, bytes;

	if (!segment || !segment->is_executable)
		return (struct bytes){0};
	within = address - segment->address;
	bytes = segment->bytes - within;
	return file_pieces_at(image->text, segment->offset + within, bytes < most ? bytes : most);
}

void code_image_copy(const struct code_image *image, u64 offset, void *to, size_t bytes)
{
	file_pieces_copy(image->text, offset, to, bytes);
}

const struct code_segment *code_image_segment(const struct code_image *image, u64 offset)
{
	for (size_t i = 0; i < image->segments.count; i++) {
		const struct code_segment *segment = &image->segments.items[i];

		if (segment->is_executable && offset - segment->offset < segment->bytes)
			return segment;
	}
	return NULL;
}

u64 code_image_offset(const struct code_image *image, u64 address)
{
	const struct code_segment *segment = segment_at(image, address);

	return segment ? address - segment->address + segment->offset : ~0ULL;
}

const struct code_slot *code_image_slot(const struct code_image *image, u64 address)
{
	struct code_slot key = {.address = address};

	if (!image->slots.count)
		return NULL;
	return bsearch(&key, image->slots.items, image->slots.count, sizeof(key), compare_slots);
}
