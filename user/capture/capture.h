/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The live kernel as a producer of events: BPF programs on perf events for samples, a dummy perf
 * event on each CPU for everything about processes. Only this folder knows libbpf and the skeleton.
 *
 * The order of calls: capture_open, capture_start, capture_drain as often as capture_fd is readable
 * or a quarter of a second has passed, capture_turn as often as a window of counts is wanted,
 * capture_stop, capture_close.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "event/event.h"

#include "bpfprof/counters.h"
#include "bpfprof/unwind_table.h"
#include "capture/confined_files.h"
#include "capture/event_parser.h"
#include "capture/features.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct proof_record;

/* How user stacks are taken. */
enum call_graph {
	CALL_GRAPH_AUTO,  /* by unwind tables, and by frame pointers where there are none */
	CALL_GRAPH_DWARF, /* by unwind tables only */
	CALL_GRAPH_FP,	  /* by frame pointers only */
	CALL_GRAPH_NONE,
};

/* A window of counts, if nobody says how long. */
#define AGGREGATE_WINDOW_NS 60000000000ULL

enum {
	UNWIND_BYTES_MIN = UNWIND_SEGMENT_BYTES,
	UNWIND_BYTES_MAX = UNWIND_SEGMENTS_MAX * UNWIND_SEGMENT_BYTES,
	UNWIND_BYTES_DEFAULT = 64 << 20,
};

/* Who is profiled. Lists are borrowed until capture_close(). */
struct capture_targets {
	bool all;	 /* -a; the default if nothing else is named */
	const u32 *cpus; /* -C; none: all online, also those that come later */
	size_t cpu_count;
	const u32 *pids, *tids;
	size_t pid_count, tid_count;
	const char *cgroup; /* path, NULL: none */
	bool has_uid;
	u32 uid;
	char *const *command; /* argv of a program to start, ends with NULL; NULL: none */
	bool stdout_is_taken; /* the recording goes there: the command's goes to stderr */
	bool no_inherit;      /* do not follow children and new threads */
};

struct capture_settings {
	struct capture_targets targets;
	const struct parsed_event *events; /* from events_parse(); at least one */
	size_t event_count;
	enum call_graph call_graph;
	u32 max_stack;	    /* frames of the user and of the kernel stack, 1 … 127 … 512 */
	u64 ring_bytes;	    /* 0: by rate and CPUs */
	u64 unwind_bytes;   /* for unwind tables in the kernel; 0: UNWIND_BYTES_DEFAULT */
	bool wants_idle;    /* keep samples of the idle task */
	bool wants_cgroups; /* samples say of which cgroup they are, where the kernel tells */
	bool aggregate;	    /* count samples that are alike in the kernel; see capture_turn() */
	/* With `aggregate`: what the kernel says of processes is kept until the next turn, in about
	 * so much memory (see capture_wants_turn()), and of those that began and ended meanwhile
	 * without a sample nothing is told. 0: all is told at once. */
	u64 kept_bytes;
	u64 window_ns;	 /* how long it counts between two turns; 0: AGGREGATE_WINDOW_NS */
	u64 count_bytes; /* of kernel memory to count in, at most; 0: 256 MiB */
	/* PERF_SAMPLE_BRANCH_* of the branch stacks to record, 0: none; and more of them, which are
	 * left out where the kernel refuses them. capture_sources() says what is left. */
	u64 branch_bits, branch_extras;
	/* For checking our stacks against others': what the stack of the sample before was walked
	 * from (bpfprof/event.h; borrowed during the call). NULL: nothing is copied. */
	void (*on_proof)(void *context, const struct proof_record *proof);
	void *proof_context;
	/* Hears of each file once, when the first stack comes through it: its process may end any
	 * moment, and what is only counted comes much later. Only where stacks are walked by unwind
	 * tables, and not of what is read before the start. Of the mapping its pid is known,
	 * and, if not "" and 0 bytes, its path and build id; it and `fd` are borrowed for the call.
	 * NULL: nobody. */
	void (*on_file)(void *context, const struct mapping *mapping, int fd);
	void *file_context;
	/* Reads binaries for their build ids and call frame information, with
	 * confined_files_works. Borrowed; NULL: they are read by this process. */
	struct confined *file_reader;
};

