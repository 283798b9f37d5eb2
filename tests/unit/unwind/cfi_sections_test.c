/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where call frame information comes from: sections, the table behind them, and broken ones.
 */
#include "unit/cfi_reading.h"
#include "unit/unit.h"

#include <errno.h>
#include <zlib.h>
#include <zstd.h>

static const u64 first[2] = {START, START + 0x100};
static const u64 second[2] = {START + 0x200, START + 0x300};

/* A section with one function, CFA = rsp + `offset`. Returns where it begins. */
static u64 add_section(struct made_cfi *made, bool is_debug_frame, const u64 range[2], u8 offset)
{
	u64 section = made_begin(made, is_debug_frame);

	made_fde(made, made_usual_cie(made), range, MADE_BYTES(0x0e, offset));
	made_end(made, section, is_debug_frame ? 0 : SHF_ALLOC);
	return section;
}

/* .eh_frame_hdr for an .eh_frame with one row for each of `fdes`; claims `rows`. */
static void add_header(struct made_cfi *made, u64 section, const u64 fdes[2], u32 rows)
{
	u64 header = made_begin(made, false);

	made_put(made, MADE_BYTES(1, 0x1b, 0x03, 0x3b));
	made_u32_put(made, (u32)(section - made->next));
	made_u32_put(made, rows);
	for (size_t i = 0; i < 2; i++) {
		made_u32_put(made, 0); /* the function: not asked for */
		made_u32_put(made, (u32)(fdes[i] - header));
	}
	made->segments[made->segment_count++] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME, .p_vaddr = header, .p_offset = header, .p_filesz = 28};
}

static void debug_frame_has_only_what_eh_frame_lacks(void **state)
{
	const u64 inside[2] = {first[0] + 0x10, first[0] + 0x20};
	struct reading reading = reading_new();
	u64 section, cie;

	add_section(reading.made, false, first, 16);
	section = made_begin(reading.made, true);
	cie = made_usual_cie(reading.made);
	made_fde(reading.made, cie, second, MADE_BYTES(0x0e, 32));
	made_fde(reading.made, cie, first, MADE_BYTES(0x0e, 64));
	made_fde(reading.made, cie, inside, MADE_BYTES(0x0e, 64));
	made_end(reading.made, section, 0);
	assert_int_equal(reading_read(&reading), 0);
	assert_int_equal(rule_at(&reading, first[0]).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, first[1] - 1).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, first[1]).cfa_kind, CFA_NONE);
	assert_int_equal(rule_at(&reading, second[0]).cfa_offset, 32);
	assert_int_equal(reading.table->row_count, 4);
	reading_release(&reading);
	(void)state;
}

static void a_function_inside_another_ends_it(void **state)
{
	const u64 inside[2] = {first[0] + 0x10, first[0] + 0x20};
	struct reading reading = reading_new();
	u64 section = made_begin(reading.made, false), cie = made_usual_cie(reading.made);

	made_fde(reading.made, cie, inside, MADE_BYTES(0x0e, 64));
	made_fde(reading.made, cie, first, MADE_BYTES(0x0e, 16));
	made_end(reading.made, section, SHF_ALLOC);
	assert_int_equal(reading_read(&reading), 0);
	assert_int_equal(rule_at(&reading, inside[0] - 1).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, inside[0]).cfa_offset, 64);
	assert_int_equal(rule_at(&reading, inside[1]).cfa_kind, CFA_NONE);
	reading_release(&reading);
	(void)state;
}

static void functions_outside_of_all_segments_have_no_rows(void **state)
{
	const u64 outside[2] = {MADE_IMAGE_BYTES, MADE_IMAGE_BYTES + 0x100};
	const u64 half[2] = {MADE_IMAGE_BYTES - 0x100, MADE_IMAGE_BYTES + 0x100};
	struct reading reading = reading_new();
	u64 section = made_begin(reading.made, false), cie = made_usual_cie(reading.made);

	made_fde(reading.made, cie, half, MADE_BYTES(0x0e, 16));
	made_fde(reading.made, cie, outside, MADE_BYTES(0x0e, 32));
	made_end(reading.made, section, SHF_ALLOC);
	assert_int_equal(reading_read(&reading), 0);
	assert_int_equal(rule_at(&reading, MADE_IMAGE_BYTES - 1).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, MADE_IMAGE_BYTES).cfa_kind, CFA_NONE);
	assert_int_equal(reading.table->row_count, 2);
	reading_release(&reading);
	(void)state;
}

