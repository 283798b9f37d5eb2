/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What travels through the BPF ring buffer, and the maps that both sides read by layout.
 *
 * Every record begins with its kind and ends with as many frames and branches as it says. The
 * reader does not trust the lengths: it checks them against the record's size.
 */
#ifndef BPFPROF_EVENT_H
#define BPFPROF_EVENT_H

#include "bpfprof/branch_stack.h"
#include "bpfprof/counters.h"
#include "bpfprof/settings.h"
#include "bpfprof/types.h"
#include "bpfprof/unwind_frame.h"
#include "bpfprof/unwind_table.h"

enum record_kind {
	RECORD_SAMPLE = 1,
	RECORD_FILE_WANTED,
	RECORD_PROOF,
	RECORD_STACK_REST,
	RECORD_LATE_SAMPLE,  /* a sample; the rest of its stack lies in the ring of rests already */
	RECORD_CHAIN,	     /* a sample that is counted, for its chain; in the first window … */
	RECORD_CHAIN_SECOND, /* … and in the second */
};

/* In which mode the CPU was. */
enum cpu_mode { MODE_KERNEL = 1, MODE_USER = 2 };

/* Why the user stack ended. The order of enum stack_cut (event/stack.h). */
enum user_stack_end {
	END_UNKNOWN,	  /* the kernel walked it and did not say */
	END_COMPLETE,	  /* the outermost frame: a rule says so, or a frame pointer of zero */
	END_NO_STACK,	  /* kernel thread, or not asked for */
	END_TOO_DEEP,	  /* max_stack frames, and there are more */
	END_UNREADABLE,	  /* stack memory that is not resident, or a mapping in change */
	END_NO_TABLE,	  /* code without unwind table and without frame pointer */
	END_UNSUPPORTED,  /* a rule that says that rows cannot express it */
	END_NOT_ANALYSED, /* the file's table is not there yet, and there is no frame pointer */
	END_BROKEN,	  /* a frame pointer that is none: code compiled without; or a stack
			   * that does not go on upwards, or to code */
};

/* Which walkers found the frames of a user stack; also which ones the settings allow. */
enum walkers {
	WALKER_FRAME_POINTER = 1,
	WALKER_EH_FRAME = 2,
	WALKER_KERNEL = 4, /* bpf_get_stack() */
};

/* One sample without what follows it: kernel_frames of the kernel stack, then user_frames of the
 * user stack, innermost first; then the branch stack, if any (see branch_stack.h): hw_idx, and the
 * entries, newest first. */
struct sample_header {
	u16 kind;   /* enum record_kind */
	u16 source; /* row of the recording's events */
	u32 cpu;
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 address; /* where the CPU was */
	union {
		u64 period;  /* how many events this sample stands for */
		u64 context; /* of a RECORD_CHAIN: see struct chain_part */
	};
	u64 cgroup;   /* where the thread was: kernfs id; 0: unknown */
	u32 pid, tid; /* in the namespace of the settings; ~0: outside of it; 0: idle */
	u16 kernel_frames, user_frames;
	u8 mode;	 /* enum cpu_mode */
	u8 end;		 /* enum user_stack_end */
	u8 walked;	 /* enum walkers, or-ed */
	u8 branch_words; /* of the branch stack; 0: none */
};
WIRE_SIZE(struct sample_header, 56);

/* The programs met a file whose table is not there: the mapping [start, end) of process `pid`
 * (as in the samples) is of that file. Sent once a file; user space answers in `unwind_files`. */
struct file_wanted {
	u16 kind; /* enum record_kind */
	u16 reserved;
	u32 pid;
	u64 start, end;
	struct unwind_file_key file;
};
WIRE_SIZE(struct file_wanted, 40);

enum { PROOF_STACK_BYTES = 32768 };

/* What the user stack of the sample before it was walked from, if the settings want proof: time_ns,
 * pid and tid are those of the sample. Registers have their DWARF numbers; behind them is the pc.
 * The stack begins at the stack pointer and ends where it could not be read. */
struct proof_record {
	u16 kind; /* enum record_kind */
	u16 reserved;
	u32 stack_bytes;
	u64 time_ns;
	u32 pid, tid;
	u64 registers[UNWIND_REGISTERS + 1];
	u8 stack[PROOF_STACK_BYTES];
};
WIRE_SIZE(struct proof_record, 24 + 8 * (UNWIND_REGISTERS + 1) + PROOF_STACK_BYTES);

enum { REST_STACK_BYTES = 16384 };

/* What is left to walk of the user stack of a RECORD_LATE_SAMPLE: the walk met code whose table is
 * still being made. Whoever has the table can go on from `frame`, with the same
 * bytes of stack: `stack` holds those from stack_start on. time_ns, pid and tid are the sample's.
 * More of the stack may follow in further records, of which only the stack counts: it goes on where
 * that of the one before ends. */
struct stack_rest {
	u16 kind;	 /* enum record_kind */
	u16 user_frames; /* of the sample, how many come before `frame` */
	u8 found_by;	 /* enum walkers: how `frame` was found; 0: see struct user_walk */
	u8 doubt;	 /* enum user_stack_end: why the stack ends if `frame` is none */
	u8 walked;	 /* enum walkers, or-ed: who found those before */
	u8 reserved;
	u64 time_ns;
	u32 pid, tid;
	u64 start_stack; /* the stack pointer that the kernel started the process with */
	u64 stack_start;
	u32 stack_bytes;
	u32 reserved_too;
	struct unwind_frame frame; /* what rbx was is in its registers, if it is not lost */
	u8 stack[REST_STACK_BYTES];
};
WIRE_SIZE(struct stack_rest, 352 + REST_STACK_BYTES);

enum { RECORD_FRAMES_MAX = 2 * (STACK_MAX_FRAMES + 1) };

struct sample_record {
	struct sample_header header;
	u64 frames[RECORD_FRAMES_MAX + BRANCH_WORDS_MAX]; /* the branch stack behind them */
};

/* Chains on their way to user space, of one CPU: it alone writes, user space alone reads, so they
 * need no lock. Records lie behind one another, each in one piece: the last may end in the bytes
 * behind CHAIN_LOG_BYTES. */
enum { CHAIN_LOG_BYTES = 128 * 1024, CHAIN_LOG_RECORD_BYTES = 1024 };

struct chain_log {
	u64 written; /* bytes since the start */
	u64 reserved[7];
	u64 read; /* by user space */
	u64 reserved_too[7];
	u8 bytes[CHAIN_LOG_BYTES + CHAIN_LOG_RECORD_BYTES];
};
WIRE_SIZE(struct chain_log, 128 + CHAIN_LOG_BYTES + CHAIN_LOG_RECORD_BYTES);

/* What happened on one CPU: an element of the map `counters`, which user space reads as memory.
 * `overflows` of a source are its program's runs; enum counter has their sum. */
struct cpu_counters {
	u64 counts[COUNTERS_MAX]; /* by enum counter */
	u64 overflows[SOURCES_MAX];
};
WIRE_SIZE(struct cpu_counters, 640);

#endif
