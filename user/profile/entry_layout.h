/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a line of the report shows and by what the lines are told apart and sorted: perf's -s and
 * -F.
 */
#ifndef PROFILE_ENTRY_LAYOUT_H
#define PROFILE_ENTRY_LAYOUT_H

#include "bpfprof/types.h"
#include "event/event.h"
#include "profile/tables.h"

#include <stdbool.h>

enum entry_field {
	FIELD_CHILDREN, /* figures */
	FIELD_OVERHEAD,
	FIELD_OVERHEAD_SYS,
	FIELD_OVERHEAD_US,
	FIELD_OVERHEAD_GUEST_SYS,
	FIELD_OVERHEAD_GUEST_US,
	FIELD_SAMPLE,
	FIELD_PERIOD,
	FIELD_PID, /* keys; as in perf, one row for each thread */
	FIELD_COMM,
	FIELD_DSO,
	FIELD_SYMBOL,
	FIELD_CPU,
	FIELD_SOCKET,
	FIELD_CGROUP,
	FIELD_CONTAINER,
	FIELD_UNIT,
	FIELD_TIME,
	FIELD_LOCAL_WEIGHT,
	FIELD_WEIGHT,
	FIELD_TRANSACTION,
	FIELD_CODE_PAGE_SIZE,
	FIELD_LOCAL_INS_LAT,
	FIELD_INS_LAT,
	FIELD_PARENT,
	FIELD_TRACE,
	FIELD_SYMBOL_SIZE,
	FIELD_SRCLINE,
	FIELD_SRCFILE,
	FIELD_MEM, /* keys of memory accesses */
	FIELD_SYMBOL_DADDR,
	FIELD_DSO_DADDR,
	FIELD_LOCKED,
	FIELD_TLB,
	FIELD_SNOOP,
	FIELD_DCACHELINE,
	FIELD_SYMBOL_IADDR,
	FIELD_PHYS_DADDR,
	FIELD_DATA_PAGE_SIZE,
	FIELD_BLOCKED,
	FIELD_DSO_FROM, /* keys of branches */
	FIELD_DSO_TO,
	FIELD_SYMBOL_FROM,
	FIELD_SYMBOL_TO,
	FIELD_SRCLINE_FROM,
	FIELD_SRCLINE_TO,
	FIELD_MISPREDICT,
	FIELD_IN_TX,
	FIELD_ABORT,
	FIELD_CYCLES,
	FIELD_COUNT,
};

struct entry_layout {
	u8 columns[FIELD_COUNT], order[FIELD_COUNT]; /* enum entry_field */
	u32 column_count, order_count;		     /* columns from left; order: first decides */
	u8 levels[FIELD_COUNT];			     /* of keys: of a hierarchy, from 0 */
	u32 level_count;
	bool begins_with_symbol; /* -s sym…: graphs need not repeat the symbol */
	bool is_strict;		 /* -F decides alone what is shown */
};

struct entry_layout_settings {
	/* -s; NULL: the default of what lines are of; "+key" adds to that, "{a,b}" puts keys on
	 * one level of a hierarchy */
	const char *sort;
	const char *fields;	/* -F; NULL: figures and then the sort keys; "+field" adds */
	bool adds_parent;	/* the parent is a key behind those of -s */
	bool has_children;	/* figures begin with Children */
	bool has_branches;	/* lines are of branches, and may be told apart by their keys */
	bool has_memory;	/* the same of memory accesses */
	bool has_traces;	/* there is who tells what tracepoints say */
	bool is_of_tracepoints; /* no other events were recorded */
	bool show_samples;	/* -n */
	bool show_period;	/* --show-total-period */
	bool show_system_share; /* --showcpuutilization */
};

/*
 * By perf's rules: sort keys decide first, then the remaining fields from left to right; keys are
 * shown behind the fields; a field given twice is used once. Names may be cut short ("sym").
 * Returns 0, or -EINVAL with a sentence that names the unknown field and the nearest known one.
 */
int entry_layout_parse(const struct entry_layout_settings *settings,
		       struct entry_layout *ret_layout);

/* The sort keys in full, whether given or not. Owned by the caller. */
char *entry_layout_sort_text(const struct entry_layout_settings *settings);

/* Whether a field is a key (and not a figure). */
bool entry_field_is_key(u8 field);
/* Whether a field is a key that only branches have. */
bool entry_field_is_of_branches(u8 field);
/* Whether a field is a key that only memory accesses have. */
bool entry_field_is_of_memory(u8 field);
/* The flags (enum branch_flag, or-ed) that a key of branches looks at; 0: none. */
u32 entry_field_branch_flags(u8 field);
/* Those of all keys of a layout. */
u32 entry_layout_branch_flags(const struct entry_layout *layout);
/* The detail of samples that a key is about; DETAIL_COUNT: none. */
enum sample_detail entry_field_detail(u8 field);
/* The details (1 << enum sample_detail, or-ed) of all keys of a layout. */
u32 entry_layout_details(const struct entry_layout *layout);
/* What of a thread is to be kept (KEEP_* bits), for the keys of a layout and filters by thread. */
u32 entry_layout_labels(const struct entry_layout *layout, const struct filter_settings *chosen);
/* Whether lines are told apart by their place in the source. */
bool entry_layout_has_source(const struct entry_layout *layout);
/* Whether lines are told apart by this key. */
bool entry_layout_has_key(const struct entry_layout *layout, u8 field);

#endif
