/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of ELF files, whole and damaged.
 */
#include "binary/binary.h"
#include "unit/elf_maker.h"
#include "unit/unit.h"

#include "base/file.h"
#include "binary/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Offsets in the file are addresses minus this. */
enum { SHIFT = MADE_TEXT - MADE_OFFSET };

static const struct made_symbol program[] = {
	{"alpha", 0x1010, 0x20, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
	{"open_end", 0x1040, 0, STB_LOCAL, STT_FUNC, STV_DEFAULT, 1},
	{"table", 0x1080, 0x10, STB_LOCAL, STT_OBJECT, STV_DEFAULT, 1},
	{"resolver", 0x1090, 0x10, STB_GLOBAL, STT_GNU_IFUNC, STV_DEFAULT, 1},
	{"label", 0x10b0, 0x08, STB_LOCAL, STT_NOTYPE, STV_DEFAULT, 1},
	{"hidden_label", 0x10c0, 0x08, STB_LOCAL, STT_NOTYPE, STV_HIDDEN, 1},
	{"undefined", 0x10d0, 0x08, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_UNDEF},
	{"absolute", 0x10d0, 0x08, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_ABS},
	{"source.c", 0x10d0, 0x08, STB_LOCAL, STT_FILE, STV_DEFAULT, 1},
	{"not_loaded", 0x10d0, 0x08, STB_LOCAL, STT_FUNC, STV_DEFAULT, 2},
	{"no_such_section", 0x10d0, 0x08, STB_LOCAL, STT_FUNC, STV_DEFAULT, 99},
	{NULL, 0x10d0, 0x08, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
};

static const struct made_symbol dynamic[] = {
	{"puts", 0, 0, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_UNDEF},
	{"_ZN3foo3barEv", 0, 0, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_UNDEF},
	{"exported", 0x1100, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
};

static struct bytes map_made(const struct made_elf *made)
{
	CLEANUP(closep) int fd = make_elf(made);
	struct bytes image = {0};

	assert_true(fd >= 0);
	assert_int_equal(elf_image_read(fd, &image), 0);
	return image;
}

static struct made_elf whole_program(void)
{
	return (struct made_elf){.id = {1, 2, 3},
				 .symbols = program,
				 .symbol_count = ARRAY_COUNT(program),
				 .dynamic = dynamic,
				 .dynamic_count = ARRAY_COUNT(dynamic),
				 .plt_count = 2};
}

static const char *name_at(const struct symbols *symbols, u64 address)
{
	const struct symbol *symbol = symbols_find(symbols, address - SHIFT);

	return symbol ? symbol->name : "(none)";
}

static void check_program(const struct symbols *symbols)
{
	assert_string_equal(name_at(symbols, 0x100f), "(none)");
	assert_string_equal(name_at(symbols, 0x1010), "alpha");
	assert_string_equal(name_at(symbols, 0x1030), "(none)");
	assert_string_equal(name_at(symbols, 0x107f), "open_end");
	assert_string_equal(name_at(symbols, 0x1088), "table");
	assert_string_equal(name_at(symbols, 0x1090), "resolver");
	assert_string_equal(name_at(symbols, 0x10b7), "label");
	assert_string_equal(name_at(symbols, 0x10c0), "(none)");
	assert_string_equal(name_at(symbols, 0x10d0), "(none)");
	assert_string_equal(name_at(symbols, 0x110f), "exported");
	assert_string_equal(name_at(symbols, MADE_PLT), "(none)");
	assert_string_equal(name_at(symbols, MADE_PLT + 0x10), "puts@plt");
	assert_string_equal(name_at(symbols, MADE_PLT + 0x2f), "_ZN3foo3barEv@plt");
	assert_string_equal(name_at(symbols, MADE_PLT + 0x30), "(none)");
}

static void functions_data_and_labels_of_every_class_and_order_are_found_by_offset(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct made_elf made = whole_program();
		CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
		CLEANUP(file_unmap) struct bytes image = {0};

		made.class = kind & 1 ? ELFCLASS32 : ELFCLASS64;
		made.order = kind & 2 ? ELFDATA2MSB : ELFDATA2LSB;
		image = map_made(&made);
		assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), 0);
		check_program(symbols);
	}
}

static void a_stripped_file_is_named_from_its_dynamic_symbols(void **state)
{
	struct made_elf made = whole_program();
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(file_unmap) struct bytes image = {0};

	(void)state;
	made.symbol_count = 0;
	image = map_made(&made);
	assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), 0);
	assert_false(has_symbol_table(image));
	assert_string_equal(name_at(symbols, 0x1010), "(none)");
	assert_string_equal(name_at(symbols, 0x1100), "exported");
	assert_string_equal(name_at(symbols, MADE_PLT + 0x10), "puts@plt");
}

