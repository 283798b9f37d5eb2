/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel text: where it lies, what its functions are called, its modules.
 */
#ifndef HOST_KERNEL_SYMBOLS_H
#define HOST_KERNEL_SYMBOLS_H

#include "binary/binary.h"
#include "event/event.h"

/*
 * Reads the text of a kallsyms file into symbols by virtual address, by perf's rules. Pure.
 * `module`: only symbols of this module ("[name]" without brackets), NULL: those of the kernel
 * proper. Returns 0, -ENODATA (no symbols), -EACCES (all addresses are zero: kptr_restrict),
 * -EBADMSG.
 */
int kernel_symbols_read(struct bytes text, const char *module, struct symbols *symbols);

/*
 * The kernel's text and modules as mappings, the way perf writes them: "[kernel.kallsyms]_text"
 * with the running kernel's build id, then modules, each with path or "[name]"; then kernel symbols
 * of BPF programs that are loaded. Returns 0, what the sink returned, or a negative errno with a
 * sentence (-EACCES: kptr_restrict).
 */
int kernel_mappings(struct event_sink *sink);

#endif
