/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a kernel's names that --kallsyms and --vmlinux give.
 */
#ifndef CMD_KERNEL_FILES_H
#define CMD_KERNEL_FILES_H

#include "symbolize/symbolize.h"

/* Whether they are there, and begin as such files do; empty ones, as /dev/null, have no names.
 * Returns 0, or a negative errno with a sentence.
 */
int kernel_files_check(const struct symbolize_settings *settings);

#endif
