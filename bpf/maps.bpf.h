/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every map: what is in it, who writes it, who reads it, what decides its size.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include "bpfprof/aggregate.h"
#include "bpfprof/arm64_code.h"
#include "bpfprof/event.h"
#include "bpfprof/unwind_step.h"

#include <bpf/bpf_helpers.h>

/* Fixed before load by user/capture/bpf_object.c. */
const volatile struct program_settings settings = {};

/* Samples on their way. Written here, read by user/capture/ring.c, which sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} ring SEC(".maps");

/* What is left of stacks (see struct stack_rest): many times what a sample takes, for a moment.
 * They have a ring of their own, so that no sample finds no room for them. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} rest_ring SEC(".maps");

/* One element a CPU, not a per-CPU map: user space reads it as memory. A look-up by system call
 * would keep our own programs from running meanwhile (bpf_disable_instrumentation()). */
#define MEMORY_ARRAY(name, element)                \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, u32);                  \
		__type(value, element);            \
	} name SEC(".maps")

MEMORY_ARRAY(counters, struct cpu_counters);

enum {
	WINDOW_WORDS = 64,
	MAPPINGS_KNOWN = 8,   /* of a process */
	PROCESSES_KNOWN = 16, /* of a CPU; a power of two */
	MAPLE_NODE_BYTES = 256,
};

/* While it is the same, a process is the same and has the same mappings. */
struct mapping_stamp {
	u64 mm, exec_id;
	u64 changes; /* of its mappings; 0: unknown, this stamp is equal to none */
	u64 second;  /* files are looked up anew about once a second, see struct unwind_file */
	u32 pid, epoch;
};

enum { MAPPING_ANONYMOUS = FILE_GONE + 1 };

/* A piece of code, as a process sees it. */
struct known_mapping {
	u64 file_offset; /* of its start */
	struct unwind_place place;
	u32 state; /* enum unwind_file_state, or MAPPING_ANONYMOUS */
	u32 reserved;
};

/* What a CPU remembers of one process's mappings. Starts and lengths lie together, as all of them
 * are looked at. */
struct known_process {
	struct mapping_stamp stamp;
	u64 starts[MAPPINGS_KNOWN], bytes[MAPPINGS_KNOWN]; /* 0 bytes: none */
	struct known_mapping mappings[MAPPINGS_KNOWN];
	u32 last; /* used */
	u32 next; /* to be given up */
};

/* Where a walk up the user stack is. Kept in a map, not in registers: what comes out of a map the
 * verifier does not know, so that all turns of the walk look alike to it and are checked once. */
struct user_walk {
	struct unwind_frame frame; /* the next one to take */
	u64 window;		   /* address of the first word in scratch->window */
	u64 window_bytes;
	u64 mm, vma;		  /* kernel addresses */
	u64 code[3];		  /* around the pc: before it, and two words from it on */
	u64 left_pc, left_record; /* the frame that a frame pointer was followed from, and that */
	struct arm64_way way;
	u32 process; /* row of scratch->processes */
	u32 row;     /* what was found by a search, see find_mapping() */
	u8 found_by; /* enum walkers; 0: the innermost frame, or by its first instruction */
	u8 doubt;    /* why the stack ends if this frame is none; enum user_stack_end */
	u8 is_done;  /* this sample's user stack was walked, be it in vain */
	u8 has_rest; /* it met code whose table is being made: see struct stack_rest */
	u8 reserved[4];
};

/* Where a CPU builds its records: too large for the BPF stack, which all functions that call one
 * another share. Nobody else looks at it. */
struct scratch {
	u32 busy;
	u32 reserved;
	/* The piece of user stack that is being looked at; a word more, so that the second of a
	 * pair never lies outside. */
	u64 window[WINDOW_WORDS + 1];
	u64 node[MAPLE_NODE_BYTES / sizeof(u64)]; /* of a maple tree */
	struct user_walk walk;
	struct file_wanted wanted; /* what the record of a file that is asked for is made of */
	struct unwind_file fresh;  /* and its row */
	struct count_key key;	   /* of the sample in the record, if it is counted */
	struct sample_record record;
	struct known_process processes[PROCESSES_KNOWN];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* Where a CPU gets ready what is left of a stack. Nobody else looks at it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_rest);
} rests SEC(".maps");

/* Who is profiled, if not everybody; see filter.bpf.h for the keys. User space writes the pids and
 * threads it was asked for, on_fork() what they start, on_free() takes out what is gone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u8);
} followed SEC(".maps");

/* The space of words that unwind tables lie in, a segment of 1 MiB at a time. User space adds the
 * segments and writes them as memory. */
struct unwind_chunk {
	u32 words[UNWIND_CHUNK_WORDS];
};

struct unwind_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_SEGMENT_CHUNKS);
	__uint(key_size, sizeof(u32));
	__uint(value_size,
	       sizeof(struct unwind_chunk)); /* as __type() clang leaves it out of BTF */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SEGMENTS_MAX);
	__type(key, u32);
	__array(values, struct unwind_segment);
} unwind_segments SEC(".maps");

/* What is known of the files that samples lie in; see struct unwind_file for who writes what. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file);
} unwind_files SEC(".maps");

/* Raised by user space after every change of `unwind_files`: what a CPU remembers of mappings from
 * before is forgotten. Words that are free again are not written before some drains have passed. */
volatile u32 unwind_epoch = 0;

/* What is counted, and which chains were sent: of each CPU the slots of one window, then those of
 * the other. Written here while the window is filled; read and cleared by user space
 * (user/capture/counting.c), as memory, when it no longer is. */
MEMORY_ARRAY(counts, struct count_entry);
MEMORY_ARRAY(chains_sent, struct chain_hash);

/* Raised by user space: the window that is filled has its lowest bit. */
volatile u32 aggregate_turn = 0;

/* This CPU's scratch. */
static __always_inline struct scratch *scratch_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* Counts `counter` on this CPU. */
static __always_inline void count(u32 counter)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_counters *here = bpf_map_lookup_elem(&counters, &cpu);

	if (here && counter < COUNTER_COUNT)
		here->counts[counter]++;
}

#endif
