/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few DWARF expressions that call frame information of real binaries holds, recognised by
 * shape.
 */
#ifndef UNWIND_CFI_EXPRESSION_H
#define UNWIND_CFI_EXPRESSION_H

#include "unwind/eh_frame.h"

enum cfi_shape {
	SHAPE_OTHER,	/* nothing that a rule can hold */
	SHAPE_REGISTER, /* register + offset */
	SHAPE_MEMORY,	/* the word at (register + offset), plus `more` */
	SHAPE_PLT,	/* register + offset + (8 if (pc & 15) >= more) */
};

struct cfi_expression {
	enum cfi_shape shape;
	u64 base; /* DWARF number of the register */
	s64 offset, more;
};

/* Recognises the bytes of one expression; whatever they are, it takes time linear in them at most.
 * Source: DWARF 5, 2.5 and 7.7.1. */
struct cfi_expression cfi_expression_read(struct bytes bytes);

#endif
