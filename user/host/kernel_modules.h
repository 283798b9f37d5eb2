/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The modules of the running kernel, and which of them came and went between two looks. The kernel
 * tells nobody where code of modules lies: it has to be looked for.
 */
#ifndef HOST_KERNEL_MODULES_H
#define HOST_KERNEL_MODULES_H

#include "base/vec.h"
#include "host/kernel_symbols.h"

/* Zeroed it is empty. */
struct kernel_modules {
	VEC(struct kernel_module) rows; /* all have an address and a length */
};

/* Reads the text of /proc/modules, without those whose address is hidden. Pure. Release it. */
void kernel_modules_read(struct bytes text, struct kernel_modules *ret_modules);
/* Those that are loaded, with their instances. Returns 0 or a negative errno (-ENOENT: a kernel
 * without modules); release them. */
int kernel_modules_here(struct kernel_modules *ret_modules);
/* Frees; empty again. */
void kernel_modules_release(struct kernel_modules *modules);
/* Of a module that is loaded, as in struct kernel_module; 0 if it is not. */
u64 kernel_module_instance(const char *name);

/* Both empty if zeroed; release both. */
struct module_changes {
	struct kernel_modules gone, came;
};

/* When modules were listed, CLOCK_MONOTONIC. */
struct module_times {
	u64 before_ns; /* the list of before was true then */
	u64 now_ns;    /* and the list of now is by then */
};

/*
 * What differs between two lists. One that came counts when it is live: one whose start fails goes
 * without a word. It is there since `before_ns`, or since `now_ns` if the place was another one's
 * before: in between nobody knows whose it was. Pure.
 */
void kernel_modules_compare(const struct kernel_modules *before, const struct kernel_modules *now,
			    struct module_times times, struct module_changes *ret_changes);
/* Whether some are on their way: no event tells when they have got there. */
bool kernel_modules_are_moving(const struct kernel_modules *modules);

#endif
