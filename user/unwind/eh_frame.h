/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame information (.eh_frame, .debug_frame) as a list of rules by address. Pure.
 */
#ifndef UNWIND_EH_FRAME_H
#define UNWIND_EH_FRAME_H

#include "base/cursor.h"
#include "bpfprof/unwind_table.h"

enum cfi_machine { CFI_X86_64, CFI_AARCH64 };

struct cfi_section {
	struct bytes bytes;
	u64 address;	     /* virtual address of the first byte */
	u64 text_address;    /* base of DW_EH_PE_textrel */
	u64 data_address;    /* base of DW_EH_PE_datarel */
	bool is_debug_frame; /* .debug_frame's way of writing CIE pointers */
	bool swap;	     /* the file is of the other byte order */
	enum cfi_machine machine;
};

/* Takes one rule that holds from virtual address `start` on, up to the next one of the same
 * function. After the last rule of a function comes one of CFA_NONE at its end. Non-zero stops. */
typedef int cfi_take(void *context, u64 start, const struct unwind_rule *rule);

/* What was passed over. */
struct cfi_result {
	u64 functions;	 /* FDEs read */
	u64 unsupported; /* rules that no row can express (handed over as CFA_UNSUPPORTED) */
	u64 broken;	 /* FDEs passed over: CIE missing, unknown augmentation, cut instructions */
};

/*
 * Reads all functions in the order of the section (which is seldom that of addresses).
 *
 * Time and memory are linear in the section's bytes, whatever they are.
 * Returns 0, what `take` returned, or -EBADMSG (the section is cut in the middle of an entry: what
 * stands before it has been handed over).
 * Source: LSB 5.0 core, 10.6 (.eh_frame); DWARF 5, 6.4 (instructions), 7.24 (encoding).
 */
int cfi_read(const struct cfi_section *section, cfi_take *take, void *context,
	     struct cfi_result *ret_result);

#endif
