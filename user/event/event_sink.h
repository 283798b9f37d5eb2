/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events themselves, and what a consumer of them implements.
 *
 * Everything here is borrowed: valid during the call only, unless it says otherwise.
 */
#ifndef EVENT_EVENT_SINK_H
#define EVENT_EVENT_SINK_H

#include "bpfprof/types.h"
#include "event/stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { BUILD_ID_MAX_BYTES = 20 }; /* SHA-1, the longest in use */

struct frame {
	u64 address; /* virtual; of a caller: the return address */
	u8 space;    /* enum frame_space */
	u8 origin;   /* enum frame_origin */
	u32 mark; /* what else frames are told apart by, to be asked of who made it; 0: nothing */
};

/* One entry of a branch stack; flags as in struct perf_branch_entry's last word. */
struct branch {
	u64 from, to, flags;
};

/* The low bits of struct branch.flags. */
enum branch_flag {
	BRANCH_MISPREDICTED = 1 << 0, /* neither this nor the next: not known */
	BRANCH_PREDICTED = 1 << 1,
	BRANCH_IN_TRANSACTION = 1 << 2,
	BRANCH_ABORTED = 1 << 3,
	BRANCH_CYCLES_SHIFT = 4, /* since the branch before, 16 bits; 0: not known */
	BRANCH_CYCLES = 0xffff << BRANCH_CYCLES_SHIFT,
};

/* One observation, or several that are alike: `weight` is their sum, `time_ns` that of the last.
 * The chain `frames` mostly begins at `address`, but may elsewhere (precise events), or be empty.
 */
struct sample {
	u64 time_ns;	   /* CLOCK_MONOTONIC or the file's own clock; 0: unknown */
	u64 weight;	   /* the period: events this sample stands for */
	u64 address;	   /* where the CPU was */
	u64 data_address;  /* PERF_SAMPLE_ADDR, 0 if not recorded */
	u64 cgroup;	   /* id, named by a struct cgroup_name; 0: unknown */
	u32 source;	   /* row of the session's event sources, from 0 */
	u32 pid, tid, cpu; /* ~0u: not recorded */
	u32 count;	   /* of observations, see sample_count(); 0: one */
	u8 space;	   /* enum frame_space of `address` */
	u8 cut;		   /* enum stack_cut */
	u8 walked;	   /* enum stack_walk, or-ed; 0: not recorded, or no caller was found */
	u16 frame_count;
	u16 branch_count;   /* 0: none */
	bool has_chain;	    /* the event records call chains (this one may be empty) */
	bool is_known;	    /* the frames were left out, because knows_chain() said so */
	u8 user_abi;	    /* enum user_abi, of event/sample.h */
	bool stack_is_full; /* all that was asked for was copied: the stack may go on */
	u32 stack_bytes;    /* of user_stack; 0: none */
	/* Samples with equal keys have equal frames (but for one chance in 2^63); 0: no telling.
	 * The lowest bit says that there are frames of user space among them. */
	u64 chain_key;
	const struct frame *frames;    /* innermost first */
	const struct branch *branches; /* newest first */
	u64 hw_idx;		       /* physical LBR register of branches[0]; ~0: unknown */
	/* PERF_SAMPLE_REGS_USER and _STACK_USER, from which a stack can be walked afterwards. */
	const u8 *user_registers; /* words; see sample_register() */
	const u8 *user_stack;	  /* a copy of the user's stack, from its stack pointer on */
	const u8 *record; /* for the producer, who may know more of the sample; NULL: it does not */
};

/* A file, JIT region, vDSO or piece of kernel text as one process sees it; the kernel: pid ~0u. */
struct mapping {
	u64 time_ns; /* 0: before the recording */
	u32 pid, tid;
	u8 space;	  /* SPACE_KERNEL or SPACE_USER (guests likewise) */
	bool is_data;	  /* not executable (PERF_RECORD_MISC_MMAP_DATA) */
	u64 start, bytes; /* virtual addresses [start, start + bytes) */
	u64 file_offset;  /* of `start` in the file; kernel text: address of the reference symbol */
	u32 major, minor; /* device; 0 if a build id is given or unknown */
	u64 inode, inode_generation;
	u32 protection, flags; /* as for mmap(2) */
	const char *path;      /* "[vdso]", "//anon", "[kernel.kallsyms]_text" included */
	u8 build_id[BUILD_ID_MAX_BYTES];
	u8 build_id_bytes; /* 0: unknown */
};

/* Bytes of a mapping's path that name its file: of "[kernel.kallsyms]_text" without the symbol. */
static inline size_t mapping_name_bytes(const char *path)
{
	const char *bracket = *path == '[' ? strchr(path, ']') : NULL;

	return bracket ? (size_t)(bracket + 1 - path) : strlen(path);
}

