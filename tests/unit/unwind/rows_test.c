/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of real binaries against libdw's reading of the same call frame information.
 */
#include "unit/map_file.h"
#include "unit/unit.h"
#include "unwind/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

enum { PROBES = 20000, RULES_MAX = 1 << 16 };

static const char *const binaries[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/bin/perl",
	"/usr/bin/python3.11",
	"/lib/aarch64-linux-gnu/libc.so.6",
	"/proc/self/exe",
};

/* What libdw says of a frame, as far as rows say it. */
struct oracle {
	Dwarf_Op *cfa, *pc;
	size_t cfa_count, pc_count;
	bool is_end;
};

static struct oracle oracle_of(Dwarf_Frame *frame, Dwarf_Op memory[3])
{
	struct oracle oracle = {0};

	assert_int_equal(dwarf_frame_cfa(frame, &oracle.cfa, &oracle.cfa_count), 0);
	assert_int_equal(dwarf_frame_register(frame, 16, memory, &oracle.pc, &oracle.pc_count), 0);
	/* libdw says "undefined" with the caller's own array and no operations. */
	oracle.is_end = oracle.pc == memory && oracle.pc_count == 0;
	return oracle;
}

static bool is_register(const Dwarf_Op *operation, const struct unwind_rule *rule)
{
	if (operation->atom == DW_OP_bregx)
		return operation->number == rule->cfa_register &&
		       (s64)operation->number2 == rule->cfa_offset;
	return operation->atom == DW_OP_breg0 + rule->cfa_register &&
	       (s64)operation->number == rule->cfa_offset;
}

static void assert_same(const struct unwind_rule *rule, const struct oracle *oracle)
{
	assert_int_equal(rule->cfa_kind == CFA_END, oracle->is_end);
	if (rule->cfa_kind == CFA_END)
		return;
	assert_true(is_register(&oracle->cfa[0], rule));
	if (rule->cfa_kind == CFA_REGISTER)
		assert_int_equal(oracle->cfa_count, 1);
	if (rule->cfa_kind == CFA_MEMORY)
		assert_int_equal(oracle->cfa[1].atom, DW_OP_deref);
	if (rule->cfa_kind == CFA_PLT)
		assert_int_equal(oracle->cfa[4].atom, DW_OP_lit0 + rule->more);
	if (rule->pc_kind == SAVED_AT_CFA) {
		assert_int_equal(oracle->pc[0].atom, DW_OP_call_frame_cfa);
		assert_int_equal((s64)oracle->pc[1].number, rule->pc_offset);
	}
}

/* Compares at spread addresses of one segment. Returns how many both know. */
static u64 compare_segment(Dwarf_CFI *cfi, const struct unwind_table *table,
			   const struct rule_set *rules, const GElf_Phdr *segment)
{
	u64 step = segment->p_filesz / PROBES + 1, both = 0;

	for (u64 at = 0; at < segment->p_filesz; at += step) {
		u32 number = unwind_table_find(table, segment->p_offset + at);
		const struct unwind_rule *rule = &rules->rules.items[number];
		Dwarf_Op memory[3];
		Dwarf_Frame *frame = NULL;
		struct oracle oracle;

		if (dwarf_cfi_addrframe(cfi, segment->p_vaddr + at, &frame))
			continue; /* between functions: padding may keep the rule before it */
		assert_int_not_equal(rule->cfa_kind, CFA_NONE);
		oracle = oracle_of(frame, memory);
		if (rule->cfa_kind != CFA_UNSUPPORTED) {
			assert_same(rule, &oracle);
			both++;
		}
		free(frame);
	}
	return both;
}

static u64 compare(struct bytes image)
{
	struct unwind_table *table = NULL;
	struct rule_set rules;
	Dwarf_CFI *cfi;
	size_t count;
	u64 both = 0;
	Elf *elf;

	rule_set_init(&rules);
	assert_int_equal(unwind_table_read(image, &rules, RULES_MAX, &table), 0);
	elf = elf_memory((char *)image.start, image.length);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	assert_int_equal(elf_getphdrnum(elf, &count), 0);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		assert_non_null(gelf_getphdr(elf, (int)i, &segment));
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
			both += compare_segment(cfi, table, &rules, &segment);
	}
	dwarf_cfi_end(cfi);
	elf_end(elf);
	unwind_table_free(table);
	rule_set_release(&rules);
	return both;
}

