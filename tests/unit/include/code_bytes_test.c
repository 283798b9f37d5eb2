/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls before a return address, and what a signal handler returns to.
 */
#include "bpfprof/code_bytes.h"
#include "bpfprof/code_step.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <string.h>

/* The last bytes of code before an address, up to 8. */
struct code {
	const char *text;
	u8 length;
	u8 bytes[8];
};

static u64 word_before(const struct code *code)
{
	u8 bytes[8];
	u64 word;

	memset(bytes, 0x90, sizeof(bytes)); /* nop */
	memcpy(bytes + 8 - code->length, code->bytes, code->length);
	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* As gas writes them. */
static const struct code calls[] = {
	{"call rel32", 5, {0xe8, 1, 2, 3, 4}},
	{"call *%rax", 2, {0xff, 0xd0}},
	{"call *%r11", 3, {0x41, 0xff, 0xd3}},
	{"call *(%rax)", 2, {0xff, 0x10}},
	{"call *(%rsp)", 3, {0xff, 0x14, 0x24}},
	{"call *8(%rax)", 3, {0xff, 0x50, 8}},
	{"call *8(%rsp)", 4, {0xff, 0x54, 0x24, 8}},
	{"call *(%r12,%rbx,8)", 4, {0x41, 0xff, 0x14, 0xdc}},
	{"call *0x100(%rax)", 6, {0xff, 0x90, 0, 1, 0, 0}},
	{"call *0x100(%rax,%rbx,8)", 7, {0xff, 0x94, 0xd8, 0, 1, 0, 0}},
	{"call *name(%rip)", 6, {0xff, 0x15, 1, 2, 3, 4}},
	{"call *0x1000(,%rbx,8)", 7, {0xff, 0x14, 0xdd, 0, 0x10, 0, 0}},
	{"call *8(%rbp)", 3, {0xff, 0x55, 8}},
	{"notrack call *%rdx", 3, {0x3e, 0xff, 0xd2}},
};

static const struct code others[] = {
	{"nops", 0, {0}},
	{"jmp rel32", 5, {0xe9, 1, 2, 3, 4}},
	{"jmp *%rax", 2, {0xff, 0xe0}},
	{"push (%rax)", 2, {0xff, 0x30}},
	{"call *%rax; nop", 3, {0xff, 0xd0, 0x90}},
	{"half of call *8(%rax)", 2, {0xff, 0x50}},
	{"half of call *(%rsp)", 2, {0xff, 0x14}},
	{"half of call *name(%rip)", 2, {0xff, 0x15}},
	{"half of call *8(%rsp)", 3, {0xff, 0x54, 0x24}},
	{"half of call *0x1000(,%rbx,8)", 3, {0xff, 0x14, 0xdd}},
};

static void every_form_of_call_is_known(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
		print_message("# %s\n", calls[i].text);
		assert_true(code_call_ends(UNWIND_X86_64, word_before(&calls[i])));
	}
	(void)state;
}

static void what_is_no_call_is_none(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		print_message("# %s\n", others[i].text);
		assert_false(code_call_ends(UNWIND_X86_64, word_before(&others[i])));
	}
	(void)state;
}

static void calls_of_arm_are_known(void **state)
{
	static const u32 links[] = {0x94000010, 0x97fffff0, 0xd63f0000, 0xd63f03c0,
				    0xd63f081f, 0xd73f0801, 0xd63f0c1f};
	static const u32 jumps[] = {0x14000010, 0xd61f0000, 0xd65f03c0, 0xd503201f, 0x54000001};

	for (size_t i = 0; i < ARRAY_COUNT(links); i++)
		assert_true(code_call_ends(UNWIND_ARM64, (u64)links[i] << 32));
	for (size_t i = 0; i < ARRAY_COUNT(jumps); i++)
		assert_false(code_call_ends(UNWIND_ARM64, (u64)jumps[i] << 32));
	(void)state;
}

