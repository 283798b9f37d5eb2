/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of the user's stack, and bytes of its code.
 */
#ifndef USER_MEMORY_BPF_H
#define USER_MEMORY_BPF_H

#include "maps.bpf.h"

enum {
	WINDOW_BYTES = WINDOW_WORDS * sizeof(u64),
	/* What a function has saved below its return address is read along with that. */
	WINDOW_BACK_BYTES = 7 * sizeof(u64),
};

/*
 * Gets the word at `address` into the window. Reading user memory costs 70 ns however little it is,
 * and callers' frames lie close together, so more is read than is needed now; not at the end of the
 * mapping, where that fails. Returns 0, or not if it cannot be read.
 *
 * Global, as every loop's body here: the verifier checks it once and on its own, and what calls it,
 * however often, has only a call.
 */
__noinline int move_window(u64 address)
{
	struct scratch *scratch = scratch_here();
	u64 back;

	if (!scratch)
		return 1;
	back = address - scratch->walk.frame.sp;
	if (back > WINDOW_BACK_BYTES)
		back = WINDOW_BACK_BYTES;
	scratch->walk.window = address - (back & ~7ULL);
	scratch->walk.window_bytes = WINDOW_BYTES;
	if (!bpf_probe_read_user(scratch->window, WINDOW_BYTES, (const void *)scratch->walk.window))
		return 0;
	scratch->walk.window = address;
	scratch->walk.window_bytes = sizeof(u64);
	return bpf_probe_read_user(scratch->window, sizeof(u64), (const void *)address) != 0;
}

/* Before the first word of a sample: what the window holds is of another one. */
static __always_inline void close_window(struct user_walk *walk)
{
	walk->window = 0;
	walk->window_bytes = 0;
}

/* An unwind_read_word; `context` is the scratch. */
static __always_inline bool read_stack_word(void *context, u64 address, u64 *ret_word)
{
	struct scratch *scratch = context;
	u64 distance = address - scratch->walk.window;

	/* Unsigned: an address below the window is far beyond it, too. */
	if (distance + sizeof(u64) > scratch->walk.window_bytes ||
	    distance + sizeof(u64) < distance || (distance & 7)) {
		if (move_window(address))
			return false;
		distance = address - scratch->walk.window;
	}
	*ret_word = scratch->window[distance / sizeof(u64) & (WINDOW_WORDS - 1)];
	return true;
}

/* The code around the pc, zeros if it cannot be read. */
static __always_inline void read_code(struct user_walk *walk)
{
	if (bpf_probe_read_user(walk->code, sizeof(walk->code),
				(const void *)walk->frame.pc - sizeof(u64)))
		__builtin_memset(walk->code, 0, sizeof(walk->code));
}

#endif
