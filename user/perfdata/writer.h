/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that writes perf.data which stock perf reads, at any instant.
 *
 * After every flush the file is whole: data.size and the table of features are true, also if the
 * next thing that happens is SIGKILL. Stack provenance and losses of ours travel where perf looks
 * away: unused bits of a sample's misc field, and records of the deprecated type 65.
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include "event/event.h"
#include "host/host.h"
#include "perfdata/reader.h"

struct perfdata_writer_settings {
	const char *path;	 /* "-": pipe mode on stdout */
	const char *path_remedy; /* what to do if nothing can be made there; NULL: not known */
	const struct event_source *sources;
	u32 source_count;
	const char *const *command_line; /* argv, argc words */
	int command_words;
	bool compress;		     /* zstd */
	int compress_level;	     /* 0: 1 */
	bool compress_small;	     /* compressor_stay_small() */
	u32 clock_id;		     /* of all times: CLOCK_MONOTONIC */
	u64 wall_clock_ns, clock_ns; /* the same moment by both clocks */
	u32 frequency_hz;	     /* for readers that scale; 0: by period */
	bool idle_skipped;
	bool without_build_id_list; /* mappings tell build ids, which Linux 5.12 and later read */
	u32 branch_depth;	    /* 0: no LBR call stacks */
	const struct machine *machine; /* NULL: looked at when the file is opened */
};

struct perfdata_writer;

/*
 * Creates the file, mode 0600; one that is there becomes PATH.old first.
 * Returns 0 or a negative errno with a sentence.
 */
int perfdata_writer_open(const struct perfdata_writer_settings *settings,
			 struct perfdata_writer **ret_writer);
/* The sink; lives as long as the writer. Its on_round() ends a sorted round. */
struct event_sink *perfdata_writer_sink(struct perfdata_writer *writer);
/* Makes what came so far durable against SIGKILL. Call at least once a second.
 * Returns 0 or a negative errno with a sentence (-ENOSPC); after an error the file still opens, and
 * what does not fit is dropped and counted: perfdata_writer_dropped(). */
int perfdata_writer_flush(struct perfdata_writer *writer);
/* Keeps what readers will find as perfdata_extra(); written with the next flush. */
void perfdata_writer_set_extra(struct perfdata_writer *writer, const struct perfdata_extra *extra);
/* Samples that were dropped because the disk was full. */
u64 perfdata_writer_dropped(const struct perfdata_writer *writer);
/* Bytes in the file so far. */
u64 perfdata_writer_bytes(const struct perfdata_writer *writer);
/* Writes what is left and ends the file (features, build ids). What finds no room is dropped, and
 * perfdata_writer_dropped() is final. Hand over nothing afterwards. Returns 0 or a negative errno
 * with a sentence; the file opens in any case. */
int perfdata_writer_end(struct perfdata_writer *writer);
/* Ends the file, if that has not been done, and frees. Returns 0 or a negative errno with a
 * sentence; the writer is gone in any case. NULL is fine. */
int perfdata_writer_close(struct perfdata_writer *writer);

#endif
