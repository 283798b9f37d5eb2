/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of an ELF file as symbols.
 *
 * What counts as a symbol, which table goes first and where it lies in the file are perf's rules,
 * so that both tools name an address alike. Source: tools/perf/util/symbol-elf.c, Linux 6.1
 * (elf_sym__is_function, dso__load_sym_internal, dso__synthesize_plt_symbols). Ours beyond that:
 * entries of .plt.sec have names too, and a damaged symbol does not lose those behind it.
 */
#include "binary/elf_file.h"
#include "binary/plt.h"
#include "binary/symbols.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum {
	SYMBOLS_MAX = 8 << 20, /* of one file; Chromium has one million */
	NAME_MAX_BYTES = 64 << 10,
	/* Linkers let names share tails, but not more than this on average. */
	NAME_SHARING_MAX = 8,
};

/* One symbol table while it is read. */
struct table {
	const struct elf_file *file;  /* that the table is in */
	const struct elf_file *image; /* that runs */
	struct bytes lasting;	      /* bytes of `file` that names may be borrowed from; 0: none */
	bool is_virtual;	      /* leave addresses as they are linked */
	bool borrows;
	Elf_Data *symbols;
	Elf_Data *section_numbers; /* of symbols, where they do not fit into one; or NULL */
	struct bytes names;
	u64 names_left; /* bytes that may still be copied */
};

/* NUL terminated inside the string table, "" if it is not there or too long to be true. */
static const char *name_of(const struct table *table, u64 offset)
{
	const char *name;
	size_t room;

	if (offset >= table->names.length)
		return "";
	name = (const char *)table->names.start + offset;
	if (table->borrows)
		return name;
	room = table->names.length - offset;
	if (room > NAME_MAX_BYTES)
		room = NAME_MAX_BYTES;
	return memchr(name, 0, room) ? name : "";
}

/* Whether names can be left where they are, unseen: each ends, and none is too long to be true. */
static bool can_borrow(const struct table *table)
{
	const u8 *start = table->names.start, *lasting = table->lasting.start;
	size_t length = table->names.length;

	if (!length || !lasting || start < lasting ||
	    start + length > lasting + table->lasting.length || start[length - 1])
		return false;
	for (size_t i = 0; i + NAME_MAX_BYTES <= length; i += NAME_MAX_BYTES)
		if (!memchr(start + i, 0, NAME_MAX_BYTES))
			return false;
	return true;
}

/* Code, and data too: an address in a table inside .text is then named after the table. */
static bool is_function_or_object(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

/* Assembler labels without a type. */
static bool is_label(const GElf_Sym *symbol)
{
	int visibility = GELF_ST_VISIBILITY(symbol->st_other);

	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

static bool may_hold_labels(const struct elf_section *section)
{
	return strstr(section->name, "text") || strstr(section->name, "data");
}

/* $a, $d, $t, $x mark switches between code and data on ARM; $d, $x… on RISC-V. */
static bool is_mapping_symbol(u16 machine, const char *name)
{
	if (name[0] != '$')
		return false;
	if (machine == EM_RISCV)
		return name[1] == 'd' || name[1] == 'x';
	return (machine == EM_ARM || machine == EM_AARCH64) && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == 0 || name[2] == '.');
}

static u8 binding_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return SYMBOL_GLOBAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default: /* STB_GNU_UNIQUE too, as in perf */
		return SYMBOL_LOCAL;
	}
}

/* The number of the section that a symbol is in, SHN_UNDEF if it is in none. Numbers from
 * SHN_LORESERVE on do not fit and stand in a table of their own. Source: System V gABI 4.1, "Symbol
 * Table", SHN_XINDEX. */
static u32 section_number(const struct table *table, const GElf_Sym *symbol, size_t index)
{
	const Elf_Data *numbers = table->section_numbers;
	Elf32_Word number;

	if (symbol->st_shndx < SHN_LORESERVE)
		return symbol->st_shndx;
	if (symbol->st_shndx != SHN_XINDEX || !numbers || index >= numbers->d_size / sizeof(number))
		return SHN_UNDEF;
	memcpy(&number, (const u8 *)numbers->d_buf + index * sizeof(number), sizeof(number));
	return number;
}

