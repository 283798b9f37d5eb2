/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `bpfprof report` was asked for; shared by its files.
 */
#ifndef CMD_REPORT_SETTINGS_H
#define CMD_REPORT_SETTINGS_H

#include "cli/cli.h"
#include "cmd/asked_windows.h"
#include "cmd/inline_mode.h"
#include "cmd/name_list.h"
#include "cmd/names_choice.h"
#include "cmd/sample_choice.h"
#include "event/event.h"
#include "profile/profile.h"
#include "symbolize/symbolize.h"

/* Whether branches are counted in place of samples. */
enum branch_mode {
	BRANCHES_AS_RECORDED, /* if the recording was made for that */
	BRANCHES_COUNTED,     /* -b */
	BRANCHES_IGNORED,     /* --no-branch-stack */
};

/* Whether events are shown side by side. */
enum group_mode {
	GROUPS_AS_RECORDED,
	GROUPS_FORCED, /* --group: all events are one if none were recorded as a group */
	GROUPS_APART,  /* --no-group */
};

struct report_settings {
	const char *input;	      /* NULL: stdin if it is a pipe, else perf.data */
	struct window_choice windows; /* in place of a recording */
	const char *sort, *fields, *separator;
	struct symbolize_settings symbolize;   /* where names are looked for */
	struct names_choice names;	       /* and kept */
	const char *dsos, *comms, *symbols;    /* lists, or file://PATH */
	const char *symbol_part;	       /* of the names of functions that are shown */
	const char *parents, *ignored_callees; /* patterns; NULL: not given */
	u64 quantum_ns;			       /* of -s time; 0: not given */
	struct sample_choice choice;	       /* its `cpus` may be names of threads instead */
	struct call_graph_settings graph;
	bool asks_for_graph; /* -g was given */
	bool is_inverted;    /* -G */
	bool children;
	bool is_relative;
	bool show_samples, show_period, show_system_share;
	bool header, header_only;
	bool header_all;   /* -I: also what is long of it */
	u8 records;	   /* enum records_shown, in place of a report */
	bool has_counters; /* -T */
	bool dumps;	   /* records in place of a report */
	bool is_quiet;
	bool is_hierarchy;
	bool excludes_other, hides_unnamed, has_nanoseconds;
	bool has_socket; /* only that one is shown */
	u32 socket;
	u32 widths[32]; /* of -w */
	u32 width_count;
	bool json;
	bool demangle;
	bool ignored; /* where options go that change nothing here */
	const char *ignored_text;
	u32 max_stack;
	double percent_limit;
	enum color_mode color;
	enum branch_mode branch_mode;
	enum group_mode group_mode;
	bool has_groups; /* config report.group */
	u32 sort_member; /* --group-sort-idx */
	enum inline_mode inlined;
	bool inlined_by_config; /* as if --inline were given */
	bool branch_history;
	bool has_blocks; /* lines are of blocks of code, by the cycles they took */
	bool is_memory;	 /* lines are of memory accesses, and weighed by what those cost */
	u8 stitch;	 /* enum lbr_tier; LBR_PLAIN: LBR call stacks are shown as perf does it */
};

extern const struct option_row report_options[];
extern const struct report_settings report_defaults;

/* The filters, parsed; they own their memory. */
struct report_filters {
	struct name_list comms, dsos, symbols;
	struct chosen_samples samples;
};

/*
 * Parses the filters of the settings.
 *
 * first_ns, last_ns  times of the recording's first and last sample, for --time 10%-20%; 0: unknown
 * ret_filters        report_filters_release() it, also after an error
 * Returns 0, or a negative errno with a sentence (-EINVAL, or why a file:// list cannot be read).
 */
int report_filters_parse(const struct report_settings *settings, u64 first_ns, u64 last_ns,
			 struct report_filters *ret_filters);
/* Frees the contents. */
void report_filters_release(struct report_filters *filters);

#endif
