/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of a kallsyms file, one by one. Private to host/.
 */
#ifndef HOST_KERNEL_LINES_H
#define HOST_KERNEL_LINES_H

#include "base/cursor.h"
#include "bpfprof/types.h"

enum { KERNEL_NAME_BYTES = 513, KERNEL_MODULE_BYTES = 64 }; /* KSYM_NAME_LEN, MODULE_NAME_LEN */

struct kernel_line {
	u64 address;
	char type; /* as of nm(1) */
	char name[KERNEL_NAME_BYTES];
	char module[KERNEL_MODULE_BYTES]; /* "[name]", "" for the kernel proper */
};

/* Steps over the next line of a kallsyms text (and those before it that are not one). Pure. Returns
 * false at the end. */
bool kernel_line_next(struct bytes *text, struct kernel_line *ret_line);

#endif
