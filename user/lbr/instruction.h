/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One x86-64 instruction: how long it is and where it leads. Pure.
 */
#ifndef LBR_INSTRUCTION_H
#define LBR_INSTRUCTION_H

#include "base/cursor.h"

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_CALL,	   /* to `target` */
	INSTRUCTION_CALL_INDIRECT, /* through a register or memory */
	INSTRUCTION_JUMP,	   /* to `target`, maybe conditional */
	INSTRUCTION_JUMP_INDIRECT, /* `target`: the word that it reads, 0: not a fixed one */
	INSTRUCTION_JUMP_TABLE,	   /* indirect, to one of the places of a switch */
	INSTRUCTION_TABLE_LOAD,	   /* of a switch's table of offsets: a jump behind it is one */
	INSTRUCTION_RETURN,
	INSTRUCTION_SET_RETURN, /* overwrites the return address with a register (retpolines) */
};

struct instruction {
	u8 kind; /* enum instruction_kind */
	u8 length;
	u64 target;
};

/* Decodes what `code` begins with, which lies at `address`. Returns false if that is no
 * instruction. */
bool instruction_decode(struct bytes code, u64 address, struct instruction *ret_instruction);

/* Whether an instruction, which is all of `code`, does nothing but align what is behind it: a NOP.
 */
bool instruction_is_padding(struct bytes code);
/* Whether what is behind it may come next; `kind` as decoded. Behind a CALL that ends a function it
 * does not, or the function would go on. */
bool instruction_goes_on(struct bytes code, u8 kind);

#endif
