/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples as text, one after the other, in perf script's layout.
 */
#ifndef CMD_SCRIPT_PRINT_H
#define CMD_SCRIPT_PRINT_H

#include "base/text.h"
#include "cmd/script_fields.h"
#include "profile/profile.h"
#include "symbolize/symbolize.h"

#include <stdio.h>

/* Which times are printed. */
enum script_times {
	SCRIPT_TIMES_RECORDED,
	SCRIPT_TIMES_SINCE_FIRST,
	SCRIPT_TIMES_SINCE_PREVIOUS, /* of the lines that are printed */
};

/* Records that are printed beside samples. */
enum script_records {
	SHOW_TASKS = 1 << 0, /* threads that begin, end, are renamed */
	SHOW_MAPPINGS = 1 << 1,
	SHOW_SWITCHES = 1 << 2,
	SHOW_NAMESPACES = 1 << 3,
	SHOW_CGROUPS = 1 << 4,
	SHOW_LOSSES = 1 << 5,
	SHOW_BPF = 1 << 6,
	SHOW_ROUNDS = 1 << 7,
};

/* Lists are comma-separated; NULL: all, or for `last_frames` none. */
struct script_layout {
	struct script_fields fields;
	bool hide_chains;	 /* the sampled address alone, on the sample's line */
	bool is_ns;		 /* nine digits of a second, not six */
	bool is_latency;	 /* short columns, as perf script -L */
	bool dumps;		 /* every record in hexadecimal and in words */
	u8 times;		 /* enum script_times */
	u32 shows;		 /* enum script_records */
	u32 max_stack;		 /* innermost frames shown; 0: all */
	u32 max_blocks;		 /* of code shown, the last ones; 0: all */
	bool full_source_path;	 /* source files with their folders */
	const char *comms;	 /* only samples of threads of these names */
	const char *dsos;	 /* … in these binaries, by path or by its last part */
	const char *symbols;	 /* … in these functions */
	const char *symfs;	 /* where files are looked for, with code to print */
	const char *last_frames; /* a chain ends with one of these functions */
};

struct script_printer;
struct script_names;

/* Where text goes whose turn it is not yet. */
struct script_outlet {
	/* Takes what was printed and leaves nothing of it. Returns 0 or a negative errno. */
	int (*write)(struct script_outlet *self, struct text *text);
	/* Returns when all has been printed that comes before. */
	void (*wait)(struct script_outlet *self);
};

/*
 * Prints to `out` what comes into its sink, which needs all events of a recording.
 *
 * layout            its fields have been checked against `data`
 * data, names, out  borrowed
 * Free with script_printer_free().
 */
struct script_printer *script_printer_new(const struct script_layout *layout, struct perfdata *data,
					  struct script_names *names, FILE *out);
/* Lets text go to `outlet` (borrowed) in place of the stream, not before there are so many bytes.
 * For a printer whose lines script_lines_stand_alone(). */
void script_printer_divert(struct script_printer *printer, struct script_outlet *outlet,
			   size_t bytes);
/* What was printed and went nowhere yet. Borrowed from the printer, for who has diverted it. */
struct text *script_printer_text(struct script_printer *printer);
/* Whether all that is printed of a sample follows from the sample, who ran and what was mapped. */
bool script_lines_stand_alone(const struct script_layout *layout, const struct perfdata *data);
/*
 * Lets it tell what tracepoints say, if that is printed. In a guarded process (cmd/guarded.h).
 *
 * Returns 0 or a negative errno with a sentence; after -EBADMSG it can tell a part of them.
 */
int script_printer_read_formats(struct script_printer *printer);
/* Whether that is printed of some event. */
bool script_tells_tracepoints(const struct script_fields *fields, const struct perfdata *data);
/* What follows processes, and what prints; feed both, in this order (a tee does). They live as long
 * as the printer. */
struct event_sink *script_printer_follower(struct script_printer *printer);
/* See script_printer_follower(). */
struct event_sink *script_printer_sink(struct script_printer *printer);
/* What hears of every record: needed where others than samples are printed. Lives as long as the
 * printer. */
struct perfdata_listener *script_printer_listener(struct script_printer *printer);
/* Writes what is left when all has been handed over, or when reading has failed. Returns 0 or a
 * negative errno. */
int script_printer_finish(struct script_printer *printer);
/* Frees; NULL is fine. */
void script_printer_free(struct script_printer *printer);

#endif
