/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame instructions over three registers, and rbx.
 *
 * Everything that is not the CFA, the return address, the frame pointer or rbx is stepped over.
 * Rules are handed over when the address moves on, so that several instructions at one address make
 * one rule.
 */
#include "unwind/cfi_program.h"

#include "base/memory.h"
#include "unwind/cfi_expression.h"
#include "unwind/cfi_number.h"

#include <errno.h>
#include <string.h>

/* Source: DWARF 5, table 7.29; LSB 5.0 core, 10.6.1.1 (GNU_…); DWARF for the Arm 64-bit
 * architecture, 4.4 (RA_STATE). */
enum {
	CFA_ADVANCE_LOC = 0x40, /* the two high bits; delta or register in the low six */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_LOW_BITS = 0x3f,

	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_IN_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	/* AArch64: the return address is signed; the step strips that. */
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* gcc nests one or two; hand-written assembly a few more. */
enum { REMEMBER_MAX = 16 };

struct registers {
	u64 sp, fp;
	u64 rbx; /* ~0: there is none */
};

/* Source: psABI AMD64, figure 3.36; DWARF for the Arm 64-bit architecture, 4.1. */
static const struct registers registers_of[] = {
	[CFI_X86_64] = {.sp = 7, .fp = 6, .rbx = 3},
	[CFI_AARCH64] = {.sp = 31, .fp = 29, .rbx = ~0ULL},
};

struct run {
	const struct cfi_program *program;
	struct registers registers;
	struct cursor cursor;
	struct cfi_state *state;
	u64 address;
	struct cfi_result *result;
	struct unwind_rule last; /* handed over last */
	u32 remembered_count;
	struct cfi_state remembered[REMEMBER_MAX]; /* not set up: that costs more than the rest */
};

struct cfi_state cfi_state_new(enum cfi_machine machine)
{
	struct cfi_state state = {.cfa_reason = CFI_NO_CFA};

