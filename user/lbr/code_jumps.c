/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One jump from a function to another, found by its distance: to decode all that is in front of it
 * takes a hundred times longer.
 */
#include "lbr/code_facts.h"

#include <string.h>

enum { OPCODE_JUMP = 0xe9, PREFIX_0F = 0x0f, CONDITIONAL = 0x80 };

/* Whether an instruction that jumps ends at an address of the function. Where rules of call frame
 * information begin, an instruction does. */
static bool is_end_of_jump(const struct code_facts *facts, const struct code_function *function,
			   u64 end)
{
	struct function_bound span;
	struct instruction instruction = {0};
	u64 at;

	function_rules_find_span(facts->rules, end - 1, &span);
	at = span.start;
	if (at < function->start || at >= end)
		return false;
	for (; at < end; at += instruction.length)
		if (!code_facts_instruction(facts, at, &instruction))
			return false;
	return at == end && instruction.kind == INSTRUCTION_JUMP;
}

/* Whether a distance has an opcode in front that it belongs to. */
static bool is_distance(const u8 *code, u64 at)
{
	return code[at - 1] == OPCODE_JUMP ||
	       (at > 1 && code[at - 2] == PREFIX_0F && (code[at - 1] & 0xf0) == CONDITIONAL);
}

bool code_facts_jumps_into(const struct code_facts *facts, u32 from, u32 to)
{
	const struct code_function *function = &facts->functions.items[from];
	const struct code_function *wanted = &facts->functions.items[to];
	struct bytes text = code_image_text(&facts->image, function->start,
					    function->end - function->start);
	const u8 *code = text.start;

	for (u64 at = 1; at + sizeof(s32) <= text.length; at++) {
		u64 end = function->start + at + sizeof(s32);
		s32 distance;

		memcpy(&distance, code + at, sizeof(distance));
		if (end + (u64)(s64)distance - wanted->start >= wanted->end - wanted->start)
			continue;
		/* One that is none of a jump comes by chance, or because somebody wants us to look
		 * at many. */
		if (is_distance(code, at))
			return is_end_of_jump(facts, function, end);
	}
	return false;
}