static void eh_frame_is_found_without_section_headers(void **state)
{
	struct reading reading = reading_new();
	struct made_cfi *made = reading.made;
	u64 section = made_begin(made, false), cie = made_usual_cie(made), fdes[2];

	made->has_no_sections = true;
	fdes[0] = made_fde(made, cie, first, MADE_BYTES(0x0e, 16));
	made_u32_put(made, 0); /* an end mark before the last entry: only the table tells */
	made_u32_put(made, 0);
	fdes[1] = made_fde(made, cie, second, MADE_BYTES(0x0e, 32));
	/* What stands behind the last entry is none. */
	made_put(made, MADE_BYTES(0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff));
	/* The table claims more rows than there are bytes. */
	add_header(made, section, fdes, 0xffffffff);
	assert_int_equal(reading_read(&reading), 0);
	assert_int_equal(rule_at(&reading, first[0]).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, second[0]).cfa_offset, 32);
	assert_int_equal(reading.table->result.functions, 2);
	assert_int_equal(reading.table->result.broken, 0);
	reading_release(&reading);
	(void)state;
}

/* Replaces the bytes of the last section by packed ones that claim to be `claimed` long. */
static void pack_section(struct made_cfi *made, u32 type, u64 claimed)
{
	Elf64_Shdr *section = &made->sections[made->section_count - 1];
	Elf64_Chdr header = {.ch_type = type, .ch_size = claimed};
	u8 packed[4096];
	uLongf count = sizeof(packed);

	if (type == ELFCOMPRESS_ZLIB)
		assert_int_equal(compress(packed, &count, made->bytes + section->sh_offset,
					  section->sh_size),
				 Z_OK);
	else
		count = ZSTD_compress(packed, count, made->bytes + section->sh_offset,
				      section->sh_size, 1);
	made->next = section->sh_offset;
	made_put(made, &header, sizeof(header));
	made_put(made, packed, count);
	section->sh_flags |= SHF_COMPRESSED;
	section->sh_size = sizeof(header) + count;
}

static void a_packed_debug_frame_is_read(void **state)
{
	for (u32 type = ELFCOMPRESS_ZLIB; type <= 2; type++) { /* 2: zstd */
		struct reading reading = reading_new();

		add_section(reading.made, true, first, 16);
		pack_section(reading.made, type, reading.made->sections[0].sh_size);
		assert_int_equal(reading_read(&reading), 0);
		assert_int_equal(rule_at(&reading, first[0]).cfa_offset, 16);
		reading_release(&reading);
	}
	(void)state;
}

static void a_packed_section_that_lies_about_its_size_is_counted_as_broken(void **state)
{
	const u64 claims[] = {0, 1, 1 << 16, 1ULL << 40, ~0ULL};

	for (size_t i = 0; i < ARRAY_COUNT(claims); i++) {
		struct reading reading = reading_new();

		add_section(reading.made, false, second, 32);
		add_section(reading.made, true, first, 16);
		pack_section(reading.made, ELFCOMPRESS_ZLIB, claims[i]);
		assert_int_equal(reading_read(&reading), 0);
		assert_int_equal(rule_at(&reading, second[0]).cfa_offset, 32);
		assert_int_equal(rule_at(&reading, first[0]).cfa_kind, CFA_NONE);
		assert_int_equal(reading.table->result.broken, 1);
		reading_release(&reading);
	}
	(void)state;
}

static void cies_that_overlap_are_refused_at_once(void **state)
{
	struct reading reading = reading_new();
	struct made_cfi *made = reading.made;
	u64 section = made_begin(made, false), cies[64];
	u32 length = 0x3000;

	/* A ladder of CIEs, each of which claims to go on to the section's end. */
	for (size_t i = 0; i < ARRAY_COUNT(cies); i++) {
		cies[i] = made_usual_cie(made);
		memcpy(made->bytes + cies[i], &length, sizeof(length));
	}
	made->next = section + sizeof(length) + length;
	for (size_t i = 0; i < ARRAY_COUNT(cies); i++)
		made_fde(made, cies[i], first, MADE_BYTES(0x0e, 16));
	made->next = section + 2 * length;
	made_end(made, section, SHF_ALLOC);
	assert_int_equal(reading_read(&reading), -EBADMSG);
	assert_null(reading.table);
	reading_release(&reading);
	(void)state;
}