	/* On x86-64 the call itself put the return address on the stack: a CIE always says where.
	 */
	state.pc_reason = machine == CFI_X86_64 ? CFI_NO_PC : CFI_SUPPORTED;
	return state;
}

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Hands over a rule that holds from the address on, if it differs from the one before. */
static bool hand_over_rule(struct run *run, const struct unwind_rule *rule)
{
	const struct cfi_taker *taker = run->program->taker;

	if (same_rule(rule, &run->last))
		return false;
	run->last = *rule;
	taker->rule(taker->context, run->address, rule);
	return true;
}

static void hand_over_unsupported(struct run *run, enum cfi_reason reason)
{
	static const struct unwind_rule unsupported = {.cfa_kind = CFA_UNSUPPORTED};

	run->result->unsupported[reason] += hand_over_rule(run, &unsupported);
}

static bool sp_differs(const struct run *run)
{
	const struct cfi_state *state = run->state;

	return state->has_sp_rule && (state->rule.cfa_kind != CFA_MEMORY ||
				      state->rule.cfa_register != run->registers.sp ||
				      state->rule.cfa_offset != state->sp_offset);
}

/* Hands over the state as a rule. */
static void hand_over(struct run *run)
{
	static const struct unwind_rule end = {.cfa_kind = CFA_END};
	const struct cfi_state *state = run->state;

	if (state->rule.pc_kind == SAVED_UNDEFINED)
		hand_over_rule(run, &end);
	else if (state->cfa_reason || state->pc_reason)
		hand_over_unsupported(run,
				      state->cfa_reason ? state->cfa_reason : state->pc_reason);
	else if (sp_differs(run))
		hand_over_unsupported(run, CFI_SP_DIFFERS);
	else
		hand_over_rule(run, &state->rule);
}

static int move_to(struct run *run, u64 address)
{
	if (!run->program->taker || address < run->address || address > run->program->end)
		return -EBADMSG;
	if (address == run->address)
		return 0;
	hand_over(run);
	run->address = address;
	return 0;
}

static int advance(struct run *run, u64 delta)
{
	return move_to(run, run->address + delta * run->program->code_align);
}

/* Where the CFA is: register + offset. */
static int define_cfa(struct run *run, u64 number, s64 offset)
{
	struct unwind_rule *rule = &run->state->rule;

	if (number > 0xff)
		return -EBADMSG; /* no processor has that many */
	run->state->cfa_reason = offset == (s32)offset ? CFI_SUPPORTED : CFI_CFA_RANGE;
	run->state->cfa_is_expression = false;
	rule->cfa_kind = CFA_REGISTER;
	rule->cfa_register = (u8)number;
	rule->cfa_offset = (s32)offset;
	rule->more = 0;
	return 0;
}

/* Another offset from the register that the CFA is computed from now. */
static int define_cfa_offset(struct run *run, s64 offset)
{
	const struct cfi_state *state = run->state;

	return !state->cfa_is_expression && state->rule.cfa_kind == CFA_REGISTER
		       ? define_cfa(run, state->rule.cfa_register, offset)
		       : -EBADMSG;
}

/* The same offset from another register. */
static int define_cfa_register(struct run *run, u64 number)
{
	struct cfi_state *state = run->state;

	if (state->cfa_is_expression || state->rule.cfa_kind != CFA_REGISTER || number > 0xff)
		return -EBADMSG;
	state->rule.cfa_register = (u8)number;
	return 0;
}

static int define_cfa_by_expression(struct run *run, struct bytes bytes)
{
	static const u8 kinds[] = {
		[SHAPE_REGISTER] = CFA_REGISTER,
		[SHAPE_MEMORY] = CFA_MEMORY,
		[SHAPE_PLT] = CFA_PLT,
	};
	struct cfi_expression expression = cfi_expression_read(bytes);

	define_cfa(run, expression.base, expression.offset);
	run->state->cfa_is_expression = true;
	if (expression.shape == SHAPE_OTHER)
		run->state->cfa_reason = CFI_CFA_EXPRESSION;
	else if (expression.more != (int16_t)expression.more)
		run->state->cfa_reason = CFI_CFA_RANGE;
	run->state->rule.cfa_kind = kinds[expression.shape];
	run->state->rule.more = (int16_t)expression.more;
	return 0;
}

static void save_pc(struct run *run, enum saved_kind kind, s64 offset, enum cfi_reason reason)
{
	struct cfi_state *state = run->state;

	/* On x86-64 no register is meant for it. */
	if (kind == SAVED_SAME && run->program->section->machine == CFI_X86_64)
		reason = CFI_PC_PLACE;
	state->pc_reason = (u8)reason;
	state->rule.pc_kind = (u8)kind;
	state->rule.pc_offset = reason ? 0 : (int16_t)offset;
}

/* What a rule says of rbx. */
static u8 rbx_words(enum saved_kind kind, s64 offset, bool fits)
{
	if (kind == SAVED_SAME)
		return 0;
	if (!fits || kind != SAVED_AT_CFA || offset >= 0 || offset % 8 ||
	    offset <= -8 * UNWIND_RBX_LOST)
		return UNWIND_RBX_LOST;
	return (u8)(-offset / 8);
}

/* Where the frame pointer's value for the caller is. */
static void save_fp(struct run *run, enum saved_kind kind, s64 offset, bool fits)
{
	struct unwind_rule *rule = &run->state->rule;

	rule->fp_kind = (u8)(fits ? kind : SAVED_UNDEFINED);
	rule->fp_offset = fits ? (int16_t)offset : 0;
}

/* Where a register's value for the caller is; `fits` is false for what no rule can hold. */
static void save(struct run *run, u64 number, enum saved_kind kind, s64 offset, bool fits)
{
	bool is_near = offset == (int16_t)offset;

	if (number == run->program->return_register) {
		save_pc(run, kind, offset,
			!fits	   ? CFI_PC_PLACE
			: !is_near ? CFI_PC_RANGE
				   : CFI_SUPPORTED);
	} else if (number == run->registers.fp) {
		save_fp(run, kind, offset, fits && is_near);
	} else if (number == run->registers.rbx) {
		run->state->rule.rbx_words = rbx_words(kind, offset, fits);
	} else if (number == run->registers.sp) {
		run->state->has_sp_rule = kind != SAVED_SAME;
		run->state->sp_offset = kind == SAVED_AT_SP && fits ? offset : INT64_MIN;
	}
}

static void save_by_expression(struct run *run, u64 number, struct bytes bytes)
{
	struct cfi_expression expression = cfi_expression_read(bytes);
	bool from_sp = expression.base == run->registers.sp;
	bool from_fp = expression.base == run->registers.fp;

	save(run, number, from_fp ? SAVED_AT_FP : SAVED_AT_SP, expression.offset,
	     expression.shape == SHAPE_REGISTER && (from_sp || from_fp));
}

/* Back to what the CIE said of a register. */
static int restore(struct run *run, u64 number)
{
	const struct cfi_state *initial = run->program->initial;
	struct cfi_state *state = run->state;

	if (!initial)
		return -EBADMSG;
	if (number == run->program->return_register) {
		state->pc_reason = initial->pc_reason;
		state->rule.pc_kind = initial->rule.pc_kind;
		state->rule.pc_offset = initial->rule.pc_offset;
	} else if (number == run->registers.fp) {
		state->rule.fp_kind = initial->rule.fp_kind;
		state->rule.fp_offset = initial->rule.fp_offset;
	} else if (number == run->registers.rbx) {
		state->rule.rbx_words = initial->rule.rbx_words;
	} else if (number == run->registers.sp) {
		state->has_sp_rule = initial->has_sp_rule;
		state->sp_offset = initial->sp_offset;
	}
	return 0;
}

/* A register's value for the caller is in another register. */
static void save_in_register(struct run *run, u64 number, u64 other)
{
	if (number == run->program->return_register)
		save_pc(run, SAVED_IN_REGISTER, (s64)other,
			other < UNWIND_REGISTERS ? CFI_SUPPORTED : CFI_PC_PLACE);
	else
		save(run, number, SAVED_AT_CFA, 0, false);
}

static int remember(struct run *run)
{
	if (run->remembered_count == REMEMBER_MAX)
		return -EBADMSG;
	run->remembered[run->remembered_count++] = *run->state;
	return 0;
}

static int recall(struct run *run)
{
	if (!run->remembered_count)
		return -EBADMSG;
	*run->state = run->remembered[--run->remembered_count];
	return 0;
}

static struct bytes block(struct run *run)
{
	u64 length = cfi_uleb(&run->cursor);
	const u8 *start = cursor_take(&run->cursor, length);

