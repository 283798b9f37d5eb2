/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps from frame to caller, by every kind of rule and on both machines.
 */
#include "bpfprof/unwind_step.h"

#include "base/memory.h"
#include "unit/unit.h"

enum { STACK = 0x7ffd0000, WORDS = 128 };

/* Word i of the stack is 1000 + i, unless a test says otherwise. */
static u64 stack[WORDS];

static bool read_word(void *context, u64 address, u64 *ret_word)
{
	if (address < STACK || address >= STACK + sizeof(stack) || address & 7)
		return false;
	*ret_word = stack[(address - STACK) / 8];
	(void)context;
	return true;
}

static const struct unwind_memory memory = {.read_word = read_word};

static u64 at(u32 word)
{
	return STACK + 8 * (u64)word;
}

static int fill_stack(void **state)
{
	for (u32 i = 0; i < WORDS; i++)
		stack[i] = 1000 + i;
	(void)state;
	return 0;
}

/* A caller, whose stack pointer is at word 10 and whose frame pointer at word 20. */
static struct unwind_frame caller_frame(void)
{
	return (struct unwind_frame){.pc = 0x401005, .sp = at(10), .fp = at(20), .lr = 0x400ccc};
}

/* The innermost frame: with registers. */
static struct unwind_frame leaf_frame(void)
{
	struct unwind_frame frame = caller_frame();

	frame.is_exact = frame.has_lr = frame.has_registers = 1;
	frame.registers[10] = at(40);
	return frame;
}

/* What nearly all functions of x86-64 have: CFA = sp + offset, return address below it. */
static struct unwind_rule usual_rule(s32 offset)
{
	return (struct unwind_rule){
		.cfa_kind = CFA_REGISTER,
		.cfa_register = X86_64_SP,
		.cfa_offset = offset,
		.pc_kind = SAVED_AT_CFA,
		.pc_offset = -8,
	};
}

static u8 step(struct unwind_frame *frame, struct unwind_rule rule)
{
	return unwind_step(UNWIND_X86_64, frame, &rule, memory);
}

static u8 step_arm(struct unwind_frame *frame, struct unwind_rule rule)
{
	return unwind_step(UNWIND_ARM64, frame, &rule, memory);
}

static void stack_pointer_rule_takes_the_return_address_off(void **state)
{
	struct unwind_frame frame = leaf_frame();

	assert_int_equal(step(&frame, usual_rule(24)), END_UNKNOWN);
	assert_int_equal(frame.sp, at(13));
	assert_int_equal(frame.pc, 1012);
	assert_int_equal(frame.fp, at(20));
	assert_false(frame.is_exact);
	assert_false(frame.has_registers);
	(void)state;
}

static void frame_pointer_rule_restores_the_frame_pointer(void **state)
{
	struct unwind_frame frame = caller_frame();
	struct unwind_rule rule = usual_rule(16);

	rule.cfa_register = X86_64_FP;
	rule.fp_kind = SAVED_AT_CFA;
	rule.fp_offset = -16;
	assert_int_equal(step(&frame, rule), END_UNKNOWN);
	assert_int_equal(frame.sp, at(22));
	assert_int_equal(frame.pc, 1021);
	assert_int_equal(frame.fp, 1020);
	(void)state;
}

static void other_register_is_known_in_the_innermost_frame_only(void **state)
{
	struct unwind_frame leaf = leaf_frame(), caller = caller_frame();
	struct unwind_rule rule = usual_rule(8);

	rule.cfa_register = 10;
	assert_int_equal(step(&leaf, rule), END_UNKNOWN);
	assert_int_equal(leaf.sp, at(41));
	assert_int_equal(leaf.pc, 1040);
	assert_int_equal(step(&caller, rule), END_UNSUPPORTED);
	leaf = leaf_frame();
	rule.cfa_register = 200;
	assert_int_equal(step(&leaf, rule), END_UNSUPPORTED);
	(void)state;
}

static void memory_rule_reads_the_cfa(void **state)
{
	struct unwind_frame frame = caller_frame();
	struct unwind_rule rule = usual_rule(-8);

	rule.cfa_kind = CFA_MEMORY;
	rule.cfa_register = X86_64_FP;
	rule.more = 16;
	rule.fp_kind = SAVED_AT_FP;
	rule.fp_offset = 0;
	stack[19] = at(60);
	assert_int_equal(step(&frame, rule), END_UNKNOWN);
	assert_int_equal(frame.sp, at(62));
	assert_int_equal(frame.pc, 1061);
	assert_int_equal(frame.fp, 1020);
	(void)state;
}

