/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame instructions: which rules they make, and what becomes of what no rule can hold.
 */
#include "unit/cfi_reading.h"
#include "unit/unit.h"

#include <errno.h>

enum { END = START + 0x1000 };

static const u64 whole[2] = {START, END};

/* Reads a binary whose one function has these instructions. */
static struct reading read_function(u16 machine, const u8 *instructions, size_t count)
{
	struct reading reading = reading_new();
	struct made_cfi *made = reading.made;
	u64 section, cie;

	made->machine = machine;
	section = made_begin(made, false);
	/* arm64: CFA = sp + 0, the return address in its register. */
	cie = machine == EM_AARCH64 ? made_cie(made, 30, MADE_BYTES(0x0c, 31, 0))
				    : made_usual_cie(made);
	made_fde(made, cie, whole, instructions, count);
	made_end(made, section, SHF_ALLOC);
	assert_int_equal(reading_read(&reading), 0);
	return reading;
}

static void a_remembered_state_comes_back(void **state)
{
	/* push; remember; leave the frame; restore */
	struct reading reading = read_function(
		EM_X86_64, MADE_BYTES(0x41, 0x0e, 16, 0x0a, 0x44, 0x0e, 8, 0x41, 0x0b));

	assert_int_equal(rule_at(&reading, START).cfa_offset, 8);
	assert_int_equal(rule_at(&reading, START + 1).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, START + 5).cfa_offset, 8);
	assert_int_equal(rule_at(&reading, START + 6).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, END - 1).cfa_offset, 16);
	assert_int_equal(rule_at(&reading, END).cfa_kind, CFA_NONE);
	reading_release(&reading);
	(void)state;
}

static void size_of_arguments_changes_no_rule(void **state)
{
	struct reading reading = read_function(EM_X86_64,
					       MADE_BYTES(0x41, 0x2e, 0x90, 0x01, 0x41, 0x0e, 24));

	assert_int_equal(rule_at(&reading, START + 1).cfa_offset, 8);
	assert_int_equal(rule_at(&reading, START + 2).cfa_offset, 24);
	reading_release(&reading);
	(void)state;
}

static void an_undefined_return_address_is_the_end_of_the_stack(void **state)
{
	struct reading reading = read_function(EM_X86_64, MADE_BYTES(0x07, 16));

	assert_int_equal(rule_at(&reading, START).cfa_kind, CFA_END);
	reading_release(&reading);
	(void)state;
}

static void a_signed_return_address_is_one_of_arm64_only(void **state)
{
	/* paciasp; stp x29, x30, [sp, -16]! */
	struct reading arm64 = read_function(
		EM_AARCH64, MADE_BYTES(0x44, 0x2d, 0x44, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x44, 0x2c));
	struct reading x86 = read_function(EM_X86_64, MADE_BYTES(0x44, 0x2d));

	assert_int_equal(rule_at(&arm64, START + 4).pc_kind, SAVED_SAME);
	assert_int_equal(rule_at(&arm64, START + 8).pc_kind, SAVED_AT_CFA);
	assert_int_equal(rule_at(&arm64, START + 8).pc_offset, -8);
	assert_int_equal(rule_at(&arm64, START + 8).fp_offset, -16);
	assert_int_equal(arm64.table->result.broken, 0);
	assert_int_equal(rule_at(&x86, START + 4).cfa_kind, CFA_UNSUPPORTED);
	assert_int_equal(x86.table->result.broken, 1);
	reading_release(&arm64);
	reading_release(&x86);
	(void)state;
}

/* glibc's dynamic linker: bti c; x30 is at the CFA + 8; stp x8, x9, [sp, -208]! */
static void a_return_address_above_the_frame_was_pushed_before(void **state)
{
	struct reading arm64 = read_function(
		EM_AARCH64,
		MADE_BYTES(0x44, 0x11, 30, 0x7f, 0x44, 0x0e, 0xd0, 1, 0x88, 26, 0x44, 0x0e, 0));

	for (u32 i = 0; i < 8; i++) {
		assert_int_equal(rule_at(&arm64, START + i).cfa_offset, 16);
		assert_int_equal(rule_at(&arm64, START + i).pc_kind, SAVED_AT_CFA);
		assert_int_equal(rule_at(&arm64, START + i).pc_offset, -8);
	}
	assert_int_equal(rule_at(&arm64, START + 8).cfa_offset, 224);
	assert_int_equal(rule_at(&arm64, START + 8).pc_offset, -8);
	assert_int_equal(rule_at(&arm64, START + 12).cfa_offset, 16);
	reading_release(&arm64);
	(void)state;
}

/* glibc's vfork() pops its return address. */
static void return_address_may_be_in_a_register(void **state)
{
	struct reading reading = read_function(EM_X86_64, MADE_BYTES(0x44, 0x09, 16, 5));

	assert_int_equal(rule_at(&reading, START + 4).pc_kind, SAVED_IN_REGISTER);
	assert_int_equal(rule_at(&reading, START + 4).pc_offset, 5);
	reading_release(&reading);
	(void)state;
}

