/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every record of a recording as it stands in the file, for those who print records.
 */
#ifndef PERFDATA_RECORDS_H
#define PERFDATA_RECORDS_H

#include "base/cursor.h"

#include <stdio.h>

struct perfdata;

struct perfdata_record {
	struct bytes bytes; /* all of it, header included */
	u64 offset; /* in the file; of the block, if it was compressed; in a pipe, behind the
		     * header */
	u32 type;   /* PERF_RECORD_* */
	u16 misc;
	bool has_events; /* some event was described in front of it */
	/* As its trailer, or a sample itself, says: ~0u and 0 if not. */
	u32 source, pid, tid, cpu;
	u64 time_ns, id;
};

/* Hears of every record, before and after what it means has been handed to the sink; members may be
 * NULL. 0 to go on, negative errno (with a sentence) to stop. */
struct perfdata_listener {
	int (*before)(struct perfdata_listener *self, const struct perfdata_record *record);
	int (*after)(struct perfdata_listener *self, const struct perfdata_record *record);
};

enum perfdata_order {
	ORDER_DELIVERED, /* as perf hands them on: rounds sorted by time */
	ORDER_IN_FILE,
};

/* As perfdata_open(), and perfdata_listen() is possible. */
int perfdata_open_listed(const char *path, struct perfdata **ret_data);

/* From now on perfdata_read() tells `listener` (NULL: nobody) of every record, and goes through
 * them in this order. */
void perfdata_listen(struct perfdata *data, struct perfdata_listener *listener,
		     enum perfdata_order order);

/* What a record says, as perf's --show-mmap-events and the like print it: "PERF_RECORD_COMM: …". */
void perfdata_print_record(const struct perfdata *data, const struct perfdata_record *record,
			   FILE *out);

/* A record in hexadecimal and in words, as perf's --dump-raw-trace prints it. */
void perfdata_dump_record(struct perfdata *data, const struct perfdata_record *record, FILE *out);

/* What records of a type are called, without "PERF_RECORD_"; NULL: it is none we know. Static. */
const char *perfdata_record_name(u32 type);

/* What a counter of a thread had counted when the thread ended (READ records, of perf record -s).
 */
struct counter_reading {
	u32 pid, tid;
	u32 source; /* row of the sources */
	u64 value;
};

/* Reads a READ record; false: it is none, or of no event of the recording. */
bool perfdata_read_counter(const struct perfdata *data, const struct perfdata_record *record,
			   struct counter_reading *ret_reading);
/* How many samples a LOST_SAMPLES record says were lost; 0 of others. */
u64 perfdata_read_lost_samples(const struct perfdata *data, const struct perfdata_record *record);

/* The thread that a record is of: the one it speaks of, or on which it was written; ~0u: none. */
u32 perfdata_record_thread(const struct perfdata *data, const struct perfdata_record *record);

/* The name of a register by the kernel's number, on the processor of the recording; "unknown" if it
 * is not known. Static. */
const char *perfdata_register_name(const struct perfdata *data, u32 number);

#endif
