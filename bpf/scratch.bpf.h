/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a CPU works with while it takes a sample, and what it remembers from one to the next.
 */
#ifndef SCRATCH_BPF_H
#define SCRATCH_BPF_H

#include "bpfprof/aggregate.h"
#include "bpfprof/arm64_code.h"
#include "bpfprof/event.h"
#include "bpfprof/unwind_step.h"

enum {
	WINDOW_WORDS = 128,
	MAPPINGS_KNOWN = 8,   /* of a process */
	PROCESSES_KNOWN = 32, /* of a CPU; a power of two */
	FILES_KNOWN_BITS = 6, /* of a CPU */
	RULES_AHEAD = 32,     /* a power of two */
	KERNEL_RULES_BITS = 14,
	KERNEL_RULES_KNOWN = 1 << KERNEL_RULES_BITS, /* of all CPUs */
	MAPLE_NODE_BYTES = 256,
	LINE_BYTES = 64, /* of the CPU's caches, on most */
};

/* While it is the same, a process is the same and has the same mappings. */
struct mapping_stamp {
	u64 mm, exec_id;
	u64 changes; /* of its mappings; 0: unknown, this stamp is equal to none */
	u64 started; /* the process, in ns: nobody else has this and its pid */
	u64 turn;    /* files are looked up anew now and then, see struct unwind_file */
	u32 pid, epoch;
};

enum { MAPPING_ANONYMOUS = FILE_GONE + 1 };

/* Where a file's table is. */
struct known_table {
	struct unwind_place place;
	u32 state : 4; /* enum unwind_file_state, or MAPPING_ANONYMOUS */
	u32 file : 28; /* a hash of what tells it from others; 0: none */
	u32 number;    /* see struct unwind_file */
};

/* A piece of code, as a process sees it. */
struct known_mapping {
	u64 file_offset; /* of its start */
	struct known_table table;
};

/* What a CPU remembers of a file while turn and epoch are the same (see struct mapping_stamp): most
 * code that is met anew is of a few files, in processes that have begun or mapped something. The
 * kernel's inode, with its number and generation, is the same file as long as a turn. */
struct known_file {
	u64 inode; /* kernel address; 0: none */
	u64 number, turn;
	u32 generation, epoch;
	struct known_table table;
	u64 reserved; /* a line of the cache each */
};
_Static_assert(sizeof(struct known_file) == 64, "a line each");

/* What the kernel has of a mapping of code, as it was read last. */
struct seen_mapping {
	u64 vma, inode; /* kernel addresses; 0: none */
	u64 start, end;
	u64 file, page; /* of the file, where it starts */
	u64 number;	/* of the inode */
	u32 generation;
	u32 flags; /* the lower ones */
};
_Static_assert(sizeof(struct seen_mapping) == 64, "a line each");

/* What a CPU remembers of one process's mappings. Starts and lengths lie together, as all of them
 * are looked at. */
struct known_process {
	struct mapping_stamp stamp;
	u32 last;   /* used */
	u16 next;   /* to be given up */
	u16 frames; /* of its last user stack */
	u64 proved; /* mappings that are as they were since the stamp is the one that it is; bits */
	u64 starts[MAPPINGS_KNOWN], bytes[MAPPINGS_KNOWN]; /* 0 bytes: none */
	struct known_mapping mappings[MAPPINGS_KNOWN];
	/* Which rules (of known_rules) the frames of its last stack were walked by: half of those
	 * of the next one, so they are asked for ahead. */
	u16 rules[RULES_AHEAD];
};
_Static_assert(sizeof(struct known_process) % LINE_BYTES == 0, "whole lines");

/* What the kernel had of a process's mappings when they were learned. */
struct seen_process {
	struct seen_mapping mappings[MAPPINGS_KNOWN];
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
	u64 context; /* see struct chain_part */
	u32 process; /* row of scratch->processes */
	u32 row;     /* what was found by a search, see find_mapping() */
	u8 found_by; /* enum walkers; 0: the innermost frame, or by its first instruction */
	u8 doubt;    /* why the stack ends if this frame is none; enum user_stack_end */
	u8 is_done;  /* this sample's user stack was walked, be it in vain */
	u8 has_rest; /* it met code whose table is being made: see struct stack_rest */
	u8 reserved[4];
};

/* Where a walk up the kernel stack is, see struct user_walk. */
struct kernel_walk {
	u64 pc, sp, fp;
	u64 entry;		  /* of the kernel's table */
	u32 first, left;	  /* of its entries, while one is searched */
	u32 by_old_sp, by_new_sp; /* entries looked at, see learn_orc_numbers() */
	u32 walks;		  /* of this CPU, since the recording began */
	u8 is_exact;		  /* the pc was interrupted */
	u8 reserved;
	u16 frames; /* that were walked */
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
	struct mapping_stamp stamp;		  /* of the sample that is being taken */
	struct seen_mapping seen;		  /* the mapping that was read last */
	struct user_walk walk;
	struct kernel_walk kernel_walk;
	struct file_wanted wanted; /* what the record of a file that is asked for is made of */
	struct unwind_file fresh;  /* and its row */
	u64 name[2];		   /* of the thread */
	struct count_key key;	   /* of the sample in the record, if it is counted */
	struct sample_record record;
	struct known_process processes[PROCESSES_KNOWN];
	struct known_file files[1 << FILES_KNOWN_BITS];
};

#endif