static void a_debug_file_names_by_the_offsets_of_the_image(void **state)
{
	struct made_elf made = whole_program(), debug = whole_program();
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(file_unmap) struct bytes image = {0}, debug_image = {0};

	(void)state;
	made.symbol_count = 0;
	debug.is_debug = true;
	debug.dynamic_count = debug.plt_count = 0;
	image = map_made(&made);
	debug_image = map_made(&debug);
	assert_int_equal(symbols_add_elf(symbols, image, debug_image), 0);
	check_program(symbols);
}

static void thumb_flags_and_mapping_symbols_of_arm_are_left_out(void **state)
{
	static const struct made_symbol arm[] = {
		{"thumb", 0x1011, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
		{"$d", 0x1030, 0x10, STB_LOCAL, STT_NOTYPE, STV_DEFAULT, 1},
		{"$t.5", 0x1030, 0x10, STB_LOCAL, STT_NOTYPE, STV_DEFAULT, 1},
		{"$dollar", 0x1050, 0x10, STB_LOCAL, STT_NOTYPE, STV_DEFAULT, 1},
	};
	struct made_elf made = {.class = ELFCLASS32,
				.machine = EM_ARM,
				.symbols = arm,
				.symbol_count = ARRAY_COUNT(arm)};
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(file_unmap) struct bytes image = map_made(&made);

	(void)state;
	assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), 0);
	assert_string_equal(name_at(symbols, 0x1010), "thumb");
	assert_string_equal(name_at(symbols, 0x1030), "(none)");
	assert_string_equal(name_at(symbols, 0x1050), "$dollar");
}

static void a_section_number_that_does_not_fit_stands_in_a_table_of_its_own(void **state)
{
	enum { FAR = 65500 };
	static const struct made_symbol functions[] = {
		{"before", 0x1010, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
		{"far", 0x1020, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_XINDEX},
		{"undefined", 0x1030, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_XINDEX},
		{"no_such_section", 0x1040, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_XINDEX},
		{"not_in_the_table", 0x1050, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, SHN_XINDEX},
		{"after", 0x1060, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
	};
	static const u32 numbers[] = {0, 0, FAR, SHN_UNDEF, ~0u};

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct made_elf made = {.class = kind & 1 ? ELFCLASS32 : ELFCLASS64,
					.order = kind & 2 ? ELFDATA2MSB : ELFDATA2LSB,
					.symbols = functions,
					.symbol_count = ARRAY_COUNT(functions),
					.section_numbers = numbers,
					.section_number_count = ARRAY_COUNT(numbers),
					.far_count = FAR};
		CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
		CLEANUP(file_unmap) struct bytes image = map_made(&made);

		assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), 0);
		assert_string_equal(name_at(symbols, 0x1010), "before");
		assert_string_equal(name_at(symbols, 0x1020), "far");
		for (u64 address = 0x1030; address < 0x1060; address += 0x10)
			assert_string_equal(name_at(symbols, address), "(none)");
		assert_string_equal(name_at(symbols, 0x1060), "after");
	}
}

static void a_symbol_whose_name_is_too_long_leaves_the_address(void **state)
{
	enum { NAME_BYTES = 100000 };
	CLEANUP(freep) char *name = must_alloc(NAME_BYTES + 1);
	const struct made_symbol functions[] = {
		{name, 0x1010, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
		{"after", 0x1020, 0x10, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
	};
	struct made_elf made = {.symbols = functions, .symbol_count = ARRAY_COUNT(functions)};
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(file_unmap) struct bytes image = {0};

	(void)state;
	memset(name, 'f', NAME_BYTES);
	image = map_made(&made);
	assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), 0);
	assert_string_equal(name_at(symbols, 0x1010), "(none)");
	assert_string_equal(name_at(symbols, 0x1020), "after");
}

static void a_kernel_image_keeps_its_addresses_and_tells_its_reference(void **state)
{
	struct made_elf made = whole_program();
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(file_unmap) struct bytes image = map_made(&made);
	u64 reference = 7;

	(void)state;
	assert_int_equal(symbols_add_kernel_image(symbols, image, "alpha", &reference), 0);
	assert_int_equal(reference, 0x1010);
	assert_string_equal(symbols_find(symbols, 0x1018)->name, "alpha");
}

static void a_file_without_symbols_is_told_from_one_that_is_no_elf(void **state)
{
	struct made_elf made = {.id = {1}};
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(file_unmap) struct bytes image = map_made(&made);

	(void)state;
	assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), -ENODATA);
	assert_int_equal(symbols_add_elf(symbols,
					 (struct bytes){(const u8 *)"#!/bin/sh and so on, and on, "
								    "and on, and on, and on, and "
								    "on, and on",
							90},
					 (struct bytes){0}),
			 -EBADMSG);
	assert_int_equal(symbols_add_elf(symbols, (struct bytes){0}, (struct bytes){0}), -EBADMSG);
	assert_int_equal(symbols_count(symbols), 0);
}

