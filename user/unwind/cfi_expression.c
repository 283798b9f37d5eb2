/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Expressions by shape: register plus offset, memory, and the one of lazy PLT stubs.
 */
#include "unwind/cfi_expression.h"

#include "unwind/cfi_number.h"

/* Source: DWARF 5, table 7.9. */
enum {
	OP_DEREF = 0x06,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	REGISTER_RIP = 16, /* psABI AMD64, figure 3.36 */
};

/* The rest of a PLT expression, behind "breg rsp, 8":
 * breg rip 0, lit15, and, lit N, ge, lit3, shl, plus. Returns N, -1 if it is another. */
static s64 plt_threshold(struct cursor *cursor)
{
	s64 threshold;

	if (cursor_u8(cursor) != OP_BREG0 + REGISTER_RIP || cfi_sleb(cursor) != 0)
		return -1;
	if (cursor_u8(cursor) != OP_LIT0 + 15 || cursor_u8(cursor) != OP_AND)
		return -1;
	threshold = (s64)cursor_u8(cursor) - OP_LIT0;
	if (threshold < 0 || threshold > 15)
		return -1;
	if (cursor_u8(cursor) != OP_GE || cursor_u8(cursor) != OP_LIT0 + 3 ||
	    cursor_u8(cursor) != OP_SHL || cursor_u8(cursor) != OP_PLUS)
		return -1;
	return threshold;
}

/* What is added behind a dereference; sets `overrun` for anything else. */
static s64 added(struct cursor *cursor)
{
	u8 operation;
	s64 sum = 0;

	while (cursor_left(cursor)) {
		operation = cursor_u8(cursor);
		if (operation == OP_PLUS_UCONST)
			sum += (s64)cfi_uleb(cursor);
		else if (operation >= OP_LIT0 && operation <= OP_LIT31 &&
			 cursor_u8(cursor) == OP_PLUS)
			sum += operation - OP_LIT0;
		else
			cursor->overrun = true;
		if (cursor->overrun)
			return 0;
	}
	return sum;
}

static enum cfi_shape shape_of(struct cursor *cursor, s64 *ret_more)
{
	struct cursor again = *cursor;

	if (!cursor_left(cursor))
		return SHAPE_REGISTER;
	if (cursor_u8(&again) == OP_DEREF) {
		*ret_more = added(&again);
		return again.overrun ? SHAPE_OTHER : SHAPE_MEMORY;
	}
	*ret_more = plt_threshold(cursor);
	return *ret_more >= 0 && !cursor_left(cursor) && !cursor->overrun ? SHAPE_PLT : SHAPE_OTHER;
}

struct cfi_expression cfi_expression_read(struct bytes bytes)
{
	struct cursor cursor = cursor_of(bytes);
	struct cfi_expression expression = {0};
	u8 operation = cursor_u8(&cursor);

	if (operation < OP_BREG0 || operation > OP_BREG31)
		return expression;
	expression.base = operation - OP_BREG0;
	expression.offset = cfi_sleb(&cursor);
	if (!cursor.overrun)
		expression.shape = shape_of(&cursor, &expression.more);
	return expression;
}
