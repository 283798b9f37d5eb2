/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording consists of, for the files that are it. Private to them.
 */
#ifndef CAPTURE_CAPTURE_STATE_H
#define CAPTURE_CAPTURE_STATE_H

#include "capture/bpf_object.h"
#include "capture/capture.h"
#include "capture/cgroup_teller.h"
#include "capture/counting.h"
#include "capture/side_log.h"

enum { LOOKED_FILES = 256 };

/* A file that was identified, and until when that will do; see side_band_file(). */
struct looked_file {
	u64 file, until_ns;
};

struct capture {
	struct capture_settings settings;
	struct targets *targets;
	struct programs *programs;
	struct perf_events *events;
	struct file_ids *files;
	struct side_band *side_band;
	struct side_log *side_log; /* NULL: what it tells is told at once */
	struct ring *ring;
	struct unwind_tables *unwind;	 /* NULL: stacks are not taken by tables */
	struct late_stacks *late_stacks; /* likewise */
	struct cgroup_teller *cgroups;	 /* NULL: samples are of none */
	struct counting *counting;	 /* NULL: every sample comes by itself */
	struct event_sink *tables_sink;	 /* NULL: there are no tables */
	struct event_sink *tee;		 /* to the caller's sink and the tables' */
	struct event_sink *over_sink;	 /* of what is told of processes that are over */
	int epoll_fd;
	struct event_sink *sink;	/* the caller's, behind the targets' */
	struct event_sink *kernel_sink; /* the caller's, for modules */
	struct module_watch *modules;
	u32 *online;
	size_t online_count;
	struct cpus_watch *cpus_watch;
	u64 next_cpu_check_ns;
	u64 started_ns; /* 0: it is not */
	bool is_stopped;
	bool has_turned; /* and what is kept of processes waits to be told */
	struct looked_file looked[LOOKED_FILES]; /* by number */
	u32 branch_depth;
	u64 *idle_ns; /* by CPU, as of capture_start() */
	u64 unscanned, unfollowed;
	u64 cpus_late;		 /* times that a CPU was opened while it ran already */
	u64 expected;		 /* as of capture_stop() */
	u64 late[COUNTER_COUNT]; /* likewise: what never reached a program */
};

/* Lets capture_fd() become readable when `fd`, borrowed, does. Returns 0 or a negative errno with a
 * sentence. */
int capture_watch(const struct capture *capture, int fd);
/* Opens what is watched on the CPUs that are online. Returns 0 or a negative errno with a sentence.
 */
int capture_open_cpus(struct capture *capture);
/* Closes what CPUs that went offline left behind, opens those that came or were away, and tells
 * what has been started there meanwhile. Mostly there is none, and a few microseconds show that.
 * Drain before. Returns 0, what the sink returned, or a negative errno with a sentence. */
int capture_follow_cpus(struct capture *capture);

/* Decides how samples are counted, if they are. Returns 0 or a negative errno with a sentence. */
int capture_plan_counting(const struct capture *capture, struct program_settings *settings);
/* Opens the tables that were planned. Returns 0 or a negative errno with a sentence. */
int capture_open_counting(struct capture *capture);

/* Takes what has come through the ring, and what the kernel tells about processes until
 * `until_ns`. Returns 0 or what the sink returned. */
int capture_drain_until(struct capture *capture, u64 until_ns);

/* Takes in what the kernel tells about processes until `until_ns`: keeps it, or tells it. Returns 0
 * or what the sink returned. */
int capture_drain_side_band(struct capture *capture, u64 until_ns);
/* Tells all that is kept about processes. Returns 0 or what the sink returned. */
int capture_tell_kept(struct capture *capture);
/* Tells what is kept about processes, if samples were handed over since that was done last. Returns
 * 0 or what the sink returned. */
int capture_tell_side_log(struct capture *capture);

/* Drains all there is, with what has been counted since the last turn. Returns 0 or what the sink
 * returned. */
int capture_drain_counts(struct capture *capture, u64 until_ns);

#endif