/* Reads a copy of exactly this length, so that a sanitizer sees any byte too far. */
/* Names that are borrowed are those that would have been copied. */
static void check_borrowed(const struct symbols *copied, struct bytes image, int error)
{
	CLEANUP(symbols_freep) struct symbols *borrowed = symbols_new();
	int borrowed_error = symbols_add_elf_borrowed(borrowed, image, image);

	for (size_t i = 0; i < symbols_count(borrowed); i++)
		assert_true(strlen(symbols_at(borrowed, i)->name) < image.length);
	if (error)
		return; /* a copy also ends where names overlap too much */
	assert_int_equal(borrowed_error, 0);
	assert_int_equal(symbols_count(borrowed), symbols_count(copied));
	for (size_t i = 0; i < symbols_count(copied); i++) {
		assert_int_equal(symbols_at(borrowed, i)->start, symbols_at(copied, i)->start);
		assert_int_equal(symbols_at(borrowed, i)->end, symbols_at(copied, i)->end);
		assert_string_equal(symbols_at(borrowed, i)->name, symbols_at(copied, i)->name);
	}
}

static void read_damaged(const u8 *bytes, size_t length)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(freep) u8 *copy = (u8 *)must_copy_bytes(bytes, length);
	struct bytes image;
	struct build_id id;
	int error;

	copy = must_resize_array(copy, length ? length : 1, 1);
	image = (struct bytes){copy, length};
	error = symbols_add_elf(symbols, image, image);
	check_borrowed(symbols, image, error);
	build_id_of_image(image, &id);
	for (size_t i = 0; i < symbols_count(symbols); i++)
		assert_true(strlen(symbols_at(symbols, i)->name) < length);
}

static void a_file_cut_at_any_byte_harms_nothing(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind += 3) {
		struct made_elf made = whole_program();
		CLEANUP(file_unmap) struct bytes image = {0};

		made.class = kind & 1 ? ELFCLASS32 : ELFCLASS64;
		made.order = kind & 2 ? ELFDATA2MSB : ELFDATA2LSB;
		image = map_made(&made);
		for (size_t length = 0; length <= image.length; length++)
			read_damaged(image.start, length);
	}
}

static void a_file_with_any_byte_changed_harms_nothing(void **state)
{
	static const u8 values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	struct made_elf made = whole_program();
	CLEANUP(file_unmap) struct bytes image = map_made(&made);
	CLEANUP(freep) u8 *copy = (u8 *)must_copy_bytes(image.start, image.length);

	(void)state;
	for (size_t at = 0; at < image.length; at++) {
		/* The empty text is all the same. */
		if (at >= MADE_OFFSET && at < MADE_OFFSET + MADE_TEXT_BYTES)
			continue;
		for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
			copy[at] = values[i];
			read_damaged(copy, image.length);
		}
		copy[at] = image.start[at];
	}
}

static void init_ends_with_its_section(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	CLEANUP(elf_file_close) struct elf_file file = {0};
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct elf_section *init, *text;

	assert_true(fd >= 0);
	assert_int_equal(elf_image_read(fd, &image), 0);
	assert_int_equal(elf_file_open(image, &file), 0);
	assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), 0);
	init = elf_file_section(&file, SHT_NULL, ".init");
	text = elf_file_section(&file, SHT_NULL, ".text");
	assert_string_equal(symbols_find(symbols, init->offset + init->bytes - 1)->name, "_init");
	for (u64 at = init->offset + init->bytes; at < text->offset; at++) {
		const struct symbol *symbol = symbols_find(symbols, at);

		assert_true(!symbol || strcmp(symbol->name, "_init") != 0);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(init_ends_with_its_section),
		cmocka_unit_test(
			functions_data_and_labels_of_every_class_and_order_are_found_by_offset),
		cmocka_unit_test(a_stripped_file_is_named_from_its_dynamic_symbols),
		cmocka_unit_test(a_debug_file_names_by_the_offsets_of_the_image),
		cmocka_unit_test(thumb_flags_and_mapping_symbols_of_arm_are_left_out),
		cmocka_unit_test(a_section_number_that_does_not_fit_stands_in_a_table_of_its_own),
		cmocka_unit_test(a_symbol_whose_name_is_too_long_leaves_the_address),
		cmocka_unit_test(a_kernel_image_keeps_its_addresses_and_tells_its_reference),
		cmocka_unit_test(a_file_without_symbols_is_told_from_one_that_is_no_elf),
		cmocka_unit_test(a_file_cut_at_any_byte_harms_nothing),
		cmocka_unit_test(a_file_with_any_byte_changed_harms_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