static void sigreturn_is_known_by_its_code(void **state)
{
	static const u8 x86[16] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	u64 words[2];

	memcpy(words, x86, sizeof(words));
	assert_true(code_is_sigreturn(UNWIND_X86_64, words[0], words[1]));
	assert_false(code_is_sigreturn(UNWIND_X86_64, words[0], 0x0e));
	assert_false(code_is_sigreturn(UNWIND_X86_64, words[0] + 1, words[1]));
	assert_true(code_is_sigreturn(UNWIND_ARM64, 0xd4000001ULL << 32 | 0xd2801168, 0));
	assert_false(code_is_sigreturn(UNWIND_ARM64, 0xd4000001ULL << 32 | 0xd2801188, 0));
	memcpy(words, x86 + 1, sizeof(words[0]));
	assert_true(code_was_sigreturn(UNWIND_X86_64, words[0]));
	assert_false(code_was_sigreturn(UNWIND_X86_64, words[0] + 1));
	assert_true(code_was_sigreturn(UNWIND_ARM64, 0xd4000001ULL << 32 | 0xd2801168));
	(void)state;
}

static void every_instruction_of_a_stub_is_known(void **state)
{
	/* nop and the end of another stub stand around it */
	static const u32 stub[] = {0xd61f0220, 0xd503201f, 0x90000110, 0xf9400211,
				   0x91000210, 0xd61f0220, 0xd503201f, 0xd503201f};
	static const u32 other[] = {0xd503201f, 0xd503201f, 0x90000010, 0x91000210, 0xd503201f};
	u64 before, at;

	for (u32 i = 2; i < 6; i++) {
		memcpy(&before, &stub[i - 2], sizeof(before));
		memcpy(&at, &stub[i], sizeof(at));
		assert_true(code_is_stub(UNWIND_ARM64, before, at));
		assert_false(code_is_stub(UNWIND_X86_64, before, at));
	}
	memcpy(&before, &other[0], sizeof(before));
	memcpy(&at, &other[2], sizeof(at));
	assert_false(code_is_stub(UNWIND_ARM64, before, at));
	assert_true(code_is_stub(UNWIND_ARM64, 0, 0x90000110d503245f)); /* bti c */
	(void)state;
}

static void first_instructions_of_functions_are_known(void **state)
{
	assert_true(code_is_entry(UNWIND_X86_64, 0x05058b4808ec8348)); /* sub $8, %rsp */
	assert_true(code_is_entry(UNWIND_X86_64, 0x08ec8348fa1e0ff3)); /* endbr64 */
	assert_true(code_is_entry(UNWIND_X86_64, 0x53e5894855));       /* push %rbp */
	assert_false(code_is_entry(UNWIND_X86_64, 0x08c48348));	       /* add $8, %rsp */
	assert_false(code_is_entry(UNWIND_X86_64, 0));
	assert_true(code_is_entry(UNWIND_ARM64, 0xa9bf7bfd)); /* stp x29, x30, [sp, #-16]! */
	assert_true(code_is_entry(UNWIND_ARM64, 0xd503233f));
	assert_false(code_is_entry(UNWIND_ARM64, 0xa9bf53f3)); /* stp x19, x20, [sp, #-16]! */
	(void)state;
}

/* Word i of a signal frame is i, but for the registers that matter. */
static bool read_word(void *context, u64 address, u64 *ret_word)
{
	*ret_word = ((const u64 *)context)[address / 8];
	return true;
}

static void what_a_signal_interrupted_is_taken_from_its_frame(void **state)
{
	u64 words[80];
	struct unwind_memory memory = {.read_word = read_word, .context = words};
	struct unwind_frame frame = {0};

	for (u32 i = 0; i < ARRAY_COUNT(words); i++)
		words[i] = i;
	assert_int_equal(code_step_over_signal(UNWIND_X86_64, &frame, memory), END_UNKNOWN);
	assert_int_equal(frame.pc, 21);
	assert_int_equal(frame.sp, 20);
	assert_int_equal(frame.fp, 15);
	assert_true(frame.is_exact);
	frame = (struct unwind_frame){0};
	assert_int_equal(code_step_over_signal(UNWIND_ARM64, &frame, memory), END_UNKNOWN);
	assert_int_equal(frame.pc, 71);
	assert_int_equal(frame.sp, 70);
	assert_int_equal(frame.lr, 69);
	assert_int_equal(frame.fp, 68);
	assert_true(frame.has_lr);
	(void)state;
}

