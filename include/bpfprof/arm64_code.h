/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How code of Arm that says nothing of itself returns. Pure.
 *
 * The instructions from a pc on are followed to the `ret`: past conditional jumps, behind the other
 * ones. Whatever way a function takes, at its end the stack pointer, x29 and the link register are
 * its caller's; so one way tells what is still to be done for that, and where it is done from.
 * Every instruction that might do it otherwise, or that is not known, ends the search in vain.
 * Source: Arm Architecture Reference Manual, C4.1 "A64 instruction set encoding"; AAPCS64, 6.
 */
#ifndef BPFPROF_ARM64_CODE_H
#define BPFPROF_ARM64_CODE_H

#include "bpfprof/types.h"

#include <stdbool.h>

enum { ARM64_WAY_INSTRUCTIONS = 64 };

enum arm64_way_end {
	ARM64_WAY_UNKNOWN,
	ARM64_WAY_BARE,	  /* the link register and x29 are the caller's already */
	ARM64_WAY_RECORD, /* both are loaded, from the record that x29 points to */
};

enum arm64_way_link { ARM64_LINK_KEPT, ARM64_LINK_LOST, ARM64_LINK_LOADED };

/* Zero, but for `pc`, at the start. */
struct arm64_way {
	u64 pc;	    /* of the next instruction */
	s64 sp;	    /* bytes above the stack pointer at the start, or above x29 if `is_from_fp` */
	s64 record; /* where both were loaded from, likewise */
	u8 link;    /* enum arm64_way_link */
	u8 end;	    /* enum arm64_way_end */
	u8 is_from_fp;
	u8 reserved[5];
};

/* The bits of an instruction that are set in `mask`, compared. */
#define ARM64_IS(instruction, mask, bits) (((instruction) & (mask)) == (bits))

/* Whether the register that stands at a bit is x29 or x30. */
static inline __attribute__((always_inline)) bool arm64_names_link(u32 instruction, u32 bit)
{
	return (instruction >> bit & 31) - 29 < 2;
}

/* Whether a load or store leaves sp, x29 and x30 alone. Of the forms with the stack pointer as base
 * those that are in common use and do not change it: unsigned offset, unscaled offset, pair with
 * offset. Stores of x29 and x30 are not wanted either: what follows them is no way out. */
static inline __attribute__((always_inline)) bool arm64_load_keeps(u32 i)
{
	bool is_vector = i & 1U << 26, is_pair = ARM64_IS(i, 0x3a000000, 0x28000000);
	bool is_literal = ARM64_IS(i, 0x3b000000, 0x18000000);
	bool is_exclusive = ARM64_IS(i, 0x3f000000, 0x08000000);
	bool is_plain = ARM64_IS(i, 0x3b000000, 0x39000000) ||
			ARM64_IS(i, 0x3b200c00, 0x38000000) || ARM64_IS(i, 0x3b800000, 0x29000000);

	if (!is_vector && arm64_names_link(i, 0))
		return false;
	if (is_literal)
		return true;
	if (arm64_names_link(i, 5) || ((i >> 5 & 31) == 31 && !is_plain))
		return false;
	/* x29 as the second of two, or as the result of an exclusive store; casp names one of two.
	 */
	if (!is_vector && (is_pair || is_exclusive) && arm64_names_link(i, 10))
		return false;
	if (is_exclusive && ((i >> 16 & 31) - 28 < 3 || (i & 31) == 28))
		return false;
	/* 64 bytes at once, into eight registers; copies of memory, tags. */
	return !ARM64_IS(i, 0xffe08c00, 0xf8208000) &&
	       (!ARM64_IS(i, 0x3b000000, 0x19000000) || ARM64_IS(i, 0x3b200c00, 0x19000000));
}

/* Whether a system instruction, or one that jumps only if something holds, leaves them alone. */
static inline __attribute__((always_inline)) bool arm64_branch_keeps(u32 i)
{
	bool is_conditional = ARM64_IS(i, 0xff000000, 0x54000000) ||
			      ARM64_IS(i, 0x7c000000, 0x34000000);
	bool is_system_call = ARM64_IS(i, 0xffe0001f, 0xd4000001);
	bool is_system = ARM64_IS(i, 0xffc00000, 0xd5000000) && !arm64_names_link(i, 0);

	return is_conditional || is_system_call || is_system;
}

/* Whether an instruction leaves sp, x29 and x30 alone and goes on with the next. Register 31 is the
 * stack pointer in some that compute and do not set flags, elsewhere it is zero. */