static void plt_rule_depends_on_the_place_in_the_stub(void **state)
{
	struct unwind_frame before = leaf_frame(), behind = leaf_frame();
	struct unwind_rule rule = usual_rule(8);

	rule.cfa_kind = CFA_PLT;
	rule.more = 11;
	before.pc = 0x40102a;
	behind.pc = 0x40102b;
	assert_int_equal(step(&before, rule), END_UNKNOWN);
	assert_int_equal(before.sp, at(11));
	assert_int_equal(step(&behind, rule), END_UNKNOWN);
	assert_int_equal(behind.sp, at(12));
	assert_int_equal(behind.pc, 1011);
	(void)state;
}

static void signal_frame_gives_the_interrupted_frame_on_any_stack(void **state)
{
	static const struct unwind_rule rule = {
		.cfa_kind = CFA_MEMORY,
		.cfa_register = X86_64_SP,
		.cfa_offset = 160,
		.pc_kind = SAVED_AT_SP,
		.pc_offset = 168,
		.fp_kind = SAVED_AT_SP,
		.fp_offset = 120,
		.is_signal = 1,
	};
	struct unwind_frame frame = caller_frame();

	stack[30] = at(2);
	stack[31] = 0x7777;
	stack[25] = 0x5555;
	assert_int_equal(step(&frame, rule), END_UNKNOWN);
	assert_int_equal(frame.sp, at(2));
	assert_int_equal(frame.pc, 0x7777);
	assert_int_equal(frame.fp, 0x5555);
	assert_int_equal(unwind_find_address(&frame), 0x7777);
	(void)state;
}

static void return_address_is_looked_up_one_byte_early(void **state)
{
	struct unwind_frame leaf = leaf_frame(), caller = caller_frame();

	assert_int_equal(unwind_find_address(&leaf), 0x401005);
	assert_int_equal(unwind_find_address(&caller), 0x401004);
	(void)state;
}

static void lost_frame_pointer_is_used_by_nobody(void **state)
{
	struct unwind_frame frame = caller_frame();
	struct unwind_rule rule = usual_rule(8);

	rule.fp_kind = SAVED_UNDEFINED;
	assert_int_equal(step(&frame, rule), END_UNKNOWN);
	assert_int_equal(step(&frame, usual_rule(8)), END_UNKNOWN);
	rule.cfa_register = X86_64_FP;
	assert_int_equal(step(&frame, rule), END_UNSUPPORTED);
	/* Until one is read from the stack again. */
	rule = usual_rule(32);
	rule.fp_kind = SAVED_AT_CFA;
	rule.fp_offset = -16;
	assert_int_equal(step(&frame, rule), END_UNKNOWN);
	assert_false(frame.fp_is_lost);
	(void)state;
}

static void stack_that_does_not_grow_is_broken(void **state)
{
	struct unwind_frame frame = caller_frame();

	assert_int_equal(step(&frame, usual_rule(0)), END_BROKEN);
	frame = caller_frame();
	assert_int_equal(step(&frame, usual_rule(-64)), END_BROKEN);
	(void)state;
}

static void every_end_has_its_reason(void **state)
{
	struct unwind_frame frame = leaf_frame();
	struct unwind_rule rule = usual_rule(8 * WORDS);

	assert_int_equal(step(&frame, rule), END_UNREADABLE);
	frame = leaf_frame();
	assert_int_equal(step(&frame, (struct unwind_rule){.cfa_kind = CFA_NONE}), END_NO_TABLE);
	assert_int_equal(step(&frame, (struct unwind_rule){.cfa_kind = CFA_END}), END_COMPLETE);
	assert_int_equal(step(&frame, (struct unwind_rule){.cfa_kind = CFA_UNSUPPORTED}),
			 END_UNSUPPORTED);
	stack[10] = 0;
	assert_int_equal(step(&frame, usual_rule(8)), END_COMPLETE);
	/* x86-64 has no link register. */
	frame = caller_frame();
	rule = usual_rule(8);
	rule.pc_kind = SAVED_SAME;
	assert_int_equal(step(&frame, rule), END_BROKEN);
	(void)state;
}

static void leaf_of_arm_returns_to_its_link_register(void **state)
{
	static const struct unwind_rule rule = {.cfa_kind = CFA_REGISTER, .cfa_register = ARM64_SP};
	struct unwind_frame frame = leaf_frame();

	assert_int_equal(step_arm(&frame, rule), END_UNKNOWN);
	assert_int_equal(frame.pc, 0x400ccc);
	assert_int_equal(frame.sp, at(10));
	/* Its caller called it, so it must have saved its own. */
	assert_int_equal(step_arm(&frame, rule), END_BROKEN);
	(void)state;
}

