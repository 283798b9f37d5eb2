/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of a kallsyms file, one by one. Private to host/.
 */
#ifndef HOST_KERNEL_LINES_H
#define HOST_KERNEL_LINES_H

#include "host/kernel_symbols.h"

enum { KERNEL_NAME_BYTES = 513 }; /* KSYM_NAME_LEN and the NUL */

struct kernel_line {
	u64 address;
	char type; /* as of nm(1) */
	char name[KERNEL_NAME_BYTES];
	char module[MODULE_NAME_BYTES]; /* "[name]", "" for the kernel proper */
};

/* Steps over the next line of a kallsyms text (and those before it that are not one). Pure. Returns
 * false at the end. */
bool kernel_line_next(struct bytes *text, struct kernel_line *ret_line);

#endif
