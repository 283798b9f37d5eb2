/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel text: where it lies, what its functions are called, its modules.
 */
#ifndef HOST_KERNEL_SYMBOLS_H
#define HOST_KERNEL_SYMBOLS_H

#include "binary/binary.h"
#include "event/event.h"

enum { MODULE_NAME_BYTES = 64 }; /* the kernel's are 55 at most; "[name]" fits, too */

/*
 * Reads the text of a kallsyms file into symbols by virtual address, by perf's rules: the kernel's
 * and its modules' (whose ranges do not overlap), but not those of BPF programs and trampolines,
 * which have no range there. Finishes the table. Pure.
 * Returns 0, -ENODATA (no symbols), -EACCES (all addresses are zero: kptr_restrict).
 */
int kernel_symbols_read(struct bytes text, struct symbols *symbols);

/* The address of a symbol of the kernel proper in the text of a kallsyms file. Pure. Returns 0 or
 * -ENOENT. */
int kernel_symbol_address(struct bytes text, const char *name, u64 *ret_address);

/* One line of /proc/modules. */
struct kernel_module {
	char name[MODULE_NAME_BYTES]; /* "nf_tables" */
	u64 start, bytes;
	bool is_live; /* neither is its start running yet, nor is it about to go */
	/* Of its folder in /sys/module, another one each time it is loaded; 0: not asked. */
	u64 instance;
	u64 since_ns; /* it has been there at least since then; 0: always */
};

/* Steps over the next line of the text of /proc/modules; instance and since_ns are 0. Pure. Returns
 * 1, 0 at the end, -EBADMSG for a line that is not one (it has been stepped over). */
int kernel_module_next(struct bytes *text, struct kernel_module *ret_module);

/* How long the kernel's code is, in the text of /proc/iomem. Pure. Returns 0 or -ENOENT (not there,
 * or hidden from this user). */
int kernel_code_bytes(struct bytes text, u64 *ret_bytes);

enum kernel_parts { KERNEL_AND_MODULES, KERNEL_MODULES_AND_BPF };

/*
 * The kernel's text and modules as mappings, the way perf writes them: "[kernel.kallsyms]_text"
 * with the running kernel's build id, then modules, each with path or "[name]"; then, if they are
 * among `parts`, kernel symbols of the BPF programs and trampolines that are loaded: they cost
 * reading all of kallsyms, 45 ms. Returns 0, what the sink returned, or a negative errno with a
 * sentence (-EACCES: kptr_restrict).
 */
int kernel_mappings(enum kernel_parts parts, struct event_sink *sink);

/* Modules as mappings, as above. Returns as above. */
int kernel_module_mappings(const struct kernel_module *modules, size_t count,
			   struct event_sink *sink);

#endif
