/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What report shows of records in place of samples: --stats, --tasks, --mmaps, and with -T what the
 * counters of threads had counted.
 */
#ifndef CMD_REPORT_RECORDS_H
#define CMD_REPORT_RECORDS_H

#include "base/intern.h"
#include "base/vec.h"
#include "perfdata/perfdata.h"

enum records_shown {
	RECORDS_NONE,
	RECORDS_COUNTED,   /* --stats */
	RECORDS_AS_TASKS,  /* --tasks */
	RECORDS_WITH_MAPS, /* --mmaps */
};

/*
 * Prints that of the recording at `path` ("-": a stream on stdin).
 *
 * Returns 0, or a negative errno with a sentence: as perfdata_open() and perfdata_read(), after
 * what could be read has been printed.
 */
int report_print_records(const char *path, enum records_shown shown, FILE *out);

/* What counters of threads had counted: perf record -s. */
struct thread_counters {
	VEC(struct counter_reading) readings; /* summed, in the order of the file */
	struct intern keys;		      /* of thread and event: its row, from 1 */
};

/* Reads a recording that perfdata_open_listed() opened, for its counters alone. What is damaged is
 * said when it is read for its samples. thread_counters_release() it. */
void thread_counters_read(struct perfdata *data, struct thread_counters *ret_counters);
/* Prints them as a table; nothing if there are none. */
void thread_counters_print(const struct thread_counters *counters, const struct perfdata *data,
			   FILE *out);
/* Frees the contents. */
void thread_counters_release(struct thread_counters *counters);

#endif
