/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instructions of call frame information, run over the three registers that unwinding follows:
 * the CFA, the return address and the frame pointer.
 */
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include "unwind/eh_frame.h"

/* What is known at one address. */
struct cfi_state {
	struct unwind_rule rule;
	bool is_unsupported; /* the CFA is computed in a way that no rule has */
	bool pc_unsupported; /* or the return address is */
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
	cfi_take *take;			 /* NULL while running a CIE */
	void *context;
};

/* The state before any instruction. */
struct cfi_state cfi_state_new(enum cfi_machine machine);
/* The rule of a state as the row that is handed over: CFA_END or CFA_UNSUPPORTED where it must. */
struct unwind_rule cfi_state_rule(const struct cfi_state *state);

/*
 * Runs the instructions, handing over a rule wherever it changes.
 * ret_unsupported  counts rules handed over as CFA_UNSUPPORTED
 * Returns 0, what `take` returned, or -EBADMSG (unknown or cut instruction; rules before it have
 * been handed over).
 */
int cfi_program_run(const struct cfi_program *program, struct cfi_state *state,
		    u64 *ret_unsupported);

#endif
