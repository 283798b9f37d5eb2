/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instructions of call frame information, run over the registers that unwinding follows: the
 * CFA, the return address, the frame pointer and, on x86-64, rbx.
 */
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include "unwind/eh_frame.h"

/* What is known at one address. */
struct cfi_state {
	struct unwind_rule rule;
	u8 cfa_reason;		/* enum cfi_reason: why the rule cannot say where the CFA is */
	u8 pc_reason;		/* or where the return address is */
	bool cfa_is_expression; /* then there is no register and offset to change one of */
	bool has_sp_rule; /* the stack pointer has a rule of its own: it must agree with the CFA */
	s64 sp_offset;	  /* then: the word at the frame's stack pointer + sp_offset */
};

/* What a function's instructions are read with. */
struct cfi_program {
	const struct cfi_section *section;
	struct bytes instructions;
	u64 code_align;
	s64 data_align;
	u64 return_register;		 /* DWARF number */
	u8 pointer_encoding;		 /* of DW_CFA_set_loc */
	const struct cfi_state *initial; /* what the CIE left; NULL while running the CIE itself */
	u64 start, end;			 /* addresses of the function */
	const struct cfi_taker *taker;	 /* NULL while running a CIE */
};

/* The state before any instruction. */
struct cfi_state cfi_state_new(enum cfi_machine machine);

/*
 * Runs the instructions, handing over a rule wherever it changes, and counting those that are
 * CFA_UNSUPPORTED.
 * Returns 0 or -EBADMSG (unknown or cut instruction; from there to the function's end a
 * CFA_UNSUPPORTED rule has been handed over).
 */
int cfi_program_run(const struct cfi_program *program, struct cfi_state *state,
		    struct cfi_result *result);

#endif