static int take_no_function(void *context, u64 start, u64 end)
{
	(void)context;
	return start <= end;
}

static void a_section_larger_than_any_honest_one_is_refused(void **state)
{
	CLEANUP(freep) u8 *bytes = must_alloc(CFI_BYTES_MAX + 1);
	struct cfi_section section = {.bytes = {bytes, CFI_BYTES_MAX + 1}};
	struct cfi_taker taker = {.function = take_no_function};
	struct cfi_result result = {0};

	assert_int_equal(cfi_read(&section, &taker, &result), -EFBIG);
	section.bytes.length = 1 << 20; /* end marks only */
	assert_int_equal(cfi_read(&section, &taker, &result), 0);
	(void)state;
}

static void a_cut_section_is_refused(void **state)
{
	struct reading reading = reading_new();

	add_section(reading.made, false, first, 16);
	reading.made->sections[0].sh_size -= 8;
	assert_int_equal(reading_read(&reading), -EBADMSG);
	reading_release(&reading);
	(void)state;
}

static void a_cie_that_is_a_function_is_none(void **state)
{
	struct reading reading = reading_new();
	struct made_cfi *made = reading.made;
	u64 section = made_begin(made, false), cie = made_usual_cie(made);
	u64 fde = made_fde(made, cie, first, MADE_BYTES(0x0e, 16));

	made_fde(made, fde, second, MADE_BYTES(0x0e, 32));
	made_fde(made, made->next, second, MADE_BYTES(0x0e, 32)); /* itself */
	made_end(made, section, SHF_ALLOC);
	assert_int_equal(reading_read(&reading), 0);
	assert_int_equal(rule_at(&reading, first[0]).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, second[0]).cfa_kind, CFA_NONE);
	assert_int_equal(reading.table->result.broken, 2);
	reading_release(&reading);
	(void)state;
}

static void a_binary_without_call_frame_information_is_told_apart(void **state)
{
	struct reading reading = reading_new();

	reading.made->next = MADE_HEADERS_BYTES;
	assert_int_equal(reading_read(&reading), -ENODATA);
	reading_release(&reading);
	(void)state;
}

static void nobody_calls_the_first_instruction_of_a_program(void **state)
{
	struct reading reading = reading_new();

	add_section(reading.made, false, second, 16);
	reading.made->entry = START;
	assert_int_equal(reading_read(&reading), 0);
	assert_int_equal(rule_at(&reading, START).cfa_kind, CFA_END);
	reading_release(&reading);
	(void)state;
}

static void the_entry_of_a_library_is_not_where_a_program_begins(void **state)
{
	const Elf64_Dyn dynamic[] = {
		{.d_tag = DT_SONAME}, {.d_tag = DT_NEEDED}, {.d_tag = DT_NULL}};
	struct reading reading = reading_new();
	struct made_cfi *made = reading.made;

	add_section(made, false, second, 16);
	made->entry = START;
	made->segments[made->segment_count++] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
							     .p_vaddr = made->next};
	made_put(made, dynamic, sizeof(dynamic));
	assert_int_equal(reading_read(&reading), 0);
	assert_int_equal(rule_at(&reading, START).cfa_kind, CFA_NONE);
	reading_release(&reading);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_frame_has_only_what_eh_frame_lacks),
		cmocka_unit_test(a_function_inside_another_ends_it),
		cmocka_unit_test(functions_outside_of_all_segments_have_no_rows),
		cmocka_unit_test(eh_frame_is_found_without_section_headers),
		cmocka_unit_test(a_packed_debug_frame_is_read),
		cmocka_unit_test(a_packed_section_that_lies_about_its_size_is_counted_as_broken),
		cmocka_unit_test(cies_that_overlap_are_refused_at_once),
		cmocka_unit_test(a_section_larger_than_any_honest_one_is_refused),
		cmocka_unit_test(a_cut_section_is_refused),
		cmocka_unit_test(a_cie_that_is_a_function_is_none),
		cmocka_unit_test(a_binary_without_call_frame_information_is_told_apart),
		cmocka_unit_test(nobody_calls_the_first_instruction_of_a_program),
		cmocka_unit_test(the_entry_of_a_library_is_not_where_a_program_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
