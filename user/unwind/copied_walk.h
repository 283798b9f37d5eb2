/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks on where the programs in the kernel had to stop: by the same rules, over bytes of the stack
 * that they have copied. Pure.
 */
#ifndef UNWIND_COPIED_WALK_H
#define UNWIND_COPIED_WALK_H

#include "bpfprof/event.h"
#include "bpfprof/unwind_find.h"

/* What is known of the code at an address. */
enum code_state {
	CODE_NOWHERE,	    /* nothing is mapped there, or nobody knows what */
	CODE_READY,	    /* there is a table */
	CODE_AWAITED,	    /* the table is being made */
	CODE_UNREAD,	    /* it will not be there soon */
	CODE_WITHOUT_TABLE, /* the file has none */
	CODE_ANONYMOUS,	    /* no file: made at run time */
};

struct code_place {
	u64 file_offset; /* of the address */
	struct unwind_place table;
};

/* What a walk asks about the process, as it was when the stack was copied. */
struct copied_walk_world {
	enum unwind_machine machine;
	/* Fills `ret_place` if it says CODE_READY. */
	enum code_state (*find_code)(void *context, u64 address, struct code_place *ret_place);
	void *context;
	unwind_read_chunk *read_chunk;
	void *chunks; /* its context */
};

struct copied_walk {
	const struct stack_rest *rest; /* borrowed */
	struct unwind_frame frame;     /* the next one to take */
	u8 found_by; /* enum walkers: how that was found; 0: see struct stack_rest */
	u8 walked;   /* enum walkers, or-ed */
	u32 count, most;
	u64 *frames; /* borrowed; room for `most` */
};

/* A walk that goes on from a rest; of its own frames there is none yet. */
struct copied_walk copied_walk_begin(const struct stack_rest *rest, u64 *frames, u32 most);

/* What copied_walk_go_on() says if the next frame's table is being made: it may be called again. */
enum { WALK_AWAITS = 255 };

/* Walks on as far as it can. Returns why the stack ends (enum user_stack_end; END_NOT_ANALYSED also
 * where the copy ends), or WALK_AWAITS. */
u8 copied_walk_go_on(struct copied_walk *walk, const struct copied_walk_world *world);

#endif