static void rows_of_real_binaries_equal_libdws_answers(void **state)
{
	u32 compared = 0;

	for (size_t i = 0; i < ARRAY_COUNT(binaries); i++) {
		CLEANUP(file_unmap) struct bytes image = {0};

		if (map_file(binaries[i], &image))
			continue; /* not on this machine */
		assert_true(compare(image) > 1000);
		compared++;
	}
	assert_true(compared >= 2);
	(void)state;
}

static void a_row_costs_little_more_than_four_bytes(void **state)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(file_unmap) struct bytes image = {0};
	struct rule_set rules;

	rule_set_init(&rules);
	assert_int_equal(map_file("/proc/self/exe", &image), 0);
	assert_int_equal(unwind_table_read(image, &rules, RULES_MAX, &table), 0);
	assert_true(table->row_count > 100);
	assert_true(4.0 * (table->row_count + table->page_count) / table->row_count < 4.3);
	rule_set_release(&rules);
	(void)state;
}

static void a_cut_image_is_refused_or_read_in_part(void **state)
{
	CLEANUP(file_unmap) struct bytes image = {0};

	assert_int_equal(map_file("/proc/self/exe", &image), 0);
	for (size_t length = 0; length < image.length; length += image.length / 97 + 1) {
		CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
		/* A copy of its own, so that reading past its end is caught. */
		CLEANUP(freep) char *copy = must_copy_bytes(image.start, length);
		struct rule_set rules;

		rule_set_init(&rules);
		unwind_table_read((struct bytes){(const u8 *)copy, length}, &rules, RULES_MAX,
				  &table);
		rule_set_release(&rules);
	}
	(void)state;
}

static void text_that_is_no_elf_file_is_refused(void **state)
{
	static const u8 text[] = "#!/bin/sh\necho hello, this is no ELF file at all\n";
	struct unwind_table *table = NULL;
	struct rule_set rules;

	rule_set_init(&rules);
	assert_int_equal(
		unwind_table_read((struct bytes){text, sizeof(text)}, &rules, RULES_MAX, &table),
		-EBADMSG);
	assert_null(table);
	rule_set_release(&rules);
	(void)state;
}

/* The file offset of a program's first instruction. */
static u64 entry_of(struct bytes image)
{
	const Elf64_Ehdr *header = (const void *)image.start;
	const Elf64_Phdr *segment = (const void *)(image.start + header->e_phoff);

	while (segment->p_type != PT_LOAD ||
	       header->e_entry - segment->p_vaddr >= segment->p_filesz)
		segment++;
	return header->e_entry - segment->p_vaddr + segment->p_offset;
}

static void where_a_program_begins_is_the_end_of_the_stack(void **state)
{
	static const char *const programs[] = {
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/ld-linux-aarch64.so.1",
		"/proc/self/exe",
	};

	for (size_t i = 0; i < ARRAY_COUNT(programs); i++) {
		CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
		CLEANUP(file_unmap) struct bytes image = {0};
		CLEANUP(rule_set_release) struct rule_set rules;
		u64 entry;

		rule_set_init(&rules);
		if (map_file(programs[i], &image))
			continue; /* of the other architecture */
		entry = entry_of(image);
		assert_int_equal(unwind_table_read(image, &rules, RULES_MAX, &table), 0);
		/* There, and at the return address of the first call. */
		for (u32 at = 0; at < 16; at += 8)
			assert_int_equal(
				rules.rules.items[unwind_table_find(table, entry + at)].cfa_kind,
				CFA_END);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_real_binaries_equal_libdws_answers),
		cmocka_unit_test(where_a_program_begins_is_the_end_of_the_stack),
		cmocka_unit_test(a_row_costs_little_more_than_four_bytes),
		cmocka_unit_test(a_cut_image_is_refused_or_read_in_part),
		cmocka_unit_test(text_that_is_no_elf_file_is_refused),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