static inline __attribute__((always_inline)) bool arm64_keeps(u32 i)
{
	bool names_sp = (i & 31) == 31;
	bool is_or = ARM64_IS(i, 0x7f800000, 0x32000000); /* by immediate */
	bool sets_flags = i & 1U << 29 && !is_or;
	bool is_to_general = ARM64_IS(i, 0x5f000000, 0x1e000000) ||
			     ARM64_IS(i, 0x9fe08400, 0x0e000400);

	if (ARM64_IS(i, 0x1c000000, 0x14000000))
		return arm64_branch_keeps(i);
	if (ARM64_IS(i, 0x0a000000, 0x08000000))
		return arm64_load_keeps(i);
	if (ARM64_IS(i, 0x0e000000, 0x0e000000)) /* vectors and floating point */
		return !is_to_general || !arm64_names_link(i, 0);
	/* by immediate, by register; what is left are scalable vectors and the unknown */
	if (!ARM64_IS(i, 0x1c000000, 0x10000000) && !ARM64_IS(i, 0x0e000000, 0x0a000000))
		return false;
	return !arm64_names_link(i, 0) && (!names_sp || sets_flags);
}

/* How far an instruction that does nothing else to sp, x29 and x30 moves the stack pointer up:
 * add sp, sp, #n; ldp of two other registers and ldr of one with [sp], #n. 0 if it is none. */
static inline __attribute__((always_inline)) s64 arm64_pops(u32 i)
{
	s64 pair = (s64)((s32)(i << 10) >> 25) * 8, one = (s32)(i << 11) >> 23;
	bool is_pair = ARM64_IS(i, 0xffc003e0, 0xa8c003e0) && !arm64_names_link(i, 10) &&
		       !arm64_names_link(i, 0);

	if (ARM64_IS(i, 0xff8003ff, 0x910003ff))
		return (s64)(i >> 10 & 0xfff) << (i & 1U << 22 ? 12 : 0);
	if (is_pair || ARM64_IS(i, 0xffc003e0, 0x6cc003e0)) /* of x, of d registers */
		return pair;
	return ARM64_IS(i, 0xffe00fe0, 0xf84007e0) && !arm64_names_link(i, 0) ? one : 0;
}

/* Follows an instruction that sets the stack pointer from x29, add or sub; false if it cannot be
 * told any more where that was. */
static inline __attribute__((always_inline)) bool arm64_follow_fp(struct arm64_way *way, u32 i)
{
	s64 distance = (s64)(i >> 10 & 0xfff) << (i & 1U << 22 ? 12 : 0);

	way->is_from_fp = 1;
	way->sp = i & 1U << 30 ? -distance : distance;
	way->pc += sizeof(i);
	return way->link != ARM64_LINK_LOADED;
}

/* Follows ldp x29, x30, [sp], #n or [sp, #n]. x29 must have pointed to where they are. */
static inline __attribute__((always_inline)) bool arm64_follow_load(struct arm64_way *way, u32 i)
{
	s64 distance = (s64)((s32)(i << 10) >> 25) * 8;
	bool is_after = ARM64_IS(i, 0xffc00000, 0xa8c00000);

	if (way->link == ARM64_LINK_LOADED)
		return false;
	way->record = way->sp + (is_after ? 0 : distance);
	way->sp += is_after ? distance : 0;
	way->link = ARM64_LINK_LOADED;
	way->pc += sizeof(i);
	return !way->is_from_fp || !way->record;
}

/* The way has come to the `ret`. Nothing is left below the stack pointer that is still wanted. */
static inline __attribute__((always_inline)) void arm64_way_returns(struct arm64_way *way)
{
	if (way->link == ARM64_LINK_LOADED && way->sp - way->record >= 16)
		way->end = ARM64_WAY_RECORD;
	if (way->link == ARM64_LINK_KEPT && !way->is_from_fp && way->sp >= 0)
		way->end = ARM64_WAY_BARE;
}

/*
 * Follows the instruction at way->pc. Returns whether the way goes on; if not, way->end says where
 * it ended:
 *
 * ARM64_WAY_BARE    the caller's stack pointer is way->sp bytes above the one at the start, its pc
 *                   is in the link register, its x29 in x29
 * ARM64_WAY_RECORD  it is way->sp - way->record bytes above the record of pc and x29
 */
static inline __attribute__((always_inline)) bool arm64_follow(struct arm64_way *way, u32 i)
{
	s64 popped = arm64_pops(i);

	if (ARM64_IS(i, 0xfffffbff, 0xd65f0bff) || i == 0xd65f03c0) { /* ret, retaa, retab */
		arm64_way_returns(way);
		return false;
	}
	if (ARM64_IS(i, 0xfc000000, 0x14000000)) {
		way->pc += (u64)((s64)((s32)(i << 6) >> 4));
		return true;
	}
	if (ARM64_IS(i, 0xbf8003ff, 0x910003bf))
		return arm64_follow_fp(way, i);
	if (ARM64_IS(i, 0xffc07fff, 0xa8c07bfd) || ARM64_IS(i, 0xffc07fff, 0xa9407bfd))
		return arm64_follow_load(way, i);
	if (ARM64_IS(i, 0xfc000000, 0x94000000) || ARM64_IS(i, 0xfefff000, 0xd63f0000)) {
		way->pc += sizeof(
			i); /* bl and blr; a call when all was loaded is none that returns */
		if (way->link == ARM64_LINK_LOADED)
			return false;
		way->link = ARM64_LINK_LOST;
		return true;
	}
	way->pc += sizeof(i);
	way->sp += popped;
	return popped > 0 || arm64_keeps(i);
}

#endif
