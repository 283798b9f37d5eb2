/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads any perf.data: file and pipe mode, both byte orders, compressed, perf's or ours.
 *
 * What is damaged is passed over and said: a cut file gives all whole records before the cut.
 */
#ifndef PERFDATA_READER_H
#define PERFDATA_READER_H

#include "base/cursor.h"
#include "base/text.h"
#include "bpfprof/counters.h"
#include "event/event.h"
#include "perfdata/details.h"

#include <stdio.h>

struct build_id;
struct perfdata;

/* Events that were counted together: rows of the sources, from the leader on. */
struct event_group {
	const char *name; /* NULL: it has none */
	u32 leader, members;
};

/* What the header says. Strings are NULL where the file does not; all borrowed until
 * perfdata_close(). */
struct perfdata_header {
	const char *hostname, *os_release, *version, *arch, *cpu_description, *cpu_id;
	const char *const *command_line;
	u32 command_words;
	u32 cpus_online, cpus_available;
	u64 memory_kb;
	u64 first_sample_ns, last_sample_ns; /* SAMPLE_TIME; 0: not there */
	u64 file_bytes;
	s64 captured_s; /* mtime of the file, seconds since 1970 */
	bool is_pipe, is_swapped, is_compressed, is_ours;
	bool has_branch_feature; /* recorded to look at branches (-b), not at call stacks */
	u32 branch_depth;	 /* capability "branches" of the PMU; 0: unknown */
	const s32 *sockets;	 /* package of each CPU, from 0; NULL: not told */
	u32 socket_count;
	const struct event_group *groups;
	u32 group_count;
	bool has_clock; /* CLOCK_DATA */
	u32 clock_id;
	u64 wall_clock_ns, clock_ns; /* the same moment by both clocks */
	bool idle_skipped;	     /* ours: samples of the idle task were left out */
};

/*
 * Opens a recording and reads its header.
 *
 * path     a file, or "-" for a stream on stdin
 * ret_data perfdata_close() it
 * Returns 0 or a negative errno with a sentence: -EBADMSG (not perf.data, empty, header damaged),
 * or why opening failed.
 */
int perfdata_open(const char *path, struct perfdata **ret_data);
/* The same of one of many recordings: up to 64 MiB of it are read into memory, not mapped. Where a
 * block of it cannot be read that is an error (-EIO), and does not end the program. */
int perfdata_open_window(const char *path, struct perfdata **ret_data);
/* The same for bytes in memory (tests, fuzzing), which must outlive it; perfdata_listen() is
 * possible. */
int perfdata_open_bytes(struct bytes bytes, struct perfdata **ret_data);
/* Closes; NULL is fine. */
void perfdata_close(struct perfdata *data);
/* For CLEANUP. */
void perfdata_closep(struct perfdata **data);

/* Borrowed until perfdata_close(). */
const struct perfdata_header *perfdata_header(const struct perfdata *data);
/* The path and build id of row `row` of those that the file lists beside its records, mostly of all
 * that samples are of; false: there is no such row. `ret_path` is borrowed until perfdata_close().
 */
bool perfdata_listed_binary(const struct perfdata *data, u32 row, const char **ret_path,
			    struct build_id *ret_id);
/* The rows that samples refer to. Borrowed until perfdata_close(). */
const struct event_source *perfdata_sources(const struct perfdata *data, u32 *ret_count);

/*
 * Hands every event to `sink`, in order of time. Build ids of the BUILD_ID section are attached to
 * mappings that have none of their own.
 * Returns 0; what the sink returned; -EBADMSG with a sentence if the file is cut or damaged (all
 * that is whole has been handed over, on_end included).
 */
int perfdata_read(struct perfdata *data, struct event_sink *sink);

/*
 * Says that whoever will read wants no chain that his knows_chain() does not refuse to do without.
 * Samples then have no chain_key, and most of their bytes are never read. Before the first reading.
 */
void perfdata_skip_chains(struct perfdata *data);

/*
 * Says that whoever will read only counts samples: he does not hear of processes that no sample is
 * of, unless they started one that some is, but for what matters to all. Before the first reading.
 */
void perfdata_skip_bystanders(struct perfdata *data);

/* Says that the next reading is the last one: what only reading needs is given back as it goes
 * and when it is over. */
void perfdata_read_once(struct perfdata *data);

/*
 * The rest of what a sample's record holds, for a sample that perfdata_read() hands over.
 *
 * NULL if it is none of this recording's. Borrowed until the next call.
 */
const struct sample_details *perfdata_details(struct perfdata *data, const struct sample *sample);

/* From now on `show` hears how far perfdata_read() has come, in records: cheap, or it slows that.
 */
void perfdata_on_progress(struct perfdata *data,
			  void (*show)(const char *what, u64 done, u64 total));

/* Things passed over (unknown records or features), one line each; "" if none. Borrowed. */
const char *perfdata_warnings(const struct perfdata *data);

/* The header as `perf report --header-only` shows it; `has_all`: as it does with -I. */
void perfdata_print_header(const struct perfdata *data, bool has_all, FILE *out);

/* What of our own recordings is kept beside the standard records. */
struct perfdata_extra {
	u64 losses[COUNTERS_MAX];      /* by enum counter, as of the last flush */
	u64 cost_user_ns, cost_bpf_ns; /* what recording cost */
	u64 wall_ns;
};
/* NULL if the file is not ours. Complete after perfdata_read(). */
const struct perfdata_extra *perfdata_extra(const struct perfdata *data);

#endif
