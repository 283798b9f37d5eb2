/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps from a frame to its caller, by a rule. Pure: the same text runs in the BPF programs and in
 * tests.
 */
#ifndef BPFPROF_UNWIND_STEP_H
#define BPFPROF_UNWIND_STEP_H

#include "bpfprof/event.h"
#include "bpfprof/unwind_frame.h"
#include "bpfprof/unwind_table.h"

#include <stdbool.h>

/* The frame's rbx, which is looked for only when it is asked for. */
static inline __attribute__((always_inline)) u8 unwind_rbx(const struct unwind_frame *frame,
							   struct unwind_memory memory,
							   u64 *ret_value)
{
	*ret_value = frame->registers[X86_64_RBX];
	if (frame->rbx_at <= UNWIND_IN_REGISTERS)
		return frame->rbx_at ? END_UNKNOWN : END_UNSUPPORTED;
	return memory.read_word(memory.context, frame->rbx_at, ret_value) ? END_UNKNOWN
									  : END_UNREADABLE;
}

/* The frame's stack pointer. */
static inline __attribute__((always_inline)) u8 unwind_sp(enum unwind_machine machine,
							  const struct unwind_frame *frame,
							  u64 *ret_value)
{
	*ret_value = frame->sp;
	return machine == UNWIND_ARM64 && frame->sp_is_lost ? END_UNSUPPORTED : END_UNKNOWN;
}

/* The register that the CFA is computed from. */
static inline __attribute__((always_inline)) u8 unwind_base(enum unwind_machine machine,
							    const struct unwind_frame *frame,
							    u8 number, struct unwind_memory memory,
							    u64 *ret_value)
{
	if (number == (machine == UNWIND_X86_64 ? X86_64_SP : ARM64_SP)) {
		return unwind_sp(machine, frame, ret_value);
	} else if (number == (machine == UNWIND_X86_64 ? X86_64_FP : ARM64_FP)) {
		*ret_value = frame->fp;
		return frame->fp_is_lost ? END_UNSUPPORTED : END_UNKNOWN;
	} else if (machine == UNWIND_X86_64 && number == X86_64_RBX) {
		return unwind_rbx(frame, memory, ret_value);
	} else {
		if (!frame->has_registers || number >= UNWIND_REGISTERS)
			return END_UNSUPPORTED;
		*ret_value = frame->registers[number & (UNWIND_REGISTERS - 1)];
	}
	return END_UNKNOWN;
}

/* Whether the code with this rule has put x29 and x30 down next to one another, as a record of its
 * frame, to which its x29 points from then on. */
static inline __attribute__((always_inline)) bool unwind_has_record(const struct unwind_rule *rule)
{
	return rule->cfa_kind == CFA_REGISTER && rule->fp_kind == SAVED_AT_CFA &&
	       rule->pc_kind == SAVED_AT_CFA &&
	       rule->pc_offset == rule->fp_offset + (s16)sizeof(u64);
}

/* The stack pointer that the caller has after the return. Without this frame's own it is as far
 * above the record that the frame pointer leads to as the rule says. */
static inline __attribute__((always_inline)) u8 unwind_cfa(enum unwind_machine machine,
							   const struct unwind_frame *frame,
							   const struct unwind_rule *rule,
							   struct unwind_memory memory,
							   u64 *ret_cfa)
{
	u64 base = 0;
	u8 end = unwind_base(machine, frame, rule->cfa_register, memory, &base);

	if (machine == UNWIND_ARM64 && frame->sp_is_lost && unwind_has_record(rule)) {
		*ret_cfa = frame->fp - (u64)(s64)rule->fp_offset;
		return frame->fp_is_lost ? END_UNSUPPORTED : END_UNKNOWN;
	}
	if (end)
		return end;
	base += (u64)(s64)rule->cfa_offset;
	if (rule->cfa_kind == CFA_MEMORY) {
		if (!memory.read_word(memory.context, base, &base))
			return END_UNREADABLE;
		base += (u64)(s64)rule->more;
	} else if (rule->cfa_kind == CFA_PLT) {
		base += (frame->pc & 15) >= (u64)(s64)rule->more ? 8 : 0;
	} else if (rule->cfa_kind != CFA_REGISTER) {
		return END_UNSUPPORTED;
	}
	*ret_cfa = base;
	return END_UNKNOWN;
}

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
