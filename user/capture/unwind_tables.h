/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables for the BPF programs: they ask for the files that samples lie in, and get tables.
 */
#ifndef CAPTURE_UNWIND_TABLES_H
#define CAPTURE_UNWIND_TABLES_H

#include "bpfprof/event.h"
#include "capture/bpf_object.h"
#include "capture/capture.h"
#include "event/event.h"

#include <stdbool.h>

struct confined;
struct unwind_tables;

/* Makes the tables of a recording that uses these maps, and puts in the vDSO's. Returns 0 or a
 * negative errno with a sentence. */
int unwind_tables_open(const struct unwind_maps *maps, struct unwind_tables **ret_tables);
/* Closes and frees; NULL is fine. The maps are cleared with the programs. */
void unwind_tables_close(struct unwind_tables *tables);

/* Lets somebody have each file that a stack has come into, as capture_settings.on_file. */
void unwind_tables_on_file(struct unwind_tables *tables,
			   void (*on_file)(void *context, const struct mapping *mapping, int fd),
			   void *context);

/* Lets somebody else read files from now on, who does confined_files_works; borrowed. Whoever ends
 * over a file is counted. NULL: nobody else. */
void unwind_tables_read_elsewhere(struct unwind_tables *tables, struct confined *reader);

/* Which files get their tables before they are asked for. */
enum prefetch_rule {
	PREFETCH_MAPPED,  /* all that the processes of the start-up scan have mapped */
	PREFETCH_RUNNING, /* only of those that were running */
};

/* A sink that learns from mappings where files are. Until unwind_tables_started() they are read as
 * they come, as long as that takes little time. Lives as long as the tables. */
struct event_sink *unwind_tables_sink(struct unwind_tables *tables, enum prefetch_rule rule);
/* The start-up scan is over. Of mappings that follow only those of this process (0: of none) are
 * read before they are asked for. */
void unwind_tables_started(struct unwind_tables *tables, u32 command);

/* The programs ask for a file. It is opened now, while its process lives, and read by and by. */
void unwind_tables_want(struct unwind_tables *tables, const struct file_wanted *wanted);
/* Readable while there are files to read. Borrowed. */
int unwind_tables_fd(const struct unwind_tables *tables);
/* Reads files that were asked for, the smallest first, for some 30 ms or until one is done: the
 * largest takes 60 ms, and the ring holds what comes meanwhile. Call it after every drain.
 *
 * now_ns  CLOCK_MONOTONIC */
void unwind_tables_work(struct unwind_tables *tables, u64 now_ns);

/*
 * The key of a mapping's file, for those who cannot ask the programs. Opens it if it is not known
 * yet, and asks for its table.
 *
 * mapping  with its inode, or a build id instead
 * Returns 0, -EAGAIN (too many files are open just now) or another negative errno, without a
 * sentence.
 */
int unwind_tables_identify(struct unwind_tables *tables, const struct mapping *mapping,
			   struct unwind_file_key *ret_key);
/* How it is with the table of a file. Fills `ret_place` if that is there. */
enum unwind_file_state unwind_tables_find(const struct unwind_tables *tables,
					  const struct unwind_file_key *key,
					  struct unwind_place *ret_place);
/* An unwind_read_chunk; `tables` are unwind_tables. */
const u32 *unwind_tables_read_chunk(void *tables, u32 chunk);
/* Nothing of that will be asked for soon. */
void unwind_tables_stop_reading(struct unwind_tables *tables);

/* What is there, and what went wrong so far: that is added to `counters`, by enum counter. */
struct unwind_totals unwind_tables_totals(const struct unwind_tables *tables, u64 *counters);

#endif
