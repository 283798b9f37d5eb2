/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps from a frame to its caller, by a rule. Pure: the same text runs in the BPF programs and in
 * tests.
 */
#ifndef BPFPROF_UNWIND_STEP_H
#define BPFPROF_UNWIND_STEP_H

#include "bpfprof/unwind_cfa.h"

/* Where a register was saved; 0 for the kinds that are no place. */
static inline __attribute__((always_inline)) u64 unwind_saved_at(const struct unwind_frame *frame,
								 u64 cfa, u8 kind, s16 offset)
{
	u64 base = kind == SAVED_AT_CFA ? cfa : kind == SAVED_AT_SP ? frame->sp : frame->fp;

	return base + (u64)(s64)offset;
}

/* The caller's pc: from the stack, or from the link register of a function that has not saved it.
 * Such a function has called nobody, so it is the innermost one, or was interrupted by a signal. */
static inline __attribute__((always_inline)) u8 unwind_pc(const struct unwind_frame *frame,
							  const struct unwind_rule *rule, u64 cfa,
							  struct unwind_memory memory, u64 *ret_pc)
{
	u64 address = unwind_saved_at(frame, cfa, rule->pc_kind, rule->pc_offset);

	if (rule->pc_kind == SAVED_SAME) {
		*ret_pc = frame->lr;
		return frame->has_lr && frame->is_exact ? END_UNKNOWN : END_BROKEN;
	}
	if (rule->pc_kind == SAVED_UNDEFINED)
		return END_COMPLETE;
	if (rule->pc_kind == SAVED_IN_REGISTER) {
		*ret_pc = frame->registers[rule->pc_offset & (UNWIND_REGISTERS - 1)];
		return frame->has_registers ? END_UNKNOWN : END_UNSUPPORTED;
	}
	if (rule->pc_kind == SAVED_AT_FP && frame->fp_is_lost)
		return END_UNSUPPORTED;
	return memory.read_word(memory.context, address, ret_pc) ? END_UNKNOWN : END_UNREADABLE;
}

/* The caller's frame pointer, into the frame. */
static inline __attribute__((always_inline)) bool unwind_fp(struct unwind_frame *frame,
							    const struct unwind_rule *rule, u64 cfa,
							    struct unwind_memory memory)
{
	u64 address = unwind_saved_at(frame, cfa, rule->fp_kind, rule->fp_offset);
	u64 value = 0;

	if (rule->fp_kind == SAVED_SAME)
		return true;
	if (rule->fp_kind == SAVED_UNDEFINED) {
		frame->fp_is_lost = 1;
		return true;
	}
	if (rule->fp_kind == SAVED_AT_FP && frame->fp_is_lost)
		return true;
	if (!memory.read_word(memory.context, address, &value))
		return false;
	frame->fp = value;
	frame->fp_is_lost = 0;
	return true;
}

/* Where the caller's rbx is, into the frame. */
static inline __attribute__((always_inline)) void unwind_note_rbx(struct unwind_frame *frame,
								  const struct unwind_rule *rule,
								  u64 cfa)
{
	if (rule->rbx_words == UNWIND_RBX_LOST)
		frame->rbx_at = 0;
	else if (rule->rbx_words)
		frame->rbx_at = cfa - rule->rbx_words * sizeof(u64);
}

/* Whether the caller's stack pointer may follow on this one's. A handler may have had a stack of
 * its own; a return address on the stack has been taken off. */
static inline __attribute__((always_inline)) bool unwind_goes_up(const struct unwind_frame *frame,
								 const struct unwind_rule *rule,
								 u64 cfa)
{
	bool is_in_memory = rule->pc_kind != SAVED_SAME && rule->pc_kind != SAVED_IN_REGISTER;

	return rule->is_signal || (is_in_memory ? cfa > frame->sp : cfa >= frame->sp);
}

/* Whether the rule is of the kind that nearly all of x86-64 are: the CFA is counted from the stack
 * or the frame pointer, the return address and the frame pointer, if that was saved, lie at it. */
static inline __attribute__((always_inline)) bool unwind_is_plain(const struct unwind_rule *rule)
{
	return rule->cfa_kind == CFA_REGISTER &&
	       (rule->cfa_register == X86_64_SP || rule->cfa_register == X86_64_FP) &&
	       rule->pc_kind == SAVED_AT_CFA && rule->fp_kind <= SAVED_AT_CFA && !rule->is_signal;
}

/* unwind_step() by a plain rule. Returns false, and has done nothing, where that is not the whole
 * of it: there is no caller, or something cannot be read. */
static inline __attribute__((always_inline)) bool unwind_step_plain(struct unwind_frame *frame,
								    const struct unwind_rule *rule,
								    struct unwind_memory memory)
{
	bool by_fp = rule->cfa_register == X86_64_FP;
	u64 cfa = (by_fp ? frame->fp : frame->sp) + (u64)(s64)rule->cfa_offset;
	u64 pc = 0, fp = frame->fp;

	if (cfa <= frame->sp || (by_fp && frame->fp_is_lost) ||
	    !memory.read_word(memory.context, cfa + (u64)(s64)rule->pc_offset, &pc) || !pc)
		return false;
	if (rule->fp_kind == SAVED_AT_CFA) {
		if (!memory.read_word(memory.context, cfa + (u64)(s64)rule->fp_offset, &fp))
			return false;
		frame->fp = fp;
		frame->fp_is_lost = 0;
	}
	unwind_note_rbx(frame, rule, cfa);
	frame->pc = pc;
	frame->sp = cfa;
	frame->sp_is_lost = 0;
	frame->is_exact = 0;
	frame->has_lr = 0;
	frame->has_registers = 0;
	return true;
}

/*
 * Makes `frame` its caller's. Returns END_UNKNOWN if there is one, else why the stack ends (enum
 * user_stack_end); the frame is then undefined.
 */
static inline __attribute__((always_inline)) u8 unwind_step(enum unwind_machine machine,
							    struct unwind_frame *frame,
							    const struct unwind_rule *rule,
							    struct unwind_memory memory)
{
	u64 cfa = 0, pc = 0;
	u8 end;

	if (rule->cfa_kind == CFA_NONE)
		return END_NO_TABLE;
	if (rule->cfa_kind == CFA_END)
		return END_COMPLETE;
	end = unwind_cfa(machine, frame, rule, memory, &cfa);
	if (end)
		return end;
	if (!unwind_goes_up(frame, rule, cfa))
		return END_BROKEN;
	end = unwind_pc(frame, rule, cfa, memory, &pc);
	if (end)
		return end;
	if (!unwind_fp(frame, rule, cfa, memory))
		return END_UNREADABLE;
	if (machine == UNWIND_X86_64)
		unwind_note_rbx(frame, rule, cfa);
	frame->pc = unwind_code_address(machine, pc);
	frame->sp = cfa;
	frame->sp_is_lost = 0;
	frame->is_exact = rule->is_signal;
	frame->has_lr = 0;
	frame->has_registers = 0;
	return frame->pc ? END_UNKNOWN : END_COMPLETE;
}

#endif
