/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many CALLs can have entered a function, by all that refers to it.
 */
#include "lbr/code_callers.h"

enum { NEAR_BYTES = 128 }; /* as far as a jump with one byte of distance goes */

static const struct code_function *function_at(const struct code_facts *facts, u32 row)
{
	return &facts->functions.items[row];
}

static bool can_be_entered_unseen(const struct code_function *function)
{
	return function->flags &
	       (FUNCTION_IS_GAP | FUNCTION_IS_STUB | FUNCTION_IS_EXPORTED | FUNCTION_IS_POINTED_AT);
}

/* The function that a part split off from it belongs to; itself if it is no such part. */
static u32 owner_of(const struct code_facts *facts, u32 row)
{
	enum { PARTS_MAX = 4 };

	for (int i = 0; i < PARTS_MAX; i++) {
		const struct code_function *function = function_at(facts, row);

		if (can_be_entered_unseen(function) || function->calls || !function->has_jumps ||
		    function->has_many)
			break;
		row = function->jumps_from;
	}
	return row;
}

/* Whether the function in front of this one goes on in it, as assembly may: in between there is
 * nothing but what aligns it. */
static bool is_gone_on_in(struct code_facts *facts, u32 row)
{
	enum { PADDING_BYTES = 16 };
	u32 before = row;

	if (before && function_at(facts, before - 1)->flags & FUNCTION_IS_GAP &&
	    function_at(facts, row)->start - function_at(facts, before - 1)->start < PADDING_BYTES)
		before--;
	return before && code_facts_read_function(facts, before - 1)->flags & FUNCTION_GOES_ON;
}

/* Whether a function nearby may go on in this one by a short jump. */
static bool has_near_jump(struct code_facts *facts, u32 row)
{
	const u64 start = function_at(facts, row)->start, end = function_at(facts, row)->end;

	for (u32 i = row; i-- > 0 && function_at(facts, i)->end + NEAR_BYTES > start;) {
		const struct code_function *near = code_facts_read_function(facts, i);

		for (u32 exit = 0; exit < near->exit_count; exit++)
			if (facts->exits.items[near->exit_first + exit].target - start <
			    end - start)
				return true;
	}
	for (u32 i = row + 1;
	     i < facts->functions.count && function_at(facts, i)->start < end + NEAR_BYTES; i++) {
		const struct code_function *near = code_facts_read_function(facts, i);

		for (u32 exit = 0; exit < near->exit_count; exit++)
			if (facts->exits.items[near->exit_first + exit].target - start <
			    end - start)
				return true;
	}
	return false;
}

u32 code_facts_calls(struct code_facts *facts, u32 row)
{
	const struct code_function *function;

	code_callers_find(facts);
	row = owner_of(facts, row);
	function = function_at(facts, row);
	if (can_be_entered_unseen(function) || function->has_many)
		return CALLS_UNKNOWN;
	/* A part split off may jump back. */
	if (function->has_jumps && owner_of(facts, function->jumps_from) != row)
		return CALLS_UNKNOWN;
	return has_near_jump(facts, row) || is_gone_on_in(facts, row) ? CALLS_UNKNOWN
								      : function->calls;
}

u64 code_facts_entry(const struct code_facts *facts, u32 row)
{
	return function_at(facts, owner_of(facts, row))->start;
}

u32 code_facts_calls_to(const struct code_facts *facts, u32 row, u64 target)
{
	const struct code_function *function = function_at(facts, row);
	struct instruction instruction;
	u32 calls = 0;

	for (u64 at = function->start; at < function->end; at += instruction.length) {
		if (!code_facts_instruction(facts, at, &instruction))
			return 0;
		calls += instruction.kind == INSTRUCTION_CALL && instruction.target == target;
	}
	return calls;
}

u64 code_facts_only_call(struct code_facts *facts, u32 row)
{
	struct instruction call;
	u64 from;

	if (code_facts_calls(facts, row) != 1)
		return 0;
	from = function_at(facts, owner_of(facts, row))->call;
	if (!code_facts_instruction(facts, from, &call) ||
	    code_facts_call_before(facts, from + call.length) != from)
		return 0;
	return from;
}

bool code_facts_is_pointed_at(struct code_facts *facts, u32 row)
{
	code_callers_find(facts);
	return function_at(facts, owner_of(facts, row))->flags &
	       (FUNCTION_IS_GAP | FUNCTION_IS_EXPORTED | FUNCTION_IS_POINTED_AT);
}
