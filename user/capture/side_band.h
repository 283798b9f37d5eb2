/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel tells about processes: a dummy perf event on each CPU, whose ring receives
 * mappings, names, forks, exits, kernel symbols and BPF programs.
 */
#ifndef CAPTURE_SIDE_BAND_H
#define CAPTURE_SIDE_BAND_H

#include "event/event.h"
#include "host/host.h"

#include <stdbool.h>

struct side_band;

/* Where the build ids of mappings come from. */
struct mapping_ids {
	/* The event asked for them. If not, a record's mark that it holds one means nothing: it
	 * leaks from events of other tools. */
	bool from_kernel;
	struct file_ids *files; /* of the other mappings; borrowed; NULL: they have none */
};

/*
 * No CPU is open yet.
 *
 * cpu_count  decides how large each ring is
 * ids        from_kernel only where that leaves the records of other tools alone: see
 *            probe_mmap_build_id()
 */
struct side_band *side_band_new(u32 cpu_count, struct mapping_ids ids);
/* Closes and frees; NULL is fine. */
void side_band_free(struct side_band *side_band);

/* Opens the event of one CPU, running. Returns 0; -ENODEV (no sentence): the CPU is offline; or a
 * negative errno with a sentence. */
int side_band_open_cpu(struct side_band *side_band, u32 cpu);
/* Notes how long each event has run, for side_band_goes_on(). Asks each CPU. */
void side_band_look(struct side_band *side_band);
/* Whether the event of a CPU has run since the last look, some microseconds ago or more. From a CPU
 * that goes offline the kernel takes its events, for good: they stand still when it is back. */
bool side_band_goes_on(const struct side_band *side_band, u32 cpu);
/* Forgets a CPU that went offline; drain first. */
void side_band_close_cpu(struct side_band *side_band, u32 cpu);
/* The event of a CPU, for poll and as output of others; -1 if it is not open. Borrowed. */
int side_band_fd(const struct side_band *side_band, u32 cpu);

/* Hands what is older than `until_ns` to `sink`, sorted by time over all CPUs. Returns 0 or what
 * the sink returned. */
int side_band_drain(struct side_band *side_band, u64 until_ns, struct event_sink *sink);

/* A record as the kernel wrote it, borrowed for the call; returns 0, or what ends the telling. */
typedef int side_band_take(void *context, const void *record, size_t bytes);
/* Hands over records in the same order as side_band_drain() does, for side_band_tell() later.
 * Returns 0 or what `take` returned. */
int side_band_each(struct side_band *side_band, u64 until_ns, side_band_take *take, void *context);
/* One of those as an event. Returns 0 or what the sink returned. */
int side_band_tell(struct side_band *side_band, const void *record, size_t bytes,
		   struct event_sink *sink);

/* A number for the file of a mapping that side_band_each() hands over, which other files do not
 * have but by an accident of hashing; 0: the record does not tell. */
u64 side_band_file(const struct side_band *side_band, const void *record, size_t bytes);

struct side_band_counts {
	u64 lost;      /* records that found no room */
	u64 malformed; /* records that were not understood */
	u64 throttled; /* times a sampling event was throttled */
};

/* So far. */
struct side_band_counts side_band_counts(const struct side_band *side_band);

enum { SIDE_BAND_LEAST_BYTES = 32 }; /* of a record: its header and trailer */

/* When a record of a dummy event was written; `bytes`, its size, is SIDE_BAND_LEAST_BYTES or more.
 */
u64 side_band_time(const void *record, size_t bytes);

/*
 * One record of a dummy event (trailer: tid, time, cpu) as an event.
 *
 * counts  what is not an event for the sink is added here
 * Returns 0 or what the sink returned; malformed records are counted.
 */
int side_band_decode(const void *record, size_t bytes, const struct mapping_ids *ids,
		     struct event_sink *sink, struct side_band_counts *counts);

#endif