	return (struct bytes){.start = start, .length = start ? length : 0};
}

static s64 scaled(struct run *run, s64 factored)
{
	s64 product;

	if (__builtin_mul_overflow(factored, run->program->data_align, &product))
		run->cursor.overrun = true;
	return run->cursor.overrun ? 0 : product;
}

/* Instructions that move the address. */
static int step_location(struct run *run, u8 operation)
{
	switch (operation) {
	case CFA_SET_LOC:
		return move_to(run, cfi_pointer(&run->cursor, run->program->pointer_encoding,
						run->program->section));
	case CFA_ADVANCE_LOC1:
		return advance(run, cursor_u8(&run->cursor));
	case CFA_ADVANCE_LOC2:
		return advance(run, cursor_u16(&run->cursor));
	case CFA_ADVANCE_LOC4:
		return advance(run, cursor_u32(&run->cursor));
	}
	return -EBADMSG;
}

/* Instructions that define the CFA. */
static int step_cfa(struct run *run, u8 operation)
{
	u64 number;

	switch (operation) {
	case CFA_DEF_CFA:
		number = cfi_uleb(&run->cursor);
		return define_cfa(run, number, (s64)cfi_uleb(&run->cursor));
	case CFA_DEF_CFA_SF:
		number = cfi_uleb(&run->cursor);
		return define_cfa(run, number, scaled(run, cfi_sleb(&run->cursor)));
	case CFA_DEF_CFA_REGISTER:
		return define_cfa_register(run, cfi_uleb(&run->cursor));
	case CFA_DEF_CFA_OFFSET_SF:
		return define_cfa_offset(run, scaled(run, cfi_sleb(&run->cursor)));
	case CFA_DEF_CFA_EXPRESSION:
		return define_cfa_by_expression(run, block(run));
	}
	return -EBADMSG;
}

/* Instructions that say where a register was saved, by the register's number. */
static int step_register(struct run *run, u8 operation)
{
	u64 number = cfi_uleb(&run->cursor);

	switch (operation) {
	case CFA_OFFSET_EXTENDED:
		save(run, number, SAVED_AT_CFA, scaled(run, (s64)cfi_uleb(&run->cursor)), true);
		return 0;
	case CFA_OFFSET_EXTENDED_SF:
		save(run, number, SAVED_AT_CFA, scaled(run, cfi_sleb(&run->cursor)), true);
		return 0;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		save(run, number, SAVED_AT_CFA, -scaled(run, (s64)cfi_uleb(&run->cursor)), true);
		return 0;
	case CFA_RESTORE_EXTENDED:
		return restore(run, number);
	case CFA_UNDEFINED:
		save(run, number, SAVED_UNDEFINED, 0, true);
		return 0;
	case CFA_SAME_VALUE:
		save(run, number, SAVED_SAME, 0, true);
		return 0;
	case CFA_IN_REGISTER:
		save_in_register(run, number, cfi_uleb(&run->cursor));
		return 0;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		cfi_uleb(&run->cursor);
		save(run, number, SAVED_AT_CFA, 0, false);
		return 0;
	case CFA_EXPRESSION:
		save_by_expression(run, number, block(run));
		return 0;
	case CFA_VAL_EXPRESSION:
		block(run);
		save(run, number, SAVED_AT_CFA, 0, false);
		return 0;
	}
	return -EBADMSG;
}

/* Instructions without the frequent ones. */
static int step_other(struct run *run, u8 operation)
{
	switch (operation) {
	case CFA_NEGATE_RA_STATE_WITH_PC:
	case CFA_NEGATE_RA_STATE:
		return run->program->section->machine == CFI_AARCH64 ? 0 : -EBADMSG;
	case CFA_GNU_ARGS_SIZE:
		cfi_uleb(&run->cursor);
		return 0;
	case CFA_REMEMBER_STATE:
		return remember(run);
	case CFA_RESTORE_STATE:
		return recall(run);
	}
	if (operation <= CFA_ADVANCE_LOC4)
		return step_location(run, operation);
	if (operation >= CFA_DEF_CFA && operation <= CFA_DEF_CFA_EXPRESSION)
		return step_cfa(run, operation);
	if (operation == CFA_DEF_CFA_SF || operation == CFA_DEF_CFA_OFFSET_SF)
		return step_cfa(run, operation);
	return step_register(run, operation);
}

/* The next instruction; there is one. */
static int step(struct run *run)
{
	u8 operation = *run->cursor.next++;
	u8 low = operation & CFA_LOW_BITS;

	switch (operation & ~CFA_LOW_BITS) {
	case CFA_ADVANCE_LOC:
		return advance(run, low);
	case CFA_OFFSET:
		save(run, low, SAVED_AT_CFA, scaled(run, (s64)cfi_uleb(&run->cursor)), true);
		return 0;
	case CFA_RESTORE:
		return restore(run, low);
	}
	if (operation == CFA_DEF_CFA_OFFSET)
		return define_cfa_offset(run, (s64)cfi_uleb(&run->cursor));
	return operation == CFA_NOP ? 0 : step_other(run, operation);
}

int cfi_program_run(const struct cfi_program *program, struct cfi_state *state,
		    struct cfi_result *result)
{
	struct run run;
	int error = 0;

	run.program = program;
	run.registers = registers_of[program->section->machine];
	run.cursor = cursor_of(program->instructions);
	run.state = state;
	run.address = program->start;
	run.result = result;
	run.last = (struct unwind_rule){.cfa_kind = CFA_NONE};
	run.remembered_count = 0;
	while (cursor_left(&run.cursor) && !error) {
		error = step(&run);
		if (run.cursor.overrun)
			error = -EBADMSG;
	}
	if (!program->taker || run.address >= program->end)
		return error;
	if (error)
		hand_over_unsupported(&run, CFI_BROKEN);
	else
		hand_over(&run);
	return error;
}
