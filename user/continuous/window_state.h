/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is in an open window. Private to window*.c.
 */
#ifndef CONTINUOUS_WINDOW_STATE_H
#define CONTINUOUS_WINDOW_STATE_H

#include "bpfprof/settings.h"
#include "continuous/kernel_pieces.h"
#include "continuous/tasks.h"
#include "continuous/window.h"
#include "continuous/window_cgroups.h"

/* Of user and kernel together. */
enum { CHAIN_MAX_FRAMES = 2 * STACK_MAX_FRAMES };

/* A sample that waits until everything older has come. */
struct pending {
	u64 time_ns, weight, address, cgroup;
	size_t first_frame; /* of pending_frames */
	u32 pid, tid, cpu, count;
	u16 frame_count, kernel_count; /* those of the kernel come first */
	u8 source, space, cut, walked, has_chain;
};

/* What samples have in common that are summed; interned as bytes. */
struct sum_key {
	u64 address;
	u32 life, name, chain;
	u32 cgroup; /* row */
	u8 source, space, cut, walked, has_chain, reserved[3];
};
_Static_assert(sizeof(struct sum_key) == 32, "holes would part equal keys");

struct sum {
	u64 time_ns, weight;
	u32 cpu, count;
};

/* A mapping that some sample lies in; interned as bytes. */
struct needed_piece {
	u64 time_ns, start, end, file_offset;
	u32 pid, process, file, reserved;
};

/* A needed piece that has been noted, and what is asked of it for each address that lies in it. */
struct noted_piece {
	struct needed_piece piece;
	u64 place; /* window_place() */
	bool is_jit;
};

/* Samples in a row are of few mappings. */
enum { NOTED_PIECES = 64 };

/* An address in code that a process made; interned as bytes. */
struct jit_place {
	u64 address;
	u32 process, pid;
};

/* Under which build id the names of a process's own code are kept. */
struct jit_id {
	u32 process;
	struct build_id id;
};

/* How a chain is interned: how many frames, how many of the kernel among them, their addresses. */
struct chain_head {
	u32 count, kernel_count;
};

struct window {
	struct event_sink sink; /* first: both have one address */
	struct window_settings settings;
	struct seen_files files;
	struct tasks *tasks;
	struct kernel_pieces kernel;
	struct window_cgroups cgroups;
	u64 start_ns, end_ns;
	u64 first_ns, last_ns;	     /* of the samples that are added up; first > last: none is */
	u64 living_bytes;	     /* that processes took when the window began */
	VEC(struct pending) pending; /* in order of coming, and so are their frames */
	VEC(u64) pending_frames;     /* addresses */
	struct intern keys;	     /* id → struct sum_key; sums in the same order */
	VEC(struct sum) sums;
	struct intern chains; /* id → struct chain_head and addresses, as they are told: those
			       * of files at seen_files_place() */
	struct idmap needed_lives; /* which samples are of, and which names they have */
	struct idmap needed_names;
	struct intern needed_pieces;
	struct noted_piece noted[NOTED_PIECES]; /* of these, some of the last that were needed */
	struct intern jit_places;
	struct idmap jit_processes;
	VEC(struct jit_id) jit_ids; /* by process, from window_identify() on */
	u32 compact_files_at;	    /* how many files are worth a look at who is needed */
	u64 chain_bytes, told_bytes, samples, samples_dropped, mappings_dropped;
};

/* How a sample is told. */
struct needed {
	u32 name; /* that the thread had */
	u32 chain;
	u64 address;
};

/* Notes what readers have to know of a sample of that life. */
struct needed window_need(struct window *window, const struct pending *sample, u32 life);
/* The processes, by pid, of which it has to be told when something happened: what is told of the
 * others may be told as if it had always been so. The caller releases `ret_timed`. */
void window_find_timed(const struct window *window, struct idmap *ret_timed);
/* Finds out which files are not what their mappings say any more, and under which build ids names
 * of code that processes made are kept. */
void window_identify(struct window *window);
/* Tells where samples lie in files; after window_identify(). */
void window_tell_code(const struct window *window);
/* The build id that a piece is told with. */
void window_fill_id(const struct window *window, const struct needed_piece *piece,
		    struct mapping *mapping);
/* The addresses of a chain. */
struct chain_head window_chain(const struct window *window, u32 chain, const u8 **ret_addresses);
/* Where the piece is told to begin. */
u64 window_place(const struct window *window, const struct needed_piece *piece);
/* A row of `needed_pieces`. */
struct needed_piece window_piece(const struct window *window, u32 row);
/* The piece as a mapping of its process; its path lives until window_turn(). */
struct mapping window_mapping(const struct window *window, const struct needed_piece *piece);

#endif
