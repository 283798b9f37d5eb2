/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables: how to get from a frame to its caller, by place in the file.
 *
 * A binary's table is one run of 32-bit words: its rules (4 words each), an index (a word for each
 * page of 4 KiB of file offset), the rows (a word each, ascending in each page). A row says where
 * in its page a rule begins to hold; a page that begins in the middle of a rule has a row of its
 * own for it, so that a look-up reads one page only.
 *
 * Tables lie behind one another in a space of words that is cut into chunks (an element of a map)
 * and segments (a map); anything but a rule may lie across the edge of two chunks.
 *
 * Measured: 4.04 to 4.06 bytes a row, index included and rules not, over libc, libstdc++, perl,
 * python3, libcrypto, cc1 and libLLVM of Debian 12, with 134 to 652 rules each.
 */
#ifndef BPFPROF_UNWIND_TABLE_H
#define BPFPROF_UNWIND_TABLE_H

#include "bpfprof/types.h"

enum {
	UNWIND_PAGE_BITS = 12, /* of file offset */
	UNWIND_RULE_BITS = 20,
	UNWIND_RULE_MAX = (1 << UNWIND_RULE_BITS) - 1,

	UNWIND_RULE_WORDS = 4,
	UNWIND_CHUNK_WORDS = 1024,
	UNWIND_SEGMENT_CHUNKS = 256,
	UNWIND_SEGMENT_WORDS = UNWIND_SEGMENT_CHUNKS * UNWIND_CHUNK_WORDS,
	UNWIND_SEGMENT_BYTES = UNWIND_SEGMENT_WORDS * 4,
	UNWIND_SEGMENTS_MAX = 1024, /* 1 GiB */

	/* An index word: where the page's rows begin, in words from the table's first, and in the
	 * low bits how many they are. Of a page with more rows the last that fits says
	 * CFA_UNSUPPORTED; a table with more words cannot be held. */
	UNWIND_COUNT_BITS = 10,
	UNWIND_PAGE_ROWS_MAX = (1 << UNWIND_COUNT_BITS) - 1,
	UNWIND_TABLE_WORDS_MAX = 1 << (32 - UNWIND_COUNT_BITS),
};

/* Registers that a rule may name, by DWARF number; x86-64 has only the first 16. Source: psABI
 * AMD64, figure 3.36; DWARF for the Arm 64-bit architecture, 4.1. */
enum {
	UNWIND_REGISTERS = 32,
	X86_64_RBX = 3,
	X86_64_FP = 6,
	X86_64_SP = 7,
	ARM64_FP = 29,
	ARM64_LR = 30,
	ARM64_SP = 31,
};

/* Where the caller's stack pointer (the CFA) is. Append-only. */
enum cfa_kind {
	CFA_NONE,	 /* no call frame information holds here */
	CFA_END,	 /* the outermost frame: its return address is undefined */
	CFA_UNSUPPORTED, /* there is information, but no row can express it */
	CFA_REGISTER,	 /* register + offset */
	CFA_MEMORY,	 /* the word at (register + offset), plus `more` */
	CFA_PLT, /* register + offset + (8 if (pc & 15) >= more): lazy PLT stubs of x86-64 */
};

/* Where the caller's value of a register is. Append-only. */
enum saved_kind {
	SAVED_SAME,	   /* still in the register */
	SAVED_AT_CFA,	   /* the word at CFA + offset */
	SAVED_AT_SP,	   /* the word at this frame's stack pointer + offset (signal frames) */
	SAVED_AT_FP,	   /* the word at this frame's frame pointer + offset (realigned stacks) */
	SAVED_UNDEFINED,   /* lost */
	SAVED_IN_REGISTER, /* of the return address only: in the register with number pc_offset */
};

/* A rule's rbx_words: its value is lost. */
enum { UNWIND_RBX_LOST = 255 };

