/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person can say to record, as it was typed. Private to this folder.
 */
#ifndef CMD_RECORD_SETTINGS_H
#define CMD_RECORD_SETTINGS_H

#include "capture/capture.h"
#include "cli/cli.h"

#define WINDOW_MIN_NS 1000000000ULL

enum { FREQUENCY_DEFAULT_HZ = 99, MAX_STACK_DEFAULT = 127, COMPRESS_LEVEL_DEFAULT = 1 };

struct record_settings {
	bool all, no_inherit, wants_idle, all_user, all_kernel, all_cgroups;
	struct text_list cpus, pids, tids, events;
	const char *cgroup, *user;
	u32 frequency_hz; /* 0: not given */
	bool is_frequency_max;
	u64 period; /* events; 0: not given */
	enum call_graph call_graph;
	bool has_call_graph; /* asked for, so also where it is not the default: with branches */
	bool wants_lbr;	     /* and call_graph, which it completes */
	bool no_stitch;
	u64 branch_bits;    /* of -b and -j: PERF_SAMPLE_BRANCH_*; 0: none */
	bool has_copy_size; /* as perf's --call-graph dwarf,8192 */
	u32 max_stack;
	const char *output;
	bool has_compression; /* asked for, also where it is not the default: for a stream */
	u32 compress_level;   /* of zstd; 0: none */
	u64 duration_ns;      /* 0: until it is ended */
	bool aggregate;
	u64 window_ns;	/* that it counts; 0: not given */
	u64 ring_bytes; /* 0: by rate and CPUs */
	u64 unwind_bytes;
	bool quiet, verbose;
	bool as_ever; /* options of perf record that ask for what we do anyway */
};

extern const struct option_row record_options[];
extern const struct record_settings record_defaults;

#endif
