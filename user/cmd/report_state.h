/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A report while it is made; shared by its files.
 */
#ifndef CMD_REPORT_STATE_H
#define CMD_REPORT_STATE_H

#include "cmd/report_records.h"
#include "cmd/report_settings.h"
#include "cmd/trace_words.h"
#include "export/export.h"
#include "perfdata/perfdata.h"
#include "symbolize/symbolize.h"

struct report {
	const struct report_settings *settings;
	struct asked_windows windows; /* count 0: one recording is read */
	u64 now_ns;
	struct names_cache *store_names; /* NULL: none */
	struct perfdata *data;		 /* the recording, or a window: all have its header */
	struct report_filters filters;
	struct call_graph_settings graph;
	struct entry_layout layout;
	bool has_chains, has_children;
	bool has_branches;	   /* they are counted in place of samples */
	bool has_history;	   /* they are put into the call chains */
	struct names_cache *cache; /* NULL: none */
	struct symbolizer *symbolizer;
	struct profile *profile;
	u64 named; /* serial of the profile that has its names; 0: none */
	struct fold *fold;
	struct branch_history *history;
	struct lbr_tally lbr; /* what became of its call stacks */
	struct report_facts facts;
	struct thread_counters counters; /* -T */
	struct trace_words *trace;	 /* NULL: nothing is told of tracepoints */
	char *memory_keys;		 /* --mem-mode: what tells accesses apart; owned */
	regex_t parents, ignored;	 /* -p and --ignore-callees */
	bool has_parents, has_ignored;
};

/* Chooses the recording, whose path it tells, or the windows. Returns 0 or a negative errno with a
 * sentence. */
int report_choose_input(struct report *report, struct arguments arguments, const char **ret_path);
/* Opens the recording, or the window that says what all are like, whose path it then tells. Returns
 * 0 or a negative errno with a sentence. */
int report_open(struct report *report, const char **path);

/* Which details of samples are kept. Borrows from the report. */
struct detail_settings report_details(const struct report *report);
/* Whether a key is what tracepoints say. */
bool report_tells_tracepoints(const struct report *report);
/* Whether nothing else was recorded, and the recording says how they are told. */
bool report_is_of_tracepoints(const struct report *report);
/* Chooses what of branches is counted or shown, and whether that and --mem-mode and --total-cycles
 * go with the recording and the other options. Returns 0, or -EINVAL with a sentence. */
int report_choose_branches(struct report *report);
/* Compiles the patterns, and says whether the keys go with the recording. Returns 0, or -EINVAL
 * with a sentence. report_release_patterns() in any case. */
int report_check_keys(struct report *report);
/* Changes the fold as patterns ask for. */
void report_apply_patterns(struct report *report);
/* Frees the patterns. */
void report_release_patterns(struct report *report);

/* Events that are shown together. */
struct shown_group {
	u32 leader;	  /* row of the sources */
	VEC(u32) members; /* the others */
	char *name;	  /* owned; NULL: there are no others */
	bool is_leader;	  /* of a recorded group */
};

/* The group that an event leads, maybe of itself alone; false: another event leads it. Release the
 * group in any case. */
bool report_group(const struct report *report, u32 source, struct shown_group *ret_group);
/* Frees the contents. For CLEANUP too. */
void report_group_release(struct shown_group *group);

/* Prints what was counted, as text or JSON. `path` is the recording's, as it was named. */
void report_show(const struct report *report, const char *path);

#endif
