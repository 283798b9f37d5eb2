/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our BPF programs in the kernel: loaded with their settings, and what they share with us.
 */
#ifndef CAPTURE_BPF_OBJECT_H
#define CAPTURE_BPF_OBJECT_H

#include "bpfprof/event.h"
#include "bpfprof/settings.h"

#include <stddef.h>

struct programs;

struct program_plan {
	struct program_settings settings; /* of the ring and of pages: programs_load() */
	u32 source_count;		  /* 1 … SOURCES_MAX */
	u64 ring_bytes;			  /* rounded up to a power of two of pages */
	u64 rest_bytes;			  /* likewise, of the ring of rests */
	const u64 *follow; /* keys (see settings.h) that are profiled from the start */
	size_t follow_count;
	/* settings.count_slots and count_cpus say how many samples can be counted. */
	u32 unwind_segments; /* how many the space for unwind tables may have; 0: none are used */
};

/* Loads the programs that the plan needs; nothing runs yet. Returns 0 or a negative errno with a
 * sentence. */
int programs_load(const struct program_plan *plan, struct programs **ret_programs);
/* Takes the programs out of the kernel and frees; NULL is fine. */
void programs_free(struct programs *programs);

/* From now on children, threads and the command are followed. Returns 0 or a negative errno with a
 * sentence. */
int programs_attach_followers(struct programs *programs);
/* Profiles the pid or thread of this key (see settings.h) from now on. Returns 0 or a negative
 * errno. */
int programs_follow(struct programs *programs, u64 key);
/* No longer profiles the pid or thread of this key: its number may be given to somebody else. */
void programs_unfollow(struct programs *programs, u64 key);

/* The program that takes samples of `source`; borrowed. */
int programs_sampler_fd(const struct programs *programs, u32 source);
/* The ring buffer; borrowed. */
int programs_ring_fd(const struct programs *programs);
/* That of what is left of stacks; borrowed. */
int programs_rest_ring_fd(const struct programs *programs);
/* What happened, by CPU number, as of now; `ret_count` CPUs. Borrowed. */
const struct cpu_counters *programs_counters(const struct programs *programs, u32 *ret_count);

/* Where unwind tables go; see bpf/maps.bpf.h. */
struct unwind_maps {
	int files_fd, segments_fd; /* borrowed */
	u32 segment_count;	   /* as planned; 0: no tables are used */
	u32 *epoch;		   /* borrowed */
};

/* The maps of the programs. */
struct unwind_maps programs_unwind_maps(const struct programs *programs);

/* Where samples are counted; see bpf/maps.bpf.h. */
struct count_maps {
	int counts_fd, chains_fd, logs_fd; /* borrowed */
	u32 slots, cpus;		   /* as planned; 0: nothing is counted */
	u64 hash_seed;
	u32 *turn; /* borrowed */
};

/* The tables of the programs. */
struct count_maps programs_count_maps(const struct programs *programs);

/* What a sample of a clock stands for, by source, in ns; 0: what it stood for at first. To be
 * written by who changes the rate. Borrowed. */
volatile u64 *programs_changed_periods(const struct programs *programs);

struct program_cost {
	u64 run_ns;	      /* in all our programs; 0 if the kernel does not tell */
	u64 runs;	      /* likewise */
	u64 recursion_misses; /* overflows that found another BPF program running */
};

/* Lets the kernel measure what programs cost, until programs_free(); without permission it does
 * not. */
void programs_measure(struct programs *programs);
/* What ours have cost so far. */
struct program_cost programs_cost(const struct programs *programs);

#endif
