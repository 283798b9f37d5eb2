/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kallsyms and /proc/modules as symbols, addresses and mappings.
 */
#include "host/kernel_symbols.h"
#include "unit/unit.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000100 t helper\n"
			       "ffffffff81000200 A absolute\n"
			       "ffffffff81000300 r constants\n"
			       "ffffffff81000400 W weak_one\n"
			       "ffffffff81000400 T strong_one\n"
			       "ffffffff81000500 T _etext\n"
			       "ffffffffc0001010 t in_module\t[my_mod]\n"
			       "ffffffffc0001000 T first_in_module\t[my_mod]\n"
			       "ffffffffc0100000 t bpf_prog_0123456789abcdef_x\t[bpf]\n"
			       "ffffffffc0200000 t ftrace_trampoline\t[__builtin__ftrace]\n";

static struct bytes text_of(const char *text)
{
	return (struct bytes){.start = (const u8 *)text, .length = strlen(text)};
}

static const char *name_at(const struct symbols *symbols, u64 address)
{
	const struct symbol *symbol = symbols_find(symbols, address);

	return symbol ? symbol->name : "(none)";
}

static void functions_and_data_are_taken_by_address(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(kernel_symbols_read(text_of(kallsyms), symbols), 0);
	assert_string_equal(name_at(symbols, 0xffffffff80ffffff), "(none)");
	assert_string_equal(name_at(symbols, 0xffffffff810000ff), "_text");
	/* types A and r are passed over, so the one before reaches on */
	assert_string_equal(name_at(symbols, 0xffffffff81000399), "helper");
	assert_string_equal(name_at(symbols, 0xffffffff81000400), "strong_one");
}

static void a_module_ends_with_a_page_and_is_sorted(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(kernel_symbols_read(text_of(kallsyms), symbols), 0);
	assert_string_equal(name_at(symbols, 0xffffffffc000100f), "first_in_module");
	assert_string_equal(name_at(symbols, 0xffffffffc0001010), "in_module");
	assert_string_equal(name_at(symbols, 0xffffffffc0002fff), "in_module");
	assert_string_equal(name_at(symbols, 0xffffffffc0003000), "(none)");
}

static void the_kernel_does_not_reach_into_modules_nor_bpf_into_either(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(kernel_symbols_read(text_of(kallsyms), symbols), 0);
	assert_string_equal(name_at(symbols, 0xffffffff81001fff), "_etext");
	assert_string_equal(name_at(symbols, 0xffffffff81003000), "(none)");
	assert_string_equal(name_at(symbols, 0xffffffffc0100000), "(none)");
	assert_string_equal(name_at(symbols, 0xffffffffc0200000), "(none)");
}

static void zero_addresses_mean_no_access(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(kernel_symbols_read(text_of("0000000000000000 T _text\n"
						     "0000000000000000 T _etext\n"),
					     symbols),
			 -EACCES);
}

static void text_without_symbols_is_no_data(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(kernel_symbols_read(text_of("\n\nhello\nffffffff81000000\n"
						     "ffffffff81000000 \nffffffff81000000 T\n"
						     "fffffffffffffffff T x\n"),
					     symbols),
			 -ENODATA);
}

static void a_symbol_of_the_kernel_proper_is_found_by_name(void **state)
{
	u64 address = 7;

	(void)state;
	assert_int_equal(kernel_symbol_address(text_of(kallsyms), "_etext", &address), 0);
	assert_int_equal(address, 0xffffffff81000500);
	assert_int_equal(kernel_symbol_address(text_of(kallsyms), "in_module", &address), -ENOENT);
	assert_int_equal(address, 0xffffffff81000500);
}

static void modules_are_read_and_other_lines_reported(void **state)
{
	struct bytes text = text_of("nf_tables 311296 1 - Live 0xffffffffc0a51000\n"
				    "broken line\n"
				    "vfat 24576 1 fat,x, Live 0xffffffffc0900000 (OE)\n");
	struct kernel_module module;

	(void)state;
	assert_int_equal(kernel_module_next(&text, &module), 1);
	assert_string_equal(module.name, "nf_tables");
	assert_int_equal(module.start, 0xffffffffc0a51000);
	assert_int_equal(module.bytes, 311296);
	assert_int_equal(kernel_module_next(&text, &module), -EBADMSG);
	assert_int_equal(kernel_module_next(&text, &module), 1);
	assert_string_equal(module.name, "vfat");
	assert_int_equal(module.start, 0xffffffffc0900000);
	assert_int_equal(kernel_module_next(&text, &module), 0);
}

