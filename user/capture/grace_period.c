/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs on perf events run as RCU readers, in interrupts, NMIs and on CPUs that go offline, too.
 * So a grace period of the kernel is all it takes, and the programs need no lock, no barrier and no
 * word that says that they are busy. Two system calls wait for one.
 */
#include "capture/grace_period.h"

#include "base/fail.h"
#include "base/memory.h"
#include "bpfprof/types.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel keeps this up for who replaces maps in maps: after the update no program uses the old
 * one. It does not matter that no program uses these.
 * Source: maybe_wait_bpf_programs() of kernel/bpf/syscall.c. */
static int wait_by_map(void)
{
	CLEANUP(closep)
	int inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", sizeof(u32), sizeof(u32), 1, NULL);
	struct bpf_map_create_opts options = {.sz = sizeof(options), .inner_map_fd = (u32)inner};
	CLEANUP(closep) int outer = -1;
	u32 zero = 0;

	if (inner < 0)
		return inner;
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "outer", sizeof(u32), sizeof(u32), 1,
			       &options);
	return outer < 0 ? outer : bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
}

int grace_period_wait(void)
{
	int error;

	/* Refused where the kernel has CPUs without ticks (nohz_full). */
	if (!syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		return 0;
	error = wait_by_map();
	return error ? fail(error, "record without counting",
			    "cannot wait for the end of the BPF programs that run")
		     : 0;
}
