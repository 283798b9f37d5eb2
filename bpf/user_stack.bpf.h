/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user stack, frame by frame: by unwind tables, and by frame pointers where there are none or
 * nobody asks for them.
 *
 * A frame that was found by a frame pointer in code that may not have one is believed only if it
 * can be one: its pc lies in code, behind a call. Rather no frame than a wrong one.
 */
#ifndef USER_STACK_BPF_H
#define USER_STACK_BPF_H

#include "frame_files.bpf.h"
#include "frame_pointer.bpf.h"
#include "rules.bpf.h"
#include "stack_rest.bpf.h"

/* --- by tables --- */

/* Whether the frame that a frame pointer led to, out of code without a rule, has called other code:
 * a function that has a rule. Its frame pointer was the one that was found, and the frames between
 * have been passed over. walk.code is read. */
static __always_inline bool has_called_another(const struct user_walk *walk)
{
	u64 target = code_call_target(MACHINE, walk->code[0], walk->frame.pc);

	return target && calls_with_rule(target);
}

/* The rule that holds at the frame's pc, NULL if there is none. `row` is its mapping's; sets
 * `doubt` to what having none means. */
static __always_inline const struct unwind_rule *find_rule(struct scratch *scratch, u32 row)
{
	struct known_process *process = known_process(scratch);
	struct user_walk *walk = &scratch->walk;
	const struct known_mapping *mapping;
	bool is_unread;

	if (row >= MAPPINGS_KNOWN) {
		walk->doubt = row == MAPPING_NONE ? END_BROKEN : END_UNREADABLE;
		return NULL;
	}
	mapping = &process->mappings[row];
	is_unread = mapping->table.state == FILE_WANTED || mapping->table.state == FILE_NO_ROOM ||
		    mapping->table.state == FILE_GONE;
	if (mapping->table.state == FILE_WANTED && !walk->has_rest)
		begin_rest(walk->doubt);
	walk->doubt = is_unread ? END_NOT_ANALYSED : END_NO_TABLE;
	if (mapping->table.state != FILE_READY)
		return NULL;
	return rule_at(scratch, row, unwind_find_address(&walk->frame));
}

/* What take_frame() says of a frame that is take_any_frame()'s. */
enum { FRAME_IS_ODD = 255 };

/* Takes the frame that the walk is at if there is a plain rule for its code, and steps to its
 * caller, or finds that it has none: nearly all frames. Has done nothing if that is odd. What is
 * here, and in what it calls, is in nobody's cache when a sample begins: it is kept short. */
static __always_inline u8 take_plain_frame(struct scratch *scratch)
{
	struct user_walk *walk = &scratch->walk;
	struct unwind_memory memory = {.read_word = read_stack_word, .context = scratch};
	u64 pc = walk->frame.pc, address = unwind_find_address(&walk->frame);
	u32 row = find_mapping(scratch, address);
	const struct unwind_rule *rule;
	u8 end = END_COMPLETE;

	if (MACHINE != UNWIND_X86_64 || row >= MAPPINGS_KNOWN ||
	    walk->found_by == WALKER_FRAME_POINTER ||
	    known_process(scratch)->mappings[row].table.state != FILE_READY)
		return FRAME_IS_ODD;
	rule = rule_at(scratch, row, address);
	if (!rule)
		return FRAME_IS_ODD;
	if (rule->cfa_kind != CFA_END) {
		if (!unwind_is_plain(rule) || !unwind_step_plain(&walk->frame, rule, memory))
			return FRAME_IS_ODD;
		end = END_UNKNOWN;
	}
	put_pc(scratch, pc);
	add_file(scratch, row);
	walk->doubt = END_NO_TABLE;
	walk->found_by = WALKER_EH_FRAME;
	scratch->record.header.walked |= WALKER_EH_FRAME;
	return end;
}

/* Takes the frame that the walk is at, and steps to its caller by the rule of its code, or without
 * one. Global, see move_window(). */
