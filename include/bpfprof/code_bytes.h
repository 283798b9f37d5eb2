/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the bytes of code next to an address say of it. Pure.
 */
#ifndef BPFPROF_CODE_BYTES_H
#define BPFPROF_CODE_BYTES_H

#include "bpfprof/types.h"
#include "bpfprof/unwind_frame.h"

#include <stdbool.h>

/* The bytes are given as the little-endian word that they are: byte 0 is the lowest. */
#define CODE_BYTE(word, number) ((u8)((word) >> 8 * (number)))

/* Whether the bytes that stand `length` before the end of the word are `wanted` where `mask` is
 * set. */
static inline __attribute__((always_inline)) bool code_ends_with(u64 before, u32 length, u32 mask,
								 u32 wanted)
{
	return ((u32)(before >> 8 * (8 - length)) & mask) == wanted;
}

/*
 * Whether the word of code before an address ends with a call: E8 and a distance, or FF /2 with its
 * ModRM and SIB byte and displacement. Prefixes stand before it and do not matter. Written out, as
 * the verifier multiplies branches that depend on one another.
 * Source: Intel SDM, volume 2A, 2.1.5, tables 2-2 and 2-3.
 */
static inline __attribute__((always_inline)) bool x86_64_call_ends(u64 before)
{
	return code_ends_with(before, 5, 0xff, 0xe8) ||
	       code_ends_with(before, 2, 0xf8ff, 0xd0ff) || /* *%rax … */
	       code_ends_with(before, 2, 0xfcff, 0x10ff) || /* *(%rax) …, not rsp and rbp */
	       code_ends_with(before, 2, 0xfeff, 0x16ff) ||
	       code_ends_with(before, 6, 0xffff, 0x15ff) || /* *n(%rip) */
	       code_ends_with(before, 3, 0xfcff, 0x50ff) || /* *n(%rax) …, n of one byte, not rsp */
	       code_ends_with(before, 3, 0xffff, 0x55ff) ||
	       code_ends_with(before, 3, 0xfeff, 0x56ff) ||
	       code_ends_with(before, 6, 0xfcff, 0x90ff) || /* the same, n of four bytes */
	       code_ends_with(before, 6, 0xffff, 0x95ff) ||
	       code_ends_with(before, 6, 0xfeff, 0x96ff) ||
	       code_ends_with(before, 4, 0xffff, 0x54ff) || /* *n(%rax,%rax) …, n of one byte */
	       code_ends_with(before, 7, 0xffff, 0x94ff) || /* four bytes */
	       code_ends_with(before, 7, 0x07ffff, 0x0514ff) || /* *n(,%rax) … */
	       code_ends_with(before, 3, 0x04ffff, 0x0014ff) || /* *(%rax,%rax) …, not rbp */
	       code_ends_with(before, 3, 0x07ffff, 0x0414ff) ||
	       code_ends_with(before, 3, 0x06ffff, 0x0614ff);
}

/* Source: Arm Architecture Reference Manual, C6.2, BL, BLR, BLRAA/BLRAB and their Z forms. */
static inline __attribute__((always_inline)) bool arm64_call_ends(u64 before)
{
	u32 instruction = (u32)(before >> 32);

	return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfefff000) == 0xd63f0000;
}

/* Whether the 8 bytes before an address end with a call: whether it can be a return address. */
static inline __attribute__((always_inline)) bool code_call_ends(enum unwind_machine machine,
								 u64 before)
{
	return machine == UNWIND_X86_64 ? x86_64_call_ends(before) : arm64_call_ends(before);
}

/* Where the call that ends right before `pc` goes to; 0 if a register or memory says. `before` is
 * the word of code before it, known to end with a call. */
static inline __attribute__((always_inline)) u64 code_call_target(enum unwind_machine machine,
								  u64 before, u64 pc)
{
	u32 last = (u32)(before >> 32);

	if (machine == UNWIND_ARM64)
		return (last & 0xfc000000) == 0x94000000
			       ? pc - 4 + (u64)(s64)((s32)(last << 6) >> 4)
			       : 0;
	return CODE_BYTE(before, 3) == 0xe8 ? pc + (u64)(s64)(s32)last : 0;
}

