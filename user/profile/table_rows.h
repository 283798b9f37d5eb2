/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of a profile's tables. They refer to each other by number.
 */
#ifndef PROFILE_TABLE_ROWS_H
#define PROFILE_TABLE_ROWS_H

#include "base/intern.h"
#include "bpfprof/types.h"
#include "event/event.h"

typedef u32 string_id, binary_id, function_id, location_id, stack_id, label_id, thread_id,
	branch_id, detail_id;

enum binary_kind {
	BINARY_NONE, /* row 0: addresses no mapping covers, "[unknown]" */
	BINARY_FILE, /* an ELF file; location addresses are file offsets */
	BINARY_VDSO, /* "[vdso]"; offsets into its image */
	BINARY_JIT,  /* anonymous executable memory; path "/tmp/perf-PID.map", virtual addresses */
	BINARY_KERNEL,	/* "[kernel.kallsyms]"; virtual addresses */
	BINARY_MODULE,	/* a kernel module; virtual addresses */
	BINARY_KSYMBOL, /* one BPF program or piece of out-of-line kernel code; virtual addresses */
	BINARY_OTHER,	/* mapped, but no code of ours to name: [stack], [heap], SysV… */
};

/* Why the addresses of a binary got no names. Append-only. */
enum unnamed_reason {
	UNNAMED_NOT,	       /* it was named, or never tried */
	UNNAMED_NO_SYMBOLS,    /* the file has no symbol covering the address */
	UNNAMED_NO_FILE,       /* the file is gone or cannot be read */
	UNNAMED_REPLACED,      /* the file at the path has another build id, or is another one */
	UNNAMED_NO_MAPPING,    /* no mapping covered the address */
	UNNAMED_NOT_ELF,       /* the file is not a readable ELF file */
	UNNAMED_KERNEL_HIDDEN, /* kallsyms shows no addresses (kptr_restrict), or another kernel's
				*/
	UNNAMED_NO_JIT_MAP,    /* JIT code without /tmp/perf-PID.map */
	UNNAMED_REASON_COUNT,
};

struct binary_row {
	string_id path;	      /* as the process saw it; what perf calls the long name */
	string_id short_name; /* what is shown: the basename, or the bracketed name */
	u32 owner_pid;	      /* a process that mapped it, ~0u: none */
	u32 mapped_order;     /* among all that was mapped, from 1; 0: never */
	u8 kind;	      /* enum binary_kind */
	u8 space;	      /* enum frame_space of its code */
	u8 build_id_bytes;    /* 0: not recorded */
	u8 build_id[BUILD_ID_MAX_BYTES];
	u64 start, end; /* kernel kinds: virtual addresses covered */
	/* Of a BINARY_FILE without build id, as its mapping told; 0: not known. */
	u64 inode;
	u32 major, minor, inode_generation;
	u64 reference; /* recorded address of the kernel's reference symbol, 0: unknown; a module
			* has that of its kernel */
	u8 unnamed;    /* enum unnamed_reason: why names are missing */
};

/* A function; equal (binary, start, end) is the same row. */
struct function_row {
	string_id name;	    /* demangled, as shown */
	string_id raw_name; /* as in the symbol table */
	binary_id binary;
	u64 start, end;	   /* addresses in the binary, [start, end) */
	bool is_inlined;   /* then start and end are 0 and the name is the identity */
	bool is_anonymous; /* it has no symbol: the name says where it begins */
	bool is_data;	   /* it is a variable */
};

/* One line of source inside a function. */
struct line_row {
	function_id function;
	string_id file; /* 0: unknown */
	u32 line;	/* from 1; 0: unknown */
};

struct location_row {
	binary_id binary;
	u32 first_line; /* row in `lines`; its function is the innermost inlined one */
	u64 address;	/* in the binary: see enum binary_kind; without a binary: virtual */
	u64 seen_at;	/* virtual address by which it is told apart too; 0: it is not */
	u32 line_count; /* 0: no name */
	u8 space;	/* enum frame_space */
	u8 unnamed;	/* enum unnamed_reason, set while naming */
	bool is_call;	/* set before naming: the name is that of the CALL in front of it */
	u8 uses;	/* bits of enum location_use, as far as they were noted */
};

