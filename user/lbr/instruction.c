/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instructions by Zydis, of which only length, opcode and operand bytes are asked for.
 */
#include "lbr/instruction.h"

#include <Zydis/Zydis.h>

enum { PREFIX_NOTRACK = 0x3e, GROUP_CALL = 2, GROUP_JUMP = 4 };

/* ModRM and SIB values: no base register but rip, a SIB byte, no base or no index in it. */
enum { RM_RIP = 5, RM_SIB = 4, SIB_NO_BASE = 5, SIB_NO_INDEX = 4, SIB_SP = 4 };

static bool is_memory(const ZydisDecodedInstruction *decoded)
{
	return decoded->raw.modrm.offset && decoded->raw.modrm.mod != 3;
}

/* The address of the only word that a memory operand can mean; 0: there is none. */
static u64 fixed_word(const ZydisDecodedInstruction *decoded, u64 address)
{
	const struct ZydisDecodedInstructionModRm_ *modrm = &decoded->raw.modrm;

	if (!is_memory(decoded) || modrm->mod)
		return 0;
	if (modrm->rm == RM_RIP)
		return address + decoded->length + (u64)decoded->raw.disp.value;
	if (modrm->rm == RM_SIB && decoded->raw.sib.base == SIB_NO_BASE &&
	    decoded->raw.sib.index == SIB_NO_INDEX)
		return (u64)decoded->raw.disp.value;
	return 0;
}

static bool has_notrack(struct bytes code, const ZydisDecodedInstruction *decoded)
{
	return memchr(code.start, PREFIX_NOTRACK, decoded->raw.prefix_count) != NULL;
}

/* jmp *table(,%reg,8) */
static bool reads_table(const ZydisDecodedInstruction *decoded)
{
	return is_memory(decoded) && !decoded->raw.modrm.mod && decoded->raw.modrm.rm == RM_SIB &&
	       decoded->raw.sib.scale == 3 && decoded->raw.sib.base == SIB_NO_BASE &&
	       decoded->raw.sib.index != SIB_NO_INDEX;
}

static void classify_group(struct bytes code, u64 address, const ZydisDecodedInstruction *decoded,
			   struct instruction *instruction)
{
	if (decoded->raw.modrm.reg == GROUP_CALL) {
		instruction->kind = INSTRUCTION_CALL_INDIRECT;
		instruction->target = fixed_word(decoded, address);
	}
	if (decoded->raw.modrm.reg != GROUP_JUMP)
		return;
	instruction->kind = INSTRUCTION_JUMP_INDIRECT;
	instruction->target = fixed_word(decoded, address);
	if (has_notrack(code, decoded) || reads_table(decoded))
		instruction->kind = INSTRUCTION_JUMP_TABLE;
}

/* mov %reg,(%rsp) */
static bool sets_return(const ZydisDecodedInstruction *decoded)
{
	return is_memory(decoded) && !decoded->raw.modrm.mod && decoded->raw.modrm.rm == RM_SIB &&
	       decoded->raw.sib.base == SIB_SP && decoded->raw.sib.index == SIB_NO_INDEX &&
	       !decoded->raw.rex.B;
}

static void classify(struct bytes code, u64 address, const ZydisDecodedInstruction *decoded,
		     struct instruction *instruction)
{
	u64 behind = address + decoded->length;

	switch (decoded->opcode) {
	case 0x63:
		if (is_memory(decoded) && decoded->raw.modrm.rm == RM_SIB &&
		    decoded->raw.sib.scale == 2)
			instruction->kind = INSTRUCTION_TABLE_LOAD;
		break;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
	case 0xe9:
	case 0xeb:
		instruction->kind = INSTRUCTION_JUMP;
		instruction->target = behind + decoded->raw.imm[0].value.u;
		break;
	case 0x89:
		if (sets_return(decoded))
			instruction->kind = INSTRUCTION_SET_RETURN;
		break;
	case 0xc2 ... 0xc3:
		instruction->kind = INSTRUCTION_RETURN;
		break;
	case 0xe8:
		instruction->kind = INSTRUCTION_CALL;
		instruction->target = behind + decoded->raw.imm[0].value.u;
		break;
	case 0xff:
		classify_group(code, address, decoded, instruction);
		break;
	}
}

bool instruction_decode(struct bytes code, u64 address, struct instruction *ret_instruction)
{
	ZydisDecodedInstruction decoded;
	ZydisDecoder decoder;

	*ret_instruction = (struct instruction){0};
	if (!code.length ||
	    !ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(
		    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code.start, code.length,
							&decoded)))
		return false;
	ret_instruction->length = decoded.length;
	if (decoded.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return true;
	if (decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
		classify(code, address, &decoded, ret_instruction);
	} else if (decoded.opcode_map == ZYDIS_OPCODE_MAP_0F && (decoded.opcode & 0xf0) == 0x80) {
		ret_instruction->kind = INSTRUCTION_JUMP;
		ret_instruction->target = address + decoded.length + decoded.raw.imm[0].value.u;
	}
	return true;
}

bool instruction_is_padding(struct bytes code)
{
	enum { PREFIX_WIDE = 0x66, PREFIX_SEGMENT = 0x2e, NOP = 0x90, NOP_LONG = 0x1f };
	u64 at = 0;

	while (at < code.length &&
	       (code.start[at] == PREFIX_WIDE || code.start[at] == PREFIX_SEGMENT))
		at++;
	return at < code.length &&
	       (code.start[at] == NOP ||
		(at + 1 < code.length && code.start[at] == 0x0f && code.start[at + 1] == NOP_LONG));
}

/* Whether a jump always jumps. */
static bool is_unconditional(const u8 *code, u32 bytes)
{
	enum { NEAR = 0xe9, NEAR_BYTES = 5, SHORT = 0xeb, SHORT_BYTES = 2 };
	bool is_near = bytes > NEAR_BYTES && (code[bytes - NEAR_BYTES] & 0xf0) == 0x80 &&
		       code[bytes - NEAR_BYTES - 1] == 0x0f;

	return !is_near && ((bytes >= NEAR_BYTES && code[bytes - NEAR_BYTES] == NEAR) ||
			    code[bytes - SHORT_BYTES] == SHORT);
}

bool instruction_goes_on(struct bytes code, u8 kind)
{
	static const u8 undefined[] = {0x0f, 0x0b};
	enum { HALT = 0xf4, BREAK = 0xcc, BYTES_MIN = 2 };

	switch (kind) {
	case INSTRUCTION_JUMP:
		return code.length >= BYTES_MIN && !is_unconditional(code.start, (u32)code.length);
	case INSTRUCTION_OTHER:
	case INSTRUCTION_TABLE_LOAD:
	case INSTRUCTION_SET_RETURN:
		return code.start[0] != HALT && code.start[0] != BREAK &&
		       !(code.length == sizeof(undefined) &&
			 !memcmp(code.start, undefined, sizeof(undefined)));
	}
	return false;
}