/* Whether the code at an address is a stub that jumps to where a word of memory says, behind an
 * endbr64 or not: what lies in .plt.sec and .plt.got of x86-64. */
static inline __attribute__((always_inline)) bool code_is_jump_stub(u64 at)
{
	if ((u32)at == 0xfa1e0ff3)
		at >>= 32;
	if ((u8)at == 0xf2) /* bnd */
		at >>= 8;
	return (at & 0xffff) == 0x25ff;
}

/* Whether the code at an address looks like a function's first instruction: endbr64, push %rbp or
 * sub $n, %rsp; paciasp, bti c or stp x29, x30, [sp, #-n]!. */
static inline __attribute__((always_inline)) bool code_is_entry(enum unwind_machine machine, u64 at)
{
	u32 first = (u32)at;

	if (machine == UNWIND_ARM64)
		return first == 0xd503233f || first == 0xd503245f ||
		       (first & 0xffc07fff) == 0xa9807bfd;
	return first == 0xfa1e0ff3 || (first & 0xff) == 0x55 || (first & 0xffffff) == 0xec8348;
}

/*
 * Whether the code at an address is the system call rt_sigreturn: what a signal handler returns to.
 * Arm's vDSO has no call frame information for it, nor has what musl and Go bring.
 * Source: `mov $15, %rax; syscall` and `mov x8, #139; svc #0`.
 */
static inline __attribute__((always_inline)) bool code_is_sigreturn(enum unwind_machine machine,
								    u64 first, u64 second)
{
	if (machine == UNWIND_ARM64)
		return first == 0xd4000001d2801168ULL;
	return first == 0x0f0000000fc0c748ULL && CODE_BYTE(second, 0) == 0x05;
}

/* Whether the code before an address is that: where a thread is on its way back in the kernel. What
 * follows it is anything. */
static inline __attribute__((always_inline)) bool code_was_sigreturn(enum unwind_machine machine,
								     u64 before)
{
	return before == (machine == UNWIND_ARM64 ? 0xd4000001d2801168ULL : 0x050f0000000fc0c7ULL);
}

/* Whether two instructions follow on one another in a stub by which Arm's programs call what is in
 * other files: [bti c, or stp x16, x30, [sp, #-16]! in the first one,] adrp x16, n; ldr x17, [x16,
 * #n]; add x16, x16, #n; br x17. */
static inline __attribute__((always_inline)) bool arm64_are_of_stub(u32 first, u32 second)
{
	bool is_adrp = (second & 0x9f00001f) == 0x90000010;
	bool is_load = (second & 0xffc003ff) == 0xf9400211;
	bool is_add = (second & 0xffc003ff) == 0x91000210;

	return (is_adrp && (first == 0xd503245f || first == 0xa9bf7bf0)) ||
	       (is_load && (first & 0x9f00001f) == 0x90000010) ||
	       (is_add && (first & 0xffc003ff) == 0xf9400211) ||
	       (second == 0xd61f0220 && (first & 0xffc003ff) == 0x91000210);
}

/* Whether the code around an address is such a stub, which the linker writes without call frame
 * information. Of x86-64 there is some. */
static inline __attribute__((always_inline)) bool code_is_stub(enum unwind_machine machine,
							       u64 before, u64 at)
{
	return machine == UNWIND_ARM64 &&
	       (arm64_are_of_stub(before >> 32, (u32)at) || arm64_are_of_stub((u32)at, at >> 32));
}

/* So many bytes before an instruction of a stub the one stands that puts the link register on the
 * stack, if it is the first stub, by which the others are bound; 0 for that one itself. */
static inline __attribute__((always_inline)) u32 code_stub_push_bytes(u64 at)
{
	u32 instruction = (u32)at;

	if ((instruction & 0x9f00001f) == 0x90000010)
		return 4;
	if ((instruction & 0xffc003ff) == 0xf9400211)
		return 8;
	if ((instruction & 0xffc003ff) == 0x91000210)
		return 12;
	return instruction == 0xd61f0220 ? 16 : 0;
}

/* Whether that is it: stp x16, x30, [sp, #-16]! */
static inline __attribute__((always_inline)) bool code_is_stub_push(u32 instruction)
{
	return instruction == 0xa9bf7bf0;
}

#endif