/* A thread's name. */
struct thread_name {
	u64 time_ns;
	u32 pid, tid;
	bool is_exec; /* exec() gave it: new mappings follow */
	const char *name;
};

/* A thread began (fork, clone) or ended. */
struct thread_life {
	u64 time_ns;
	u32 pid, tid, parent_pid, parent_tid;
	bool is_synthesized; /* a start-up scan found it: it inherits no mappings */
	bool is_running;     /* … and it was on a CPU, or waiting for one */
};

/* A piece of kernel code that came or went: BPF programs, out-of-line code, trampolines. */
struct kernel_symbol {
	u64 time_ns, start;
	u32 bytes;
	u16 type;  /* PERF_RECORD_KSYMBOL_TYPE_*: 1 BPF, 2 out of line */
	u16 flags; /* 1: it went, or the module whose mapping began there */
	const char *name;
};

/* A BPF program was loaded or unloaded. */
struct bpf_program {
	u64 time_ns;
	u16 type, flags; /* type: 1 loaded, 2 unloaded */
	u32 id;
	u8 tag[8];
};

/* A cgroup that samples are of. */
struct cgroup_name {
	u64 time_ns, id;
	const char *path;
};

/* Something that was lost, by reason. */
struct loss {
	u64 time_ns, count;
	u32 reason; /* enum counter of include/bpfprof/counters.h */
	u32 source; /* event source it belongs to, ~0u: none */
};

/* A kind of event that was sampled: a row of the session. Strings live as long as the producer. */
struct event_source {
	const char *name; /* "cpu-clock:u" */
	u32 type;	  /* perf_event_attr.type */
	u64 config, config1, config2;
	u64 rate; /* hertz if is_frequency, else the period in events */
	bool is_frequency, exclude_user, exclude_kernel, exclude_idle;
	u8 precise; /* 0 … 3 */
	bool has_chain, has_branches, has_time, has_cpu, has_period;
	bool is_counted;       /* samples stand for several: not all times are known */
	bool has_copied_stack; /* the user's part of call chains is to be walked by the reader */
	u64 branch_bits;       /* PERF_SAMPLE_BRANCH_*; 0: none */
	u64 sample_bits;       /* the producer's sample_type, for those who print it */
	u64 user_registers;    /* which are recorded, as bits by the kernel's numbers; 0: none */
	const u64 *ids;	       /* kernel event ids, for perf.data */
	u32 id_count;
};

/* PERF_SAMPLE_BRANCH_CALL_STACK */
static inline bool event_source_has_call_stacks(const struct event_source *source)
{
	return source->has_branches && source->branch_bits >> 11 & 1;
}

/* What a consumer of events implements; unset members mean "not interested". They return 0 to go
 * on, or a negative errno (with a sentence) to stop the producer. */
struct event_sink {
	int (*on_sample)(struct event_sink *self, const struct sample *sample);
	/* Asked before a sample with a chain_key, or whose chain nobody wanted, of which all but
	 * frames and what is recorded behind them is there: whether it may come without frames and,
	 * where these are of an LBR call stack, without branches. Unset: it may not. */
	bool (*knows_chain)(struct event_sink *self, const struct sample *sample);
	/* Asked before these samples, one after the other, are looked at: how many of the first are
	 * not to be handed over; the one behind them comes next. Unset: all are. */
	size_t (*passes_chains)(struct event_sink *self, const struct chain_ahead *chains,
				size_t count);
	/* Told some samples ahead, so that what is known of the chain can come from memory. */
	int (*on_chain_ahead)(struct event_sink *self, u64 chain_key);
	int (*on_mapping)(struct event_sink *self, const struct mapping *mapping);
	int (*on_name)(struct event_sink *self, const struct thread_name *name);
	int (*on_fork)(struct event_sink *self, const struct thread_life *life);
	int (*on_exit)(struct event_sink *self, const struct thread_life *life);
	int (*on_kernel_symbol)(struct event_sink *self, const struct kernel_symbol *symbol);
	int (*on_bpf_program)(struct event_sink *self, const struct bpf_program *program);
	int (*on_cgroup)(struct event_sink *self, const struct cgroup_name *cgroup);
	int (*on_loss)(struct event_sink *self, const struct loss *loss);
	/* Everything older than `time_ns` has been handed over. */
	int (*on_round)(struct event_sink *self, u64 time_ns);
	/* Nothing comes any more. */
	int (*on_end)(struct event_sink *self);
};

/* Calls a member if it is set: `sink_call(sink, on_sample, &sample)`, `sink_call(sink, on_end)`. */
#define sink_call(sink, member, ...) ((sink)->member ? (sink)->member((sink), ##__VA_ARGS__) : 0)

#endif
