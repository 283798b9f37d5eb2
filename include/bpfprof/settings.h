/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs are told before they are loaded. It lies in .rodata, so the verifier
 * removes the branches that are not taken.
 */
#ifndef BPFPROF_SETTINGS_H
#define BPFPROF_SETTINGS_H

#include "bpfprof/types.h"

enum {
	SOURCES_MAX = 16,	/* events sampled in one recording: one program each */
	STACK_MAX_FRAMES = 512, /* of the user and of the kernel stack */
};

/* Which samples of a clock are kept. Counted here rather than left to perf, so that every tick is
 * accounted for; events counted by hardware leave it to the hardware. */
enum clock_mode { CLOCK_ANY, CLOCK_USER_ONLY, CLOCK_KERNEL_ONLY };

/* Whose ids samples bring: of the tree that perf_event groups tasks by. That is cgroup v2 unless a
 * v1 tree of the controller is mounted. */
enum cgroup_tree { CGROUP_TREE_NONE, CGROUP_TREE_V2, CGROUP_TREE_V1 };

/* Keys of the map `followed` that user space writes: the number in the low half, the kind above it.
 * The kernel addresses that on_fork() writes are larger than any of them. */
#define FOLLOW_PROCESS 0ULL
#define FOLLOW_THREAD  (1ULL << 32)

/* Where the kernel has its own unwind rules (ORC), and which code they are for. Sorted addresses,
 * each relative to where it stands, and as many entries. */
struct kernel_rules {
	u64 addresses, entries; /* where they begin */
	u64 text_start, text_end;
	u64 trampolines[2]; /* they stand where a return address was; 0: none */
	u32 count;	    /* 0: they are not known */
	u32 reserved;
};
WIRE_SIZE(struct kernel_rules, 56);

struct program_settings {
	u64 cgroup_id; /* kernfs id, or 0: any */
	u64 ring_bytes;
	u64 ring_wake_bytes; /* wake the reader when so much waits in the ring */
	u64 hash_seed;	     /* of counted chains; secret */
	u32 count_slots;     /* of a CPU in a window, a power of two; 0: samples are not counted */
	u32 count_cpus;	     /* samples of the CPUs below are counted */
	u32 pid_namespace;   /* inode of the one whose pids are reported; 0: the initial one */
	u32 command_pid;     /* profiled from its exec; 0: none */
	u32 uid;	     /* if has_uid */
	u32 max_stack;	     /* 1 … STACK_MAX_FRAMES */
	u8 has_followed;     /* only who is in the map `followed` */
	u8 inherit;	     /* and what they start */
	u8 has_uid;
	u8 cgroup_is_v2; /* else of the v1 perf_event tree */
	u8 wants_idle;
	u8 wants_stacks;
	u8 walkers;	/* enum walkers (event.h), or-ed: which may be used for user stacks */
	u8 page_bits;	/* a page of memory has 1 << page_bits bytes */
	u8 wants_proof; /* a RECORD_PROOF behind every sample with a user stack that we walked */
	u8 cgroup_tree; /* enum cgroup_tree: whose ids samples bring */
	u16 kernel_max_stack; /* the stacks that the kernel walks it cuts here, and does not say */
	u8 wants_branches;    /* the branch stack of every sample, where its event has one */
	u8 branch_depth;      /* registers of the CPU, 1 … BRANCH_STACK_MAX */
	u8 reserved_too[2];
	u8 clock_modes[SOURCES_MAX]; /* enum clock_mode, by source */
	struct kernel_rules kernel_rules;
};
WIRE_SIZE(struct program_settings, 144);

#endif
