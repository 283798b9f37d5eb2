/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples as text, one after the other, in perf script's layout.
 */
#ifndef CMD_SCRIPT_PRINT_H
#define CMD_SCRIPT_PRINT_H

#include "profile/profile.h"
#include "symbolize/symbolize.h"

#include <stdio.h>

/* What is printed of a sample, in this order. */
enum script_field {
	PRINT_COMM = 1 << 0,
	PRINT_TID = 1 << 1,
	PRINT_PID = 1 << 2,
	PRINT_TIME = 1 << 3,
	PRINT_CPU = 1 << 4,
	PRINT_PERIOD = 1 << 5,
	PRINT_EVENT = 1 << 6,
	PRINT_ADDR = 1 << 7,
	PRINT_IP = 1 << 8,
	PRINT_SYM = 1 << 9,
	PRINT_SYMOFF = 1 << 10,
	PRINT_DSO = 1 << 11,
	PRINT_BRSTACK = 1 << 12,
	PRINT_PROVENANCE = 1 << 13, /* ours: how the user stack was walked and why it ended */
	PRINT_BRSTACKSYM = 1 << 14, /* of the three forms the first that is asked for is printed */
	PRINT_BRSTACKOFF = 1 << 15,
	PRINT_BRANCHES = PRINT_BRSTACK | PRINT_BRSTACKSYM | PRINT_BRSTACKOFF,
};

struct script_layout {
	u32 fields;	   /* enum script_field */
	bool hide_chains;  /* the sampled address alone, on the sample's line */
	bool is_ns;	   /* nine digits of a second, not six */
	u32 max_stack;	   /* innermost frames shown; 0: all */
	const char *comms; /* only threads of these names, comma-separated; NULL: all */
};

struct script_printer;

/*
 * Prints to `out` what comes into its sink, which needs all events of a recording.
 *
 * sources, symbolizer, out  borrowed
 * Free with script_printer_free().
 */
struct script_printer *script_printer_new(const struct script_layout *layout,
					  const struct event_source *sources, u32 source_count,
					  struct symbolizer *symbolizer, FILE *out);
/* What follows processes, and what prints; feed both, in this order (a tee does). They live as long
 * as the printer. */
struct event_sink *script_printer_follower(struct script_printer *printer);
/* See script_printer_follower(). */
struct event_sink *script_printer_sink(struct script_printer *printer);
/* Frees; NULL is fine. */
void script_printer_free(struct script_printer *printer);

#endif
