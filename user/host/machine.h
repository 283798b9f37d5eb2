/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts about this machine that a recording keeps: names, processors, memory.
 */
#ifndef HOST_MACHINE_H
#define HOST_MACHINE_H

#include "bpfprof/types.h"

struct cpus_watch;

struct cpu_place {
	u32 core_id, socket_id, die_id;
};

/* Strings are owned by the struct; "" where the machine does not say. */
struct machine {
	char *hostname, *os_release, *arch;
	char *cpu_description; /* x86: model name */
	char *cpu_id;	       /* "vendor,family,model,stepping" */
	u32 cpus_online, cpus_available;
	u64 memory_kb;
	struct cpu_place *cpus;				 /* cpus_available of them */
	char **package_lists, **core_lists, **die_lists; /* cpu lists, each distinct one once */
	u32 package_count, core_count, die_count;
};

/* Reads what is there; what is not stays empty. Free with machine_release(). */
void machine_read(struct machine *ret_machine);
/* Reads anew what may have changed since `machine` was read; it may be empty. Processors are looked
 * at only if `watch` says so, which is asked here alone: some ten files for each of them. */
void machine_renew(struct machine *machine, struct cpus_watch *watch);
/* Frees the contents. */
void machine_release(struct machine *machine);

#endif
