/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a frame ends, by a rule: the address that all else is counted from. Pure, as unwind_step.h.
 */
#ifndef BPFPROF_UNWIND_CFA_H
#define BPFPROF_UNWIND_CFA_H

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

#endif