/* The section of a symbol that is code or data of the running program, NULL if it isn't. */
static const struct elf_section *section_of(const struct table *table, const GElf_Sym *symbol,
					    size_t index)
{
	u32 number = section_number(table, symbol, index);
	const struct elf_section *section;

	if (symbol->st_name == 0 || number == SHN_UNDEF || number >= table->file->section_count)
		return NULL;
	section = &table->file->sections[number];
	if (!(section->flags & SHF_ALLOC))
		return NULL;
	/* In a debug file sections are empty shells; the image has the same ones in full. */
	if (section->type == SHT_NOBITS && number < table->image->section_count)
		section = &table->image->sections[number];
	if (!is_function_or_object(symbol) && !(is_label(symbol) && may_hold_labels(section)))
		return NULL;
	return section;
}

/* What the linker joins from pieces of every object has a symbol without a size at its front: that
 * is the whole section, and not the PLT behind it as well, as it is in perf. */
static u64 bytes_of(const GElf_Sym *symbol, const struct elf_section *section)
{
	u64 end = section->address + section->bytes;

	if (symbol->st_size || symbol->st_value >= end ||
	    (strcmp(section->name, ".init") != 0 && strcmp(section->name, ".fini") != 0))
		return symbol->st_size;
	return end - symbol->st_value;
}

/* Adds a symbol if it is one to show. Returns how many bytes of name were copied. */
static u64 add_symbol(struct symbols *symbols, const struct table *table, GElf_Sym *elf_symbol,
		      size_t index)
{
	const struct elf_section *section = section_of(table, elf_symbol, index);
	struct symbol symbol = {0};

	if (!section)
		return 0;
	symbol.name = name_of(table, elf_symbol->st_name);
	if (!symbol.name[0] || is_mapping_symbol(table->file->machine, symbol.name))
		return 0;
	/* Thumb functions carry a flag in their lowest bit. */
	if (table->file->machine == EM_ARM && GELF_ST_TYPE(elf_symbol->st_info) == STT_FUNC)
		elf_symbol->st_value &= ~(GElf_Addr)1;
	symbol.start = table->is_virtual
			       ? elf_symbol->st_value
			       : elf_file_offset(table->image, elf_symbol->st_value, section);
	symbol.end = symbol.start + bytes_of(elf_symbol, section);
	symbol.binding = binding_of(elf_symbol);
	symbol.is_data = GELF_ST_TYPE(elf_symbol->st_info) == STT_OBJECT;
	if (table->borrows) {
		symbols_add_borrowed(symbols, &symbol);
		return 0;
	}
	symbols_add(symbols, &symbol);
	return strlen(symbol.name) + 1;
}

static Elf_Data *section_numbers_of(const struct elf_file *file, const struct elf_section *symbols)
{
	u32 table = (u32)(symbols - file->sections);

	for (u32 i = 1; i < file->section_count; i++)
		if (file->sections[i].type == SHT_SYMTAB_SHNDX && file->sections[i].link == table)
			return elf_file_table(file, &file->sections[i]);
	return NULL;
}