static void return_address_of_arm_is_stripped_of_its_signature(void **state)
{
	static const struct unwind_rule rule = {
		.cfa_kind = CFA_REGISTER,
		.cfa_register = ARM64_FP,
		.cfa_offset = 16,
		.pc_kind = SAVED_AT_CFA,
		.pc_offset = -8,
		.fp_kind = SAVED_AT_CFA,
		.fp_offset = -16,
	};
	struct unwind_frame frame = caller_frame();

	stack[21] = 0x00a5aaaab8401234;
	assert_int_equal(step_arm(&frame, rule), END_UNKNOWN);
	assert_int_equal(frame.pc, 0x0000aaaab8401234);
	assert_int_equal(frame.fp, 1020);
	(void)state;
}

/* A caller that a frame pointer led to, so that its stack pointer is not known. */
static void a_record_says_where_the_frame_of_an_unknown_stack_pointer_ends(void **state)
{
	static const struct unwind_rule has_record = {
		.cfa_kind = CFA_REGISTER,
		.cfa_register = ARM64_SP,
		.cfa_offset = 64,
		.pc_kind = SAVED_AT_CFA,
		.pc_offset = -40,
		.fp_kind = SAVED_AT_CFA,
		.fp_offset = -48,
	};
	struct unwind_rule apart = has_record, kept = has_record;
	struct unwind_frame frame = caller_frame();

	frame.sp_is_lost = 1;
	assert_int_equal(step_arm(&frame, has_record), END_UNKNOWN);
	assert_int_equal(frame.sp, at(26));
	assert_int_equal(frame.pc, 1021);
	assert_int_equal(frame.fp, 1020);
	assert_false(frame.sp_is_lost);
	/* What is not put down as a record may be anywhere. */
	frame = caller_frame();
	frame.sp_is_lost = 1;
	apart.pc_offset = -8;
	assert_int_equal(step_arm(&frame, apart), END_UNSUPPORTED);
	kept.fp_kind = SAVED_SAME;
	assert_int_equal(step_arm(&frame, kept), END_UNSUPPORTED);
	frame.fp_is_lost = 1;
	assert_int_equal(step_arm(&frame, has_record), END_UNSUPPORTED);
	(void)state;
}

/* A function that keeps its CFA in rbx (word 30), called through two: one that saves rbx at word
 * 12, one that does not. */
static void rbx_is_found_where_a_callee_has_saved_it(void **state)
{
	struct unwind_frame frame = leaf_frame(), lost = caller_frame();
	struct unwind_rule saves = usual_rule(32), from_rbx = usual_rule(16);

	frame.rbx_at = UNWIND_IN_REGISTERS;
	saves.rbx_words = 2;
	from_rbx.cfa_register = X86_64_RBX;
	stack[12] = at(30);
	assert_int_equal(step(&frame, saves), END_UNKNOWN);
	assert_int_equal(step(&frame, usual_rule(8)), END_UNKNOWN);
	assert_int_equal(step(&frame, from_rbx), END_UNKNOWN);
	assert_int_equal(frame.sp, at(32));
	assert_int_equal(frame.pc, 1031);
	assert_int_equal(step(&lost, from_rbx), END_UNSUPPORTED);
	(void)state;
}

static void rbx_that_nobody_has_saved_is_in_the_registers(void **state)
{
	struct unwind_frame frame = leaf_frame();
	struct unwind_rule from_rbx = usual_rule(16);

	frame.rbx_at = UNWIND_IN_REGISTERS;
	frame.registers[X86_64_RBX] = at(30);
	from_rbx.cfa_register = X86_64_RBX;
	from_rbx.rbx_words = UNWIND_RBX_LOST;
	assert_int_equal(step(&frame, usual_rule(8)), END_UNKNOWN);
	assert_int_equal(step(&frame, from_rbx), END_UNKNOWN);
	assert_int_equal(frame.sp, at(32));
	assert_int_equal(step(&frame, from_rbx), END_UNSUPPORTED);
	(void)state;
}

static void return_address_may_be_in_a_register_of_the_innermost_frame(void **state)
{
	struct unwind_frame leaf = leaf_frame(), caller = caller_frame();
	struct unwind_rule rule = usual_rule(0);

	rule.pc_kind = SAVED_IN_REGISTER;
	rule.pc_offset = 5;
	leaf.registers[5] = 0x402000;
	assert_int_equal(step(&leaf, rule), END_UNKNOWN);
	assert_int_equal(leaf.pc, 0x402000);
	assert_int_equal(leaf.sp, at(10));
	assert_int_equal(step(&caller, rule), END_UNSUPPORTED);
	(void)state;
}

