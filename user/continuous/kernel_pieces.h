/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the kernel's code is: its text, its modules, BPF programs; and which of them the samples of
 * the open window lie in. Private to the folder.
 */
#ifndef CONTINUOUS_KERNEL_PIECES_H
#define CONTINUOUS_KERNEL_PIECES_H

#include "base/idmap.h"
#include "continuous/seen_files.h"

struct kernel_piece {
	u64 time_ns, gone_ns; /* gone_ns: 0: it is there */
	u64 start, end, file_offset;
	u64 told; /* where it is said to start */
	u32 file;
	u16 type; /* of symbols: PERF_RECORD_KSYMBOL_TYPE_* */
	bool is_symbol;
	bool is_needed;
};

/* A zeroed one is valid and empty. */
struct kernel_pieces {
	VEC(struct kernel_piece) rows;
	struct idmap looked_up; /* addresses of this window: row + 1 where they were last */
};

/* The kernel's text, or a module. */
void kernel_pieces_map(struct kernel_pieces *pieces, struct seen_files *files,
		       const struct mapping *mapping);
/* A symbol came; or it went, or the module that began there. */
void kernel_pieces_symbol(struct kernel_pieces *pieces, struct seen_files *files,
			  const struct kernel_symbol *symbol);
/* Marks what held an address of a sample at that time as needed. Returns the address as it is told:
 * by that alone it has the names of that time, or none if it is not known who was there. */
u64 kernel_pieces_need(struct kernel_pieces *pieces, u64 address, u64 time_ns);
/* The window is over: nothing is needed, what went is forgotten. */
void kernel_pieces_turn(struct kernel_pieces *pieces);
/* Frees; empty again. */
void kernel_pieces_release(struct kernel_pieces *pieces);

#endif