/* Unwind tables that the kernel holds for the programs. */
struct unwind_totals {
	u64 tables, rows, files; /* several files may share a table */
	u64 kernel_bytes;	 /* of tables */
	u64 evicted;		 /* files that made room for others: they were not used */
};

/* What is known at the end. Everything seen by the programs is in exactly one of sent, skipped and
 * lost; the rows are those of include/bpfprof/counters.h. */
struct capture_totals {
	u64 counters[COUNTERS_MAX]; /* by enum counter, summed over CPUs */
	u64 overflows_expected;	    /* from the perf counters: count / period, per event and CPU */
	u64 bpf_ns;		    /* time in our BPF programs, 0 if the kernel does not tell */
	struct unwind_totals unwind;
};

struct capture;

/*
 * Loads the programs and opens the events, stopped; starts the command, held before its exec.
 * Returns 0 or a negative errno with a sentence.
 */
int capture_open(const struct capture_settings *settings, struct capture **ret_capture);

/* The rows that samples refer to, with kernel event ids. Borrowed until capture_close(). */
const struct event_source *capture_sources(const struct capture *capture, u32 *ret_count);

/* How many branch records a CPU has, as the kernel says; 0: it does not. No stack has more. */
u32 capture_branch_depth(const struct capture *capture);

/* Hands the kernel, its modules and the processes that run to `sink` (which must outlive the
 * capture), then enables the events and lets the command go. Returns 0 or a negative errno. */
int capture_start(struct capture *capture, struct event_sink *sink);

/* When the events were enabled, CLOCK_MONOTONIC; 0: they were not. */
u64 capture_started_ns(const struct capture *capture);

/* Becomes readable (poll) when it is time to drain; borrowed. */
int capture_fd(const struct capture *capture);

/* Hands over all that has arrived, and then on_round(). Call it at least once a second, and more
 * often if files of processes that end soon are to be found without unwind tables asking for them.
 * Returns 0 or what the sink returned. */
int capture_drain(struct capture *capture);

/*
 * Ends a window of counts and begins the next: drains, and hands over what was counted since the
 * last turn, as samples with a `count` and the time of their last; capture_stop() does it once
 * more. Without `aggregate` nothing is counted. Takes some milliseconds.
 * Returns 0 or what the sink returned.
 */
int capture_turn(struct capture *capture);
/* Whether a turn is due before its time: many processes began since the last one, and more is kept
 * than `kept_bytes`. */
bool capture_wants_turn(const struct capture *capture);

/* From now on events that have a rate (not a period) come so often, on all CPUs alike. Returns 0,
 * or a negative errno with a sentence: some may have it and some not. */
int capture_set_rate(struct capture *capture, u32 hz);

/* The pid of the command, 0 if there is none. */
pid_t capture_command(const struct capture *capture);
/* Whether all profiled pids and tids have ended (never for -a, -C, cgroups). */
bool capture_targets_ended(struct capture *capture);

/* Disables the events, drains what is left and reads the totals. Returns 0 or what the sink said.
 */
int capture_stop(struct capture *capture);
/* What overflowed and no program saw, timers that did not fire among it, is known as of now, and
 * not only as of capture_stop(). Asks each CPU for its counters. */
void capture_reckon(struct capture *capture);
/* As of the last capture_drain() or capture_stop(); what no program saw as of capture_reckon(). */
void capture_totals(struct capture *capture, struct capture_totals *ret_totals);

/* Detaches, closes and frees; NULL is fine. */
void capture_close(struct capture *capture);

#endif