static void who_calls_by_a_stub_is_in_the_link_register(void **state)
{
	struct unwind_frame frame = {.lr = 0x4000, .has_lr = 1, .is_exact = 1, .fp = 77};

	assert_int_equal(code_step_over_stub(UNWIND_ARM64, &frame, false), END_UNKNOWN);
	assert_int_equal(frame.pc, 0x4000);
	assert_int_equal(frame.sp, 0);
	assert_int_equal(frame.fp, 77);
	assert_false(frame.is_exact);
	frame = (struct unwind_frame){.lr = 0x5678, .has_lr = 1};
	assert_int_equal(code_step_over_stub(UNWIND_ARM64, &frame, true), END_UNKNOWN);
	assert_int_equal(frame.sp, 16);
	frame.has_lr = 0;
	assert_int_equal(code_step_over_stub(UNWIND_ARM64, &frame, true), END_BROKEN);
	(void)state;
}

static void the_first_stubs_push_is_known_from_each_of_its_instructions(void **state)
{
	static const u32 stub[] = {0xa9bf7bf0, 0x90000110, 0xf9400211, 0x91000210, 0xd61f0220};

	for (u32 i = 1; i < ARRAY_COUNT(stub); i++)
		assert_true(code_is_stub_push(stub[i - code_stub_push_bytes(stub[i]) / 4]));
	assert_int_equal(code_stub_push_bytes(stub[0]), 0); /* not done yet */
	assert_false(code_is_stub_push(0xa9bf7bfd));	    /* stp x29, x30, [sp, #-16]! */
	(void)state;
}

static void where_a_call_goes_is_known_of_direct_ones(void **state)
{
	u64 back = 0xfffffff0e8000000ULL, ahead = 0x00000100e8000000ULL;
	u64 indirect = 0xd0ff000000000000ULL;

	assert_int_equal(code_call_target(UNWIND_X86_64, back, 0x5000), 0x4ff0);
	assert_int_equal(code_call_target(UNWIND_X86_64, ahead, 0x5000), 0x5100);
	assert_int_equal(code_call_target(UNWIND_X86_64, indirect, 0x5000), 0);
	assert_int_equal(code_call_target(UNWIND_ARM64, 0x97ffffffULL << 32, 0x5000), 0x4ff8);
	assert_int_equal(code_call_target(UNWIND_ARM64, 0x94000002ULL << 32, 0x5000), 0x5004);
	assert_int_equal(code_call_target(UNWIND_ARM64, 0xd63f0000ULL << 32, 0x5000), 0);
	(void)state;
}

static void stubs_that_jump_are_known(void **state)
{
	assert_true(code_is_jump_stub(0x000025ffULL));		/* jmp *n(%rip) */
	assert_true(code_is_jump_stub(0x000025fffa1e0ff3ULL));	/* endbr64 before it */
	assert_true(code_is_jump_stub(0x0025fff2fa1e0ff3ULL));	/* and bnd */
	assert_false(code_is_jump_stub(0x00000055fa1e0ff3ULL)); /* push %rbp */
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_call_is_known),
		cmocka_unit_test(what_is_no_call_is_none),
		cmocka_unit_test(calls_of_arm_are_known),
		cmocka_unit_test(where_a_call_goes_is_known_of_direct_ones),
		cmocka_unit_test(stubs_that_jump_are_known),
		cmocka_unit_test(sigreturn_is_known_by_its_code),
		cmocka_unit_test(every_instruction_of_a_stub_is_known),
		cmocka_unit_test(who_calls_by_a_stub_is_in_the_link_register),
		cmocka_unit_test(the_first_stubs_push_is_known_from_each_of_its_instructions),
		cmocka_unit_test(first_instructions_of_functions_are_known),
		cmocka_unit_test(what_a_signal_interrupted_is_taken_from_its_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