static void the_code_of_the_kernel_is_as_long_as_iomem_says(void **state)
{
	u64 bytes = 7;

	(void)state;
	assert_int_equal(kernel_code_bytes(text_of("00001000-0009fbff : System RAM\n"
						   "  01000000-02209987 : Kernel code\n"
						   "  02400000-02e09fff : Kernel rodata\n"),
					   &bytes),
			 0);
	assert_int_equal(bytes, 0x1209988);
}

static void what_iomem_hides_is_not_taken_for_a_length(void **state)
{
	u64 bytes = 7;

	(void)state;
	assert_int_equal(kernel_code_bytes(text_of("  00000000-00000000 : Kernel code\n"), &bytes),
			 -ENOENT);
	assert_int_equal(kernel_code_bytes(text_of("100-200 : Kernel co"), &bytes), -ENOENT);
	assert_int_equal(kernel_code_bytes(text_of("Kernel code\n"), &bytes), -ENOENT);
	assert_int_equal(bytes, 7);
}

struct seen {
	struct event_sink sink;
	struct mapping kernel;
	char path[64];
	u32 mappings, symbols;
};

static int on_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct seen *seen = (struct seen *)self;

	if (seen->mappings++ == 0) {
		seen->kernel = *mapping;
		strncpy(seen->path, mapping->path, sizeof(seen->path) - 1);
	}
	return 0;
}

static int on_kernel_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	((struct seen *)self)->symbols += symbol->start && symbol->bytes && symbol->name[0];
	return 0;
}

static void the_running_kernel_is_mapped_with_its_build_id(void **state)
{
	struct seen seen = {
		.sink = {.on_mapping = on_mapping, .on_kernel_symbol = on_kernel_symbol}};
	struct build_id id;
	struct seen again = seen;
	int error = kernel_mappings(KERNEL_MODULES_AND_BPF, &seen.sink);

	(void)state;
	if (error == -EACCES) {
		assert_non_null(strstr(fail_sentence(), "kptr_restrict"));
		print_message("skipped: kernel addresses are hidden from this user\n");
		skip();
	}
	assert_int_equal(error, 0);
	assert_string_equal(seen.path, "[kernel.kallsyms]_text");
	assert_int_equal(seen.kernel.space, SPACE_KERNEL);
	assert_int_equal(seen.kernel.pid, ~0u);
	assert_int_equal(seen.kernel.file_offset, seen.kernel.start);
	assert_true(seen.kernel.bytes > 1 << 20);
	assert_int_equal(build_id_of_kernel(&id), 0);
	assert_int_equal(seen.kernel.build_id_bytes, id.length);
	assert_memory_equal(seen.kernel.build_id, id.bytes, id.length);
	/* without reading all of kallsyms, where that is possible */
	assert_int_equal(kernel_mappings(KERNEL_AND_MODULES, &again.sink), 0);
	assert_string_equal(again.path, seen.path);
	assert_int_equal(again.kernel.start, seen.kernel.start);
	assert_int_equal(again.kernel.bytes, seen.kernel.bytes);
	assert_int_equal(again.symbols, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_data_are_taken_by_address),
		cmocka_unit_test(a_module_ends_with_a_page_and_is_sorted),
		cmocka_unit_test(the_kernel_does_not_reach_into_modules_nor_bpf_into_either),
		cmocka_unit_test(zero_addresses_mean_no_access),
		cmocka_unit_test(text_without_symbols_is_no_data),
		cmocka_unit_test(a_symbol_of_the_kernel_proper_is_found_by_name),
		cmocka_unit_test(modules_are_read_and_other_lines_reported),
		cmocka_unit_test(the_code_of_the_kernel_is_as_long_as_iomem_says),
		cmocka_unit_test(what_iomem_hides_is_not_taken_for_a_length),
		cmocka_unit_test(the_running_kernel_is_mapped_with_its_build_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