/* Adds a whole table and settles it. Returns 0, -ENODATA (nothing in it) or -EBADMSG. */
static int add_table(struct symbols *symbols, struct table *table, u32 type)
{
	const struct elf_section *section = elf_file_section(table->file, type, NULL);
	size_t before = symbols_count(symbols), count;
	GElf_Sym elf_symbol;

	if (!section)
		return -ENODATA;
	table->symbols = elf_file_table(table->file, section);
	if (!table->symbols || section->link >= table->file->section_count)
		return -EBADMSG;
	table->section_numbers = section_numbers_of(table->file, section);
	table->names = elf_file_contents(table->file, &table->file->sections[section->link]);
	table->names_left = (u64)table->names.length * NAME_SHARING_MAX;
	table->borrows = can_borrow(table);
	count = table->symbols->d_size / gelf_fsize(table->file->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (count > SYMBOLS_MAX)
		count = SYMBOLS_MAX;
	symbols_expect(symbols, count);
	for (size_t i = 0; i < count && gelf_getsym(table->symbols, (int)i, &elf_symbol); i++) {
		u64 copied = add_symbol(symbols, table, &elf_symbol, i);

		if (copied > table->names_left)
			return -EBADMSG;
		table->names_left -= copied;
	}
	if (symbols_count(symbols) == before)
		return -ENODATA;
	symbols_settle(symbols);
	return 0;
}

/* An image that is open, with its debug file. */
struct opened {
	struct elf_file image, debug;
	struct bytes image_bytes, debug_bytes; /* that names may be borrowed from; 0: none */
};

static int add_opened(struct symbols *symbols, const struct opened *opened)
{
	const struct elf_file *image = &opened->image, *debug = &opened->debug;
	bool has_debug = debug->elf && elf_file_section(debug, SHT_SYMTAB, NULL);
	struct table dynamic = {.file = image, .image = image, .lasting = opened->image_bytes};
	struct table table = dynamic;
	int error, dynamic_error;

	if (has_debug) {
		table.file = debug;
		table.lasting = opened->debug_bytes;
	}
	error = add_table(symbols, &table, SHT_SYMTAB);
	dynamic_error = add_table(symbols, &dynamic, SHT_DYNSYM);
	if (symbols_count(symbols))
		plt_add_symbols(symbols, image);
	symbols_finish(symbols);
	if (error == -EBADMSG || dynamic_error == -EBADMSG)
		return -EBADMSG;
	return symbols_count(symbols) ? 0 : -ENODATA;
}

static int add_elf(struct symbols *symbols, struct bytes image, struct bytes debug, bool borrows)
{
	struct opened opened = {0};
	int error;

	if (elf_file_open(image, &opened.image))
		return -EBADMSG;
	if (debug.length && elf_file_open(debug, &opened.debug))
		opened.debug = (struct elf_file){0};
	if (borrows) {
		opened.image_bytes = image;
		opened.debug_bytes = debug;
	}
	error = add_opened(symbols, &opened);
	elf_file_close(&opened.image);
	elf_file_close(&opened.debug);
	return error;
}

int symbols_add_elf(struct symbols *symbols, struct bytes image, struct bytes debug)
{
	return add_elf(symbols, image, debug, false);
}

int symbols_add_elf_borrowed(struct symbols *symbols, struct bytes image, struct bytes debug)
{
	return add_elf(symbols, image, debug, true);
}

int symbols_add_linkage(struct symbols *symbols, struct bytes image)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};

	if (elf_file_open(image, &file))
		return -EBADMSG;
	plt_add_symbols(symbols, &file);
	symbols_finish(symbols);
	return symbols_count(symbols) ? 0 : -ENODATA;
}

/* The address of the first symbol of this name, 0 if there is none. */
static u64 address_of(const struct table *table, const char *name)
{
	GElf_Sym symbol;

	for (int i = 0; table->symbols && gelf_getsym(table->symbols, i, &symbol); i++) {
		if (!strcmp(name_of(table, symbol.st_name), name))
			return symbol.st_value;
	}
	return 0;
}

int symbols_add_kernel_image(struct symbols *symbols, struct bytes image, const char *reference,
			     u64 *ret_reference)
{
	CLEANUP(elf_file_close) struct elf_file file = {0};
	struct table table = {.file = &file, .image = &file, .is_virtual = true};
	int error;

	if (elf_file_open(image, &file))
		return -EBADMSG;
	error = add_table(symbols, &table, SHT_SYMTAB);
	symbols_finish(symbols);
	*ret_reference = address_of(&table, reference);
	return error;
}