struct stack_row {
	stack_id caller; /* 0: outermost */
	location_id location;
	u32 mark;      /* of the frame */
	u32 path_hash; /* of all frames up to here; private to profile_stacks(), as the next one */
	stack_id first_callee; /* 0: none yet */
	u16 depth;	       /* frames up to here, from 1 */
	u8 origin;	       /* enum frame_origin */
};

/* One life of a thread: a thread id that is used again gets another row. */
struct thread_row {
	u32 pid, tid;
	string_id comm;	   /* its last name */
	bool began_before; /* private to thread_lives.c: counting began later than this life */
};

/* What else samples may be told apart by. */
enum sample_detail {
	DETAIL_TIME,		   /* nanoseconds, the start of a quantum */
	DETAIL_SOCKET,		   /* number of the CPU's package, -1: unknown */
	DETAIL_CGROUP,		   /* id, named by a row of `cgroups`; 0: none */
	DETAIL_COST,		   /* cycles of a load or a transaction: perf's weight */
	DETAIL_TRANSACTION,	   /* PERF_TXN_* */
	DETAIL_CODE_PAGE,	   /* its bytes */
	DETAIL_INSTRUCTION_CYCLES, /* from issue to retirement */
	DETAIL_PARENT,	  /* string_id of the chosen caller's name, 0: none; see parents.h */
	DETAIL_CONTAINER, /* string_id of the cgroup's; 0: in none; see cgroup_parts.h */
	DETAIL_UNIT,	  /* likewise of systemd */
	/* Of an access to memory; places are of the profile that was counted into, and stand for
	 * nothing in one that it is joined with. */
	DETAIL_DATA_SOURCE,	 /* union perf_mem_data_src */
	DETAIL_DATA_ADDRESS,	 /* virtual */
	DETAIL_DATA_PLACE,	 /* its location_id, PLACE_IS_SHARED or-ed */
	DETAIL_CODE_ADDRESS,	 /* virtual, of the instruction */
	DETAIL_CODE_PLACE,	 /* its location_id */
	DETAIL_PHYSICAL_ADDRESS, /* of the data */
	DETAIL_DATA_PAGE,	 /* its bytes */
	DETAIL_TRACE,		 /* string_id of what a tracepoint says; 0: the event is none */
	DETAIL_COUNT,
};

/* Other processes may see the same memory. */
#define PLACE_IS_SHARED (1ull << 32)

/* Details that the settings do not keep are 0. */
struct detail_row {
	u64 values[DETAIL_COUNT]; /* by enum sample_detail */
};

struct cgroup_row {
	u64 id;
	string_id path;
};

/* Whose a sample was. Parts that the settings do not keep are ~0u (cpu, pid, tid), details 0. */
struct label_row {
	string_id comm;
	u32 pid, tid, cpu;
	detail_id detail;
};

/* A branch that was taken. Flags that nobody asks for are 0. */
struct branch_row {
	location_id from, to;
	u32 flags; /* enum branch_flag */
};

enum { BLOCK_FIRST = 8 };

/* Code from where one branch went to, to where the next one began. */
struct block_row {
	location_id start, end; /* start 0: where it was is not known */
	u32 source;		/* row of sources */
	u16 first[BLOCK_FIRST]; /* cycles of its first times */
	u64 times, cycles;	/* how often it ran, and for how long in all */
};

/* What was counted: one row for each distinct (source, stack, leaf, branch, labels), in order of
 * first appearance. */
struct count_row {
	stack_id stack;	  /* the call chain, innermost frame; 0: no chain */
	location_id leaf; /* where the CPU was; of a branch: where it went */
	branch_id branch; /* 0: a sample is counted, not a branch */
	label_id labels;
	u32 source;		/* row of sources */
	thread_id first_thread; /* of the first sample counted here */
	u8 space;		/* enum frame_space of the leaf */
	u64 weight, samples;
};

/* Where user stacks ended early because of the code there. */
struct early_end_row {
	binary_id binary;
	u8 cut; /* enum stack_cut: no table, unsupported, not analysed */
	u64 stacks;
};

#endif