struct unwind_rule {
	u8 cfa_kind;	 /* enum cfa_kind */
	u8 cfa_register; /* DWARF number */
	u8 pc_kind;	 /* enum saved_kind, of the return address */
	u8 fp_kind;	 /* enum saved_kind, of the frame pointer */
	s32 cfa_offset;
	s16 pc_offset, fp_offset;
	s16 more;     /* see enum cfa_kind */
	u8 is_signal; /* the caller's pc was interrupted: it is no return address */
	/* x86-64: so many words below the CFA rbx was saved, 0: it was not. Code that aligns its
	 * stack by hand keeps its CFA there: the dynamic linker, where it binds a function late. */
	u8 rbx_words;
};
WIRE_SIZE(struct unwind_rule, 16);

typedef u32 unwind_row;

static inline unwind_row unwind_row_make(u32 page_offset, u32 rule)
{
	return page_offset << UNWIND_RULE_BITS | rule;
}

static inline u32 unwind_row_rule(unwind_row row)
{
	return row & UNWIND_RULE_MAX;
}

/* Where a table lies and what it covers. */
struct unwind_place {
	u32 first_word; /* a multiple of UNWIND_RULE_WORDS */
	u32 rule_count;
	u32 first_page; /* of file offset */
	u32 page_count;
};

/* --- what the BPF programs know of files --- */

/* A file as the kernel's mappings know it. The device is the kernel's number: major << 20 | minor.
 * The vDSO is device 0, inode UNWIND_VDSO_INODE. */
struct unwind_file_key {
	u64 inode;
	u32 device, generation;
};
WIRE_SIZE(struct unwind_file_key, 16);

enum { UNWIND_VDSO_INODE = 1, UNWIND_FILES_MAX = 8192 };

enum unwind_file_state {
	FILE_WANTED,   /* asked for by a RECORD_FILE_WANTED, not answered yet */
	FILE_READY,    /* `place` holds */
	FILE_NO_TABLE, /* it has no call frame information, or none that can be read */
	FILE_NO_ROOM,  /* --unwind-memory is used up: not read, like FILE_WANTED */
	FILE_GONE,     /* it could not be found, and will be asked for again later */
};

/* A value of the map `unwind_files`. The BPF programs insert a file as wanted when they first meet
 * it, and user space answers; they write last_used_ns, user space everything else. */
struct unwind_file {
	u32 state;	  /* enum unwind_file_state */
	u32 table;	  /* its number, which no other table has or had; 0: none */
	u64 last_used_ns; /* CLOCK_MONOTONIC; refreshed when a CPU looks it up anew */
	struct unwind_place place;
	u64 seal; /* unwind_seal() of a file that is ready */
};
WIRE_SIZE(struct unwind_file, 40);

/* A number that belongs to a table and its place: a row that is given to another file while it is
 * being read must not be taken for either, as what it leads to is remembered. */
static inline u64 unwind_seal(u32 table, const struct unwind_place *place)
{
	u64 seal = ((u64)table << 32 | place->first_word) * 0x9e3779b97f4a7c15ULL;

	seal = (seal ^ seal >> 32 ^ ((u64)place->rule_count << 32 | place->first_page)) *
	       0xd6e8feb86659fd93ULL;
	return (seal ^ seal >> 29 ^ place->page_count) * 0xa0761d6478bd642fULL;
}

/* What the BPF programs remember of tables, on each CPU: half the frames of a stack were looked up
 * a moment ago, and then a line of memory is read rather than half a dozen. */
enum { UNWIND_RULES_KNOWN_BITS = 11, UNWIND_RULES_KNOWN = 1 << UNWIND_RULES_KNOWN_BITS };

struct known_rule {
	u64 offset; /* in the file */
	u32 table;  /* see struct unwind_file */
	u32 reserved;
	struct unwind_rule rule; /* CFA_NONE: none holds there */
};
WIRE_SIZE(struct known_rule, 32);

#endif
