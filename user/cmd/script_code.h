/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machine code of what was sampled, out of the files that ran. Private to script_*.c.
 */
#ifndef CMD_SCRIPT_CODE_H
#define CMD_SCRIPT_CODE_H

#include "binary/binary.h"
#include "cmd/script_printer.h"

enum { SCRIPT_CODE_BYTES = 16 << 10 }; /* perf 6.1 takes longer blocks for mistakes */

/* A piece of code. */
struct script_code {
	u64 address;
	size_t length; /* 0: its file is not there, or no x86 code */
	bool is_wide;  /* of 64 bits */
	u8 bytes[SCRIPT_CODE_BYTES];
};

/* Reads up to `wanted` bytes, at most SCRIPT_CODE_BYTES, from an address of a process on. Code of
 * the kernel is in no file. */
void script_code_read(struct script_printer *printer, u32 pid, u64 address, size_t wanted,
		      struct script_code *ret_code);
/* Appends the bytes of the instruction at an offset, as perf does without a disassembler. Returns
 * its step; length 0: it is none. */
struct code_step script_code_append(struct text *text, const struct script_code *code,
				    size_t offset);
/* Forgets files. */
void script_code_release(struct script_printer *printer);

#endif
