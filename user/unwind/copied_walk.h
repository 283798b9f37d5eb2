/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks up a stack of which there is a copy: where the programs in the kernel had to stop, or where
 * perf has copied it with the registers. By the same rules as the programs. Pure.
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

/* The code around an address: the 8 bytes before it, those from it on, and the next 8. */
struct code_around {
	u64 before, at, behind;
};

/* What a walk asks about the process, as it was when the stack was copied. */
struct copied_walk_world {
	enum unwind_machine machine;
	/* Fills `ret_place` if it says CODE_READY. */
	enum code_state (*find_code)(void *context, u64 address, struct code_place *ret_place);
	/* Reads the code around an address; false if that cannot be had. NULL: it never can, and
	 * nothing is looked for that takes it. */
	bool (*read_code)(void *context, u64 address, struct code_around *ret_code);
	void *context;
	unwind_read_chunk *read_chunk;
	void *chunks; /* its context */
};

/* A piece of a stack. */
struct copied_stack {
	u64 start; /* address of the first byte */
	u64 length;
	const u8 *bytes; /* borrowed */
	u64 first_sp;	 /* that the kernel started the process with; 0: not known */
};

struct copied_walk {
	struct copied_stack stack;
	struct unwind_frame frame; /* the next one to take */
	u8 found_by;	  /* enum walkers: how that was found; 0: by neither, or see stack_rest */
	u8 doubt;	  /* enum user_stack_end: why the stack ends if it is none */
	u8 walked;	  /* enum walkers, or-ed */
	u8 state;	  /* enum code_state of the last code that was looked for */
	bool is_missed;	  /* what lies above the copy would have been needed */
	bool takes_calls; /* of a caller where its call is, not where that returns to */
	u32 count, most;
	u64 *frames; /* borrowed; room for `most` */
};

/* A walk that goes on from a rest, which is borrowed; of its own frames there is none yet. */
struct copied_walk copied_walk_begin(const struct stack_rest *rest, u64 *frames, u32 most);

/* What copied_walk_go_on() says if the next frame's table is being made: it may be called again. */
enum { WALK_AWAITS = 255 };

/* Walks on as far as it can. Returns why the stack ends (enum user_stack_end; END_NOT_ANALYSED also
 * where the copy ends), or WALK_AWAITS. */
u8 copied_walk_go_on(struct copied_walk *walk, const struct copied_walk_world *world);

#endif
