/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A processor's call-stack LBR and the true call stack, side by side, for one running program.
 *
 * Whoever runs the program (the Valgrind tool, the ptrace stepper) tells of each call, return,
 * signal and sample; the model keeps both and logs every sample with what the registers hold for
 * each ring size at once. Nothing here needs a C library, as a Valgrind tool has none.
 *
 * The LBR: a near CALL pushes (from, to), a near RET pops, one ring a thread. A ring of N registers
 * holds the entries base_N + 1 … depth of a stack without end, so that all sizes come out of one
 * run. A RET with nothing to pop moves the top of stack down all the same. CALL to the next
 * instruction is left out. Signals and longjmp() push and pop nothing.
 *
 * The truth: a frame for each call, found again by the stack slot that its return address is in.
 * What lies below the stack pointer has ended, however it ended; where the stack pointer leaves for
 * another mapping, the frames of the old stack wait there (alternate signal stacks, swapcontext()).
 */
#ifndef LBR_SIMULATOR_MODEL_H
#define LBR_SIMULATOR_MODEL_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	RING_SIZES = 5,	    /* 8, 16, 32, 64, 128 registers */
	RING_ENTRIES = 128, /* the largest */
	CHAIN_MAX = 127,    /* perf_event_max_stack */
	PARKED_MAX = 1024,  /* stacks of a thread that were left and may be returned to */
	LOG_WORDS = 8192,
};

/* Records of the log: a word `kind | words << 8`, then that many words. Read by recording.py. */
enum log_kind {
	LOG_START = 1, /* version, pid, period */
	LOG_MAP,       /* start, bytes, file offset, path (zero-padded to words) */
	LOG_THREAD,    /* time, tid, parent's tid */
	LOG_SAMPLE,    /* see model_sample() */
	LOG_END,       /* instructions, calls, returns, frames whose return address was not there */
};

/* What the model needs of whoever runs the program. */
struct machine {
	void *(*allocate)(size_t bytes); /* zeroed; never fails */
	void (*release)(void *memory);
	bool (*read)(u64 address, u64 *ret_value); /* a word of the program's memory */
	/* The mapping that holds `address`; false if there is none. */
	bool (*find_mapping)(u64 address, u64 *ret_start, u64 *ret_end);
	void (*write)(const void *bytes, size_t count); /* to the log */
};

struct call {
	u64 from, to;
};

/* A call that has not returned, or a signal that interrupted. */
struct frame {
	struct frame *caller;
	struct call call; /* of a signal: what it interrupted, its handler */
	u64 slot;	  /* address of the return address */
	u64 back;	  /* the return address; of a signal: the code that ends it */
	bool is_signal;
};

struct thread {
	u32 tid;
	bool is_known; /* runs, or has run */
	/* The LBR. */
	s64 depth;	      /* pushes less pops */
	s64 lowest;	      /* … since the last sample */
	s64 base[RING_SIZES]; /* registers up to here are empty or overwritten */
	struct call ring[RING_ENTRIES];
	/* The truth. */
	struct frame *top;
	u64 stack_start, stack_end; /* of the mapping that the stack pointer is in */
	struct frame *parked[PARKED_MAX];
	u32 parked_count;
};

struct model {
	const struct machine *machine;
	u64 period;    /* mean number of instructions between samples */
	u64 random;    /* state of the generator; any but 0 */
	u64 interval;  /* instructions from the last sample to the next */
	s64 countdown; /* instructions left until the next; the runner counts it down */
	u64 time;      /* instructions until the last sample */
	u64 calls, returns, misfits;
	u64 log[LOG_WORDS];
	size_t log_words;
};

/* Begins a log. `period` is in instructions, at least 1000; `seed` decides the jitter. */
void model_start(struct model *model, u32 pid, u64 period, u64 seed);

/* Notes an executable file mapping of `bytes` bytes at `start`. `path` is copied. */
void model_mapping(struct model *model, u64 start, u64 bytes, u64 file_offset, const char *path);

/* Notes that `thread` (zeroed memory of the caller's) begins, called `tid` from now on. */
void model_thread(struct model *model, struct thread *thread, u32 tid, u32 parent_tid);

/* A CALL at `call.from` was executed; it put `back`, the address behind it, at address `slot`. */
void model_call(struct model *model, struct thread *thread, struct call call, u64 back, u64 slot);

/* A RET was executed; it took its target from address `slot`. */
void model_return(struct model *model, struct thread *thread, u64 slot);

/* A signal interrupted at `call.from`, where the stack pointer was `sp`; its handler begins with
 * the stack pointer at `slot`. */
void model_signal(struct model *model, struct thread *thread, struct call call, u64 sp, u64 slot);

/* The last signal's handler is done: what it interrupted goes on. */
void model_signal_end(struct model *model, struct thread *thread);

/*
 * Takes a sample before the instruction at `ip` is executed, and decides when the next is due.
 *
 * Logged: time, tid, ip, depth, lowest depth since the thread's last sample, a byte each with the
 * number of registers that hold something (8, 16, 32, 64, 128 registers), three counts in 16, 32
 * and 16 bits; then that many LBR entries (from, to), true callers (from, to, back; from with bit
 * 63 set: a signal, whose handler returns into the code that ends it) and return addresses along
 * the frame pointers, each newest first.
 */
void model_sample(struct model *model, struct thread *thread, u64 ip, u64 sp, u64 frame_pointer);

/* Ends the log. */
void model_end(struct model *model);

/* Whether the instruction at `code` is a string instruction with a REP prefix: stepping and
 * translating tools count its repetitions differently, so neither counts it at all. */
bool model_is_repeated(const u8 *code);

#endif