__noinline int take_any_frame(void)
{
	struct scratch *scratch = scratch_here();
	struct user_walk *walk;
	struct unwind_memory memory = {.read_word = read_stack_word, .context = scratch};
	const struct unwind_rule *rule;
	bool is_sigreturn = false, is_guessed;
	u8 doubt, end;
	u32 row;

	if (!scratch)
		return END_BROKEN;
	walk = &scratch->walk;
	row = find_mapping(scratch, unwind_find_address(&walk->frame));
	doubt = walk->doubt;
	rule = find_rule(scratch, row);

	/* exec() has taken away what the thread was running. */
	if (row == MAPPING_NONE && !scratch->record.header.user_frames)
		return END_NO_STACK;
	if (row >= MAPPINGS_KNOWN && scratch->record.header.user_frames)
		return walk->found_by == WALKER_FRAME_POINTER ? doubt : walk->doubt;
	if (!rule || walk->found_by == WALKER_FRAME_POINTER) {
		read_code(walk);
		is_sigreturn = code_is_sigreturn(MACHINE, walk->code[1], walk->code[2]) ||
			       (walk->frame.is_exact && code_was_sigreturn(MACHINE, walk->code[0]));
		if (walk->found_by == WALKER_FRAME_POINTER && !is_sigreturn &&
		    (!is_return_address(scratch, row) || has_called_another(walk)))
			return doubt;
	}
	take_pc(scratch);
	if (row < MAPPINGS_KNOWN)
		add_file(scratch, row);
	if (!rule && !is_sigreturn)
		return step_without_rule(scratch);
	walk->found_by = WALKER_EH_FRAME;
	scratch->record.header.walked |= WALKER_EH_FRAME;
	is_guessed = MACHINE == UNWIND_ARM64 && walk->frame.sp_is_lost &&
		     !find_stack_pointer(scratch);
	if (!rule)
		return code_step_over_signal(MACHINE, &walk->frame, memory);
	end = unwind_step(MACHINE, &walk->frame, rule, memory);
	return !end && is_guessed && !is_after_call(walk->frame.pc) ? END_BROKEN : end;
}

/* --- the walk --- */

/* Takes the frame that the walk is at, and steps to its caller. Returns END_UNKNOWN if there is
 * one, FRAME_IS_ODD, or why the stack ends. Global, see move_window(). */
__noinline int take_frame(void)
{
	struct scratch *scratch = scratch_here();

	if (!scratch)
		return END_BROKEN;
	if (settings.walkers & WALKER_EH_FRAME)
		return take_plain_frame(scratch);
	take_pc(scratch);
	scratch->walk.found_by = WALKER_FRAME_POINTER;
	return step_by_frame_pointer(scratch);
}

/* Takes frames until there are no more, or no more wanted. Returns why. Neither of the two calls
 * the other: their stacks of BPF would add up to more than Linux before 6.13 allows. */
static __always_inline u8 take_frames(void)
{
	for (u32 i = 0; i < STACK_MAX_FRAMES && i < settings.max_stack; i++) {
		u8 end = take_frame();

		if (end == FRAME_IS_ODD)
			end = take_any_frame();
		if (end != END_UNKNOWN)
			return end;
	}
	return END_TOO_DEEP;
}

/* Walks up from walk.frame into the record. */
static __always_inline void walk_user_stack(struct scratch *scratch)
{
	struct sample_header *header = &scratch->record.header;
	struct user_walk *walk = &scratch->walk;
	bool has_tables = settings.walkers & WALKER_EH_FRAME;

	close_window(walk);
	walk->is_done = 1;
	walk->found_by = 0;
	walk->doubt = END_UNKNOWN;
	if (has_tables)
		begin_mappings(scratch);
	header->end = take_frames();
	if (header->end == END_NO_STACK)
		return;
	if (!header->walked) /* the innermost frame alone */
		header->walked = has_tables ? WALKER_EH_FRAME : WALKER_FRAME_POINTER;
}

#endif