/* A frame and a rule with odd values in any place, many of them near the edges of the stack. */
static void make_odd(u64 seed, struct unwind_frame *ret_frame, struct unwind_rule *ret_rule)
{
	struct unwind_frame frame = caller_frame();
	u8 random[16];

	for (u32 i = 0; i < sizeof(random); i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		random[i] = (u8)(seed >> 56);
	}
	frame.sp = at(random[0] % WORDS);
	frame.fp = random[1] % 8 ? at(random[1] % WORDS) : random[1];
	frame.rbx_at = random[2] % 2;
	frame.is_exact = random[3] % 2;
	frame.has_registers = random[3] / 2 % 2;
	frame.fp_is_lost = random[4] % 4 == 0;
	*ret_frame = frame;
	*ret_rule = (struct unwind_rule){
		.cfa_kind = random[5] % 4 ? CFA_REGISTER : random[5] % 8,
		.cfa_register = random[6] % 4 ? X86_64_FP + random[6] % 2 : random[6] % 17,
		.cfa_offset = (s32)(random[7] % 40) * 8 - 32,
		.pc_kind = random[8] % 4 ? SAVED_AT_CFA : random[8] % 6,
		.pc_offset = random[9] % 4 ? -8 : (int8_t)random[9],
		.fp_kind = random[10] % 4 ? random[10] % 2 : random[10] % 6,
		.fp_offset = random[11] % 4 ? -16 : (int8_t)random[11],
		.is_signal = random[12] % 8 == 0,
		.rbx_words = random[13] % 4 ? random[13] % 3 : UNWIND_RBX_LOST,
	};
}

static void plain_rule_does_what_every_rule_would(void **state)
{
	u32 plain = 0, done = 0, at_start = 0;

	stack[5] = 0; /* the outermost frame's return address */
	for (u64 seed = 0; seed < 200000; seed++) {
		struct unwind_frame frame, expected, before;
		struct unwind_rule rule;

		make_odd(seed, &frame, &rule);
		expected = before = frame;
		if (!unwind_is_plain(&rule))
			continue;
		plain++;
		if (unwind_step_plain(&frame, &rule, memory)) {
			done++;
			assert_int_equal(step(&expected, rule), END_UNKNOWN);
			assert_memory_equal(&frame, &expected, sizeof(frame));
			continue;
		}
		assert_memory_equal(&frame, &before, sizeof(frame));
		at_start += step(&expected, rule) == END_COMPLETE;
	}
	assert_true(done > 10000 && plain - done > 1000 && at_start > 10);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stack_pointer_rule_takes_the_return_address_off, fill_stack),
		cmocka_unit_test_setup(frame_pointer_rule_restores_the_frame_pointer, fill_stack),
		cmocka_unit_test_setup(other_register_is_known_in_the_innermost_frame_only,
				       fill_stack),
		cmocka_unit_test_setup(rbx_is_found_where_a_callee_has_saved_it, fill_stack),
		cmocka_unit_test_setup(rbx_that_nobody_has_saved_is_in_the_registers, fill_stack),
		cmocka_unit_test_setup(return_address_may_be_in_a_register_of_the_innermost_frame,
				       fill_stack),
		cmocka_unit_test_setup(memory_rule_reads_the_cfa, fill_stack),
		cmocka_unit_test_setup(plt_rule_depends_on_the_place_in_the_stub, fill_stack),
		cmocka_unit_test_setup(signal_frame_gives_the_interrupted_frame_on_any_stack,
				       fill_stack),
		cmocka_unit_test_setup(return_address_is_looked_up_one_byte_early, fill_stack),
		cmocka_unit_test_setup(lost_frame_pointer_is_used_by_nobody, fill_stack),
		cmocka_unit_test_setup(stack_that_does_not_grow_is_broken, fill_stack),
		cmocka_unit_test_setup(every_end_has_its_reason, fill_stack),
		cmocka_unit_test_setup(plain_rule_does_what_every_rule_would, fill_stack),
		cmocka_unit_test_setup(leaf_of_arm_returns_to_its_link_register, fill_stack),
		cmocka_unit_test_setup(
			a_record_says_where_the_frame_of_an_unknown_stack_pointer_ends, fill_stack),
		cmocka_unit_test_setup(return_address_of_arm_is_stripped_of_its_signature,
				       fill_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
