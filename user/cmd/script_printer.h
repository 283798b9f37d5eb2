/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The script printer as its parts share it. Private to script_*.c.
 */
#ifndef CMD_SCRIPT_PRINTER_H
#define CMD_SCRIPT_PRINTER_H

#include "base/arena.h"
#include "base/idmap.h"
#include "base/text.h"
#include "cmd/script_chains.h"
#include "cmd/script_frames.h"
#include "cmd/script_names.h"
#include "cmd/script_print.h"
#include "cmd/script_source.h"
#include "cmd/trace_words.h"

/* A line that is being printed: of a sample, or of another record. */
struct script_line {
	const struct sample *sample;	      /* NULL: of another record */
	const struct sample_details *details; /* NULL: nothing of it is printed */
	const struct event_source *source;
	const char *comm; /* printable */
	u64 fields;	  /* enum script_field */
	u64 time_ns;
	u32 pid, tid, cpu;
	u32 record_type; /* PERF_RECORD_* */
	u16 misc;	 /* of its record */
	bool shows_chain;
};

/* Appends one field of a line to the printer's text. */
typedef void print_field(struct script_printer *printer, const struct script_line *line);

/* What texts of places there are: a frame's lines by its enum frame_origin, and these. */
enum text_kind {
	TEXT_LEAF = ORIGIN_COUNT, /* what follows an address */
	TEXT_BRANCH_END,	  /* the same at each end of a branch */
	TEXT_KIND_COUNT,
};

/* What is printed of one event's samples. */
struct line_plan {
	u64 fields;
	u32 first_form; /* of texts: one each enum text_kind; the same for equal fields */
	bool wants_details;
	/* Behind what script_print_start() begins a line with; NULL ends. */
	print_field *steps[SCRIPT_FIELD_COUNT + 1];
};

struct script_printer {
	struct event_sink sink; /* first */
	struct perfdata_listener listener;
	struct script_layout layout;
	struct perfdata *data;
	const struct event_source *sources;
	struct script_names *names;
	struct symbolizer *symbolizer; /* as `names` has them: only this printer uses them, or */
	struct profile *profile;       /* who holds its mutex */
	struct locator *locator;
	FILE *out;
	struct script_outlet *outlet; /* for the text, in place of `out`; NULL: none */
	struct intern strings;	      /* printable */
	VEC(u32) event_names;	      /* in `strings`, by source, as wide as the longest */
	VEC(struct line_plan) plans;  /* by source */
	struct line_plan *plan;	      /* of the line that is being printed */
	u8 origin;		      /* of the frame whose lines are being made */
	u64 first_ns, previous_ns;    /* of the lines before; 0: none */
	struct text scratch;
	struct text text;	    /* printed, and not written yet */
	size_t written_at_once;	    /* bytes; 0: each line */
	size_t widest_source;	    /* bytes of the longest data source so far */
	struct idmap comms;	    /* address of a thread's name → printable, in `strings` */
	struct chain_texts *chains; /* that were printed */
	struct frame_texts *frames; /* and what they consist of */
	VEC(int) code_files;	    /* by binary: see script_code.c */
	u32 code_files_open;
	struct source_code *source_code;
	struct trace_words *trace; /* NULL: nothing is told of tracepoints */
};

/* The text of a place, made at first need. Borrowed from `names` of the printer. */
const struct place_text *script_find_text(struct script_printer *printer,
					  const struct virtual_place *place, u8 kind);
/* Appends the text of a place, which may have been met lately. */
void script_append_text(struct script_printer *printer, const struct virtual_place *place, u8 kind);
/* Appends what follows an address, as far as the fields are wanted. */
void script_append_leaf(struct script_printer *printer, const struct virtual_place *place);
/* Puts what is printed of a location at an end of a branch into `scratch`. */
void script_make_branch_end(struct script_printer *printer, const struct location_row *at);
/* Appends the lines of a sample's chain. */
void script_append_chain(struct script_printer *printer, const struct sample *sample);
/* Of the printer's sink: whether all that is printed of a sample is there without its frames. */
bool script_knows_chain(struct event_sink *self, const struct sample *sample);

/* Whether a name is in a comma-separated list. */
bool script_is_listed(const char *list, const char *name);
/* Whether the function at a location is, whose name is looked up. */
bool script_is_listed_function(struct script_printer *printer, const char *list,
			       location_id location);

/* Where an address of a process is. */
location_id script_locate(struct script_printer *printer, u32 pid, u64 address, u8 space);
/* The function that the machine code at a location is of; NULL: unknown. */
const struct function_row *script_outer_function(const struct script_printer *printer,
						 const struct location_row *at);
/* A string of the profile. Borrowed until the next one is interned. */
const char *script_text_of(const struct script_printer *printer, string_id id);
/* The name of the binary at a location. Borrowed as script_text_of(). */
const char *script_binary_name(const struct script_printer *printer, const struct location_row *at);

/* Appends the line of the source that a location is on, if the thread was not shown it last. */
void script_append_source(struct script_printer *printer, struct text *text, u32 tid,
			  location_id location);
/* Appends where in the source a location is, as far as that is known. `line` is counted from the
 * location's innermost function. Returns whether it is. */
bool script_append_source_place(struct script_printer *printer, struct text *text,
				const struct location_row *at, u32 line);

/* A foreign string as it may reach a terminal. Borrowed from the printer. */
const char *script_printable(struct script_printer *printer, const char *foreign);

/* Lets the listener print the records that the layout asks for. */
void script_listen(struct script_printer *printer);

/* Begins a line, of a sample or of any other record: who, where and when. */
print_field script_print_start;

/* Writes what was printed so far to `out`, before somebody else writes there. */
void script_write(struct script_printer *printer);

/* The branch stack, in the first of the three forms that is asked for. */
print_field script_print_branches;

/* Instructions: of the sample, and between its branches. */
print_field script_print_instruction, script_print_blocks;

/* Below the line: the source of where the sample was. */
print_field script_print_source;

/* What only the record of the sample tells. */
print_field script_print_flags, script_print_trace, script_print_data_source, script_print_weight,
	script_print_latency, script_print_interrupt_registers, script_print_user_registers,
	script_print_bpf_output, script_print_physical_address, script_print_data_page,
	script_print_code_page;

#endif