/* As `push %rbx` at the CFA - 24, `pop %rbx`, and a value that is computed. */
static void rbx_is_followed_as_far_as_a_word_below_the_cfa(void **state)
{
	struct reading reading = read_function(
		EM_X86_64, MADE_BYTES(0x44, 0x83, 3, 0x44, 0xc3, 0x44, 0x16, 3, 2, 0x77, 8));

	assert_int_equal(rule_at(&reading, START + 3).rbx_words, 0);
	assert_int_equal(rule_at(&reading, START + 4).rbx_words, 3);
	assert_int_equal(rule_at(&reading, START + 8).rbx_words, 0);
	assert_int_equal(rule_at(&reading, START + 12).rbx_words, UNWIND_RBX_LOST);
	reading_release(&reading);
	(void)state;
}

struct reason_case {
	enum cfi_reason reason;
	u8 instructions[16];
};

/* Each behind one instruction of four bytes that all is well with. */
static const struct reason_case reason_cases[] = {
	{CFI_CFA_EXPRESSION, {0x44, 0x0f, 2, 0x57, 0x06}}, /* reg7, deref: not "breg" */
	{CFI_CFA_RANGE, {0x44, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x0f}},
	{CFI_PC_PLACE, {0x44, 0x09, 16, 33}},		    /* rip in a register that is none */
	{CFI_PC_PLACE, {0x44, 0x08, 16}},		    /* rip is the same value */
	{CFI_PC_RANGE, {0x44, 0x05, 16, 0xff, 0xff, 0x03}}, /* rip far below the CFA */
	{CFI_SP_DIFFERS, {0x44, 0x10, 7, 2, 0x77, 64}},	    /* rsp at rsp + 64 */
	{CFI_BROKEN, {0x44, 0x3f}},			    /* not known */
	{CFI_BROKEN, {0x44, 0x0b}},			    /* nothing to restore */
	{CFI_BROKEN, {0x44, 0x0f, 2, 0x77, 64, 0x0e, 8}},   /* an offset from an expression */
	{CFI_BROKEN, {0x44, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}},
	{CFI_BROKEN, {0x44, 0x04, 0, 0x10, 0, 0}}, /* over the end of the function */
	{CFI_BROKEN, {0x44, 0x04, 0xff, 0xff, 0xff, 0xff}},
	{CFI_BROKEN, {0x44, 0x0d, 0x80, 0x02}}, /* register 256 */
};

static void what_no_rule_can_hold_is_a_rule_that_says_so_and_counted(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(reason_cases); i++) {
		const struct reason_case *one = &reason_cases[i];
		struct reading reading = read_function(EM_X86_64, one->instructions,
						       sizeof(one->instructions));

		assert_int_equal(rule_at(&reading, START + 3).cfa_kind, CFA_REGISTER);
		assert_int_equal(rule_at(&reading, START + 4).cfa_kind, CFA_UNSUPPORTED);
		assert_int_equal(rule_at(&reading, END - 1).cfa_kind, CFA_UNSUPPORTED);
		assert_int_equal(reading.table->result.unsupported[one->reason], 1);
		assert_int_equal(reading.table->result.broken, one->reason == CFI_BROKEN);
		reading_release(&reading);
	}
	(void)state;
}

static void states_are_not_remembered_without_end(void **state)
{
	u8 bomb[4096];
	struct reading reading;

	memset(bomb, 0x0a, sizeof(bomb));
	reading = read_function(EM_X86_64, bomb, sizeof(bomb));
	assert_int_equal(reading.table->result.unsupported[CFI_BROKEN], 1);
	reading_release(&reading);
	(void)state;
}

static void a_rule_for_every_byte_of_a_page_is_found_again(void **state)
{
	u8 instructions[4096 * 3];
	struct reading reading;

	for (u32 i = 0; i < 4096; i++) {
		instructions[3 * i] = 0x0e; /* CFA offset 8 or 16 */
		instructions[3 * i + 1] = i & 1 ? 16 : 8;
		instructions[3 * i + 2] = i < 4095 ? 0x41 : 0;
	}
	reading = read_function(EM_X86_64, instructions, sizeof(instructions));
	assert_int_equal(reading.table->row_count, 4096 + 1);
	for (u32 i = 0; i < 4096; i++)
		assert_int_equal(rule_at(&reading, START + i).cfa_offset, i & 1 ? 16 : 8);
	reading_release(&reading);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_remembered_state_comes_back),
		cmocka_unit_test(size_of_arguments_changes_no_rule),
		cmocka_unit_test(an_undefined_return_address_is_the_end_of_the_stack),
		cmocka_unit_test(a_signed_return_address_is_one_of_arm64_only),
		cmocka_unit_test(a_return_address_above_the_frame_was_pushed_before),
		cmocka_unit_test(return_address_may_be_in_a_register),
		cmocka_unit_test(rbx_is_followed_as_far_as_a_word_below_the_cfa),
		cmocka_unit_test(what_no_rule_can_hold_is_a_rule_that_says_so_and_counted),
		cmocka_unit_test(states_are_not_remembered_without_end),
		cmocka_unit_test(a_rule_for_every_byte_of_a_page_is_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
