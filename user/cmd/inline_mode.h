/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose inlined functions are shown.
 */
#ifndef CMD_INLINE_MODE_H
#define CMD_INLINE_MODE_H

enum inline_mode {
	INLINED_IN_COPIED_STACKS, /* of perf record --call-graph dwarf, as in perf */
	INLINED_ALWAYS,
	INLINED_NEVER,
};

#endif
