/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a stack is made of: whose addresses, found by whom, and why there are no more.
 */
#ifndef EVENT_STACK_H
#define EVENT_STACK_H

#include "bpfprof/types.h"

#include <stdbool.h>

/* Whose address an address is; perf's cpumode. */
enum frame_space {
	SPACE_UNKNOWN, /* no mapping is looked for: the address stays a number */
	SPACE_KERNEL,
	SPACE_USER,
	SPACE_HYPERVISOR,
	SPACE_GUEST_KERNEL,
	SPACE_GUEST_USER,
};

static inline bool space_is_kernel(u8 space)
{
	return space == SPACE_KERNEL || space == SPACE_GUEST_KERNEL;
}

/* How a frame was found, where the frames of one stack differ in that. Append-only. */
enum frame_origin {
	ORIGIN_UNKNOWN, /* as the whole stack: see enum stack_walk */
	ORIGIN_FRAME_POINTER,
	ORIGIN_EH_FRAME,
	ORIGIN_LBR,
	ORIGIN_STITCHED,
	ORIGIN_LIKELY, /* stitched, and likely rather than certain: said wherever it is shown */
	ORIGIN_COUNT,
};

/* Whether a frame is what branch records tell of a CALL: the address behind it. */
static inline bool origin_is_call(u8 origin)
{
	return origin == ORIGIN_LBR || origin == ORIGIN_STITCHED || origin == ORIGIN_LIKELY;
}

/* Who found the frames of a user stack, or-ed. Append-only: stored in files (perfdata/), at most
 * five. */
enum stack_walk {
	WALK_FRAME_POINTER = 1,
	WALK_EH_FRAME = 2, /* tables made of call frame information */
	WALK_KERNEL = 4,   /* the kernel itself, by frame pointers */
	WALK_LBR = 8,	   /* the CPU's last branch records, alone or with what is or-ed */
};

/* Why the user stack ended. Append-only: stored in files (perfdata/), at most 15.
 * Their words are in event/stack_tally.c and export/stacks.c. */
enum stack_cut {
	CUT_UNKNOWN,	  /* not recorded */
	CUT_COMPLETE,	  /* the outermost frame was reached */
	CUT_NONE,	  /* there is no user stack: kernel thread, or not asked for */
	CUT_TOO_DEEP,	  /* more frames than --max-stack */
	CUT_UNREADABLE,	  /* stack memory was not resident */
	CUT_NO_TABLE,	  /* code without unwind table and without frame pointer */
	CUT_UNSUPPORTED,  /* an unwind rule we cannot follow */
	CUT_NOT_ANALYSED, /* process too new for its tables to be there */
	CUT_BROKEN,	  /* a frame pointer that does not point up the stack */
	CUT_OVERWRITTEN,  /* older calls than the CPU's last branch records hold */
	CUT_COPY_ENDS,	  /* the stack goes on above the bytes of it that were copied */
	CUT_NO_FILE,	  /* the binary is gone, or another one is in its place */
	CUT_32_BIT,	  /* code of 32 bits, for which no tables are made */
	CUT_NO_MAPPING,	  /* of what is mapped where the CPU was the recording says nothing */
};

/* What is known of a sample with a chain before it is looked at. */
struct chain_ahead {
	u64 key; /* its chain_key */
	u64 time_ns;
	u32 pid, tid; /* both 0: not known; told of LBR call stacks */
};

/* The space of an address that nothing else is known of. Both of our architectures give the kernel
 * the upper half. */
static inline enum frame_space address_space_of(u64 address)
{
	return address >> 63 ? SPACE_KERNEL : SPACE_USER;
}

#endif
