/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the kernel keeps the unwind rules of its own code.
 */
#ifndef HOST_KERNEL_RULES_H
#define HOST_KERNEL_RULES_H

#include "base/cursor.h"
#include "bpfprof/settings.h"

/* Where they are by the text of a kallsyms file; a count of 0 if it does not say, or hides
 * addresses. Pure. */
struct kernel_rules kernel_rules_find(struct bytes kallsyms);

/* The same for the running kernel. Reads all of kallsyms: 45 ms. */
struct kernel_rules kernel_rules_here(void);

#endif
