/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame information (.eh_frame, .debug_frame) as a list of rules by address. Pure.
 */
#ifndef UNWIND_EH_FRAME_H
#define UNWIND_EH_FRAME_H

#include "base/cursor.h"
#include "bpfprof/unwind_table.h"

/* A larger section is refused: the largest table that the kernel side holds needs half of it. */
enum { CFI_BYTES_MAX = 64 << 20 };

enum cfi_machine { CFI_X86_64, CFI_AARCH64 };

/* Of a file of our byte order: all others are refused. */
struct cfi_section {
	struct bytes bytes;
	u64 address;	     /* virtual address of the first byte */
	u64 data_address;    /* base of DW_EH_PE_datarel; 0: such pointers are not understood */
	bool is_debug_frame; /* .debug_frame's way of writing CIE pointers */
	enum cfi_machine machine;
};

/* Takes what is read, function by function. */
struct cfi_taker {
	/* A function of [start, end) whose rules follow. Returns 0, a positive number if they are
	 * not wanted, or a negative errno to stop. */
	int (*function)(void *context, u64 start, u64 end);
	/* A rule that holds from virtual address `start` on, up to the next one or the function's
	 * end. The first starts where the function does, and starts ascend. */
	void (*rule)(void *context, u64 start, const struct unwind_rule *rule);
	void *context;
	u64 *entry; /* before each function, where its entry is in the section; NULL: not asked */
};

/*
 * Why a place has a CFA_UNSUPPORTED rule: X(name, sentence).
 */
#define CFI_REASONS(X)                                                             \
	X(NO_CFA, "nothing says where the frame is")                               \
	X(CFA_EXPRESSION, "the frame is computed in a way that no rule has")       \
	X(CFA_RANGE, "the frame's offset or register number is too large")         \
	X(NO_PC, "nothing says where the return address is")                       \
	X(PC_PLACE, "the return address is neither on the stack nor in its place") \
	X(PC_RANGE, "the return address is too far from the frame")                \
	X(SP_DIFFERS, "the caller's stack pointer is not the frame's end")         \
	X(BROKEN, "behind an instruction that is cut or not known")                \
	X(TOO_MANY_RULES, "the binary has more different rules than are kept")

#define CFI_REASON_AS_ENUM(name, sentence) CFI_##name,
enum cfi_reason { CFI_SUPPORTED, CFI_REASONS(CFI_REASON_AS_ENUM) CFI_REASON_COUNT };

/* What was read, and what was passed over. */
struct cfi_result {
	u64 functions; /* FDEs read */
	u64 broken;    /* FDEs of which all or a part was passed over: CIE missing or not known, cut
			* or unknown instructions; a section that cannot be unpacked is one more */
	u64 unsupported[CFI_REASON_COUNT]; /* rules that no row can express, by the reason */
};

/*
 * Reads all functions in the order of the section (which is seldom that of addresses), and adds to
 * the result.
 *
 * Time and memory are linear in the section's bytes, whatever they are.
 * Returns 0, what `function` returned, -EFBIG (more than CFI_BYTES_MAX) or -EBADMSG (the section is
 * cut in the middle of an entry, or its entries overlap: what stands before has been handed over).
 * Source: LSB 5.0 core, 10.6 (.eh_frame); DWARF 5, 6.4 (instructions), 7.24 (encoding).
 */
int cfi_read(const struct cfi_section *section, const struct cfi_taker *taker,
	     struct cfi_result *result);

/* The same of the one function whose entry is at an offset that `taker->entry` was told. */
int cfi_read_entry(const struct cfi_section *section, u64 offset, const struct cfi_taker *taker,
		   struct cfi_result *result);

#endif
