/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this process takes of memory.
 */
#ifndef HOST_OWN_MEMORY_H
#define HOST_OWN_MEMORY_H

#include "bpfprof/types.h"

/* Resident, as top shows it. 0: cannot be read. */
u64 own_resident_bytes(void);
/* What the kernel holds for BPF maps that are open here. Reads a text of each descriptor. */
u64 own_bpf_bytes(void);
/* The number in such a text, proc(5)'s /proc/PID/fdinfo/FD, of a BPF map; 0: it is none. Pure. */
u64 bpf_map_bytes(const char *fdinfo);

#endif
