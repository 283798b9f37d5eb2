/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instructions by Zydis, of which length and kind are asked for.
 */
#include "binary/code_step.h"

#include <Zydis/Zydis.h>

static bool is_branch(ZydisInstructionCategory category)
{
	switch (category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return true;
	default:
		return false;
	}
}

bool code_step_read(struct bytes code, bool is_wide, struct code_step *ret_step)
{
	ZydisDecodedInstruction decoded;
	ZydisDecoder decoder;

	if (!code.length ||
	    !ZYAN_SUCCESS(ZydisDecoderInit(
		    &decoder, is_wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
		    is_wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code.start, code.length,
							&decoded)))
		return false;
	ret_step->length = decoded.length;
	ret_step->is_branch = is_branch(decoded.meta.category);
	return true;
}
