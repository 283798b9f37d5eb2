/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far it is from one x86 instruction to the next. Pure.
 */
#ifndef BINARY_CODE_STEP_H
#define BINARY_CODE_STEP_H

#include "base/cursor.h"

enum { CODE_STEP_MAX_BYTES = 15 };

struct code_step {
	u8 length;	/* of the instruction */
	bool is_branch; /* it may go on elsewhere */
};

/* Reads what `code` begins with, of code of 64 bits (`is_wide`) or 32. Returns false if that is no
 * whole instruction. */
bool code_step_read(struct bytes code, bool is_wide, struct code_step *ret_step);

#endif
