/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of the report: counts told apart by keys, each with what it used itself and what its
 * callees used.
 *
 * perf's rules for who gets what and for the order, with one difference: filters look at each frame
 * and not at the sample's innermost one, so nothing exceeds 100%.
 */
#ifndef PROFILE_ENTRY_LIST_H
#define PROFILE_ENTRY_LIST_H

#include "profile/entry_layout.h"
#include "profile/fold.h"

enum chain_order { CALLEE_FIRST, CALLER_FIRST };

/* Borrowed names of which one must be equal; none: everything passes. */
struct name_filter {
	const char *const *names;
	size_t count;
};

struct entry_list_settings {
	struct entry_layout layout;
	u32 source; /* row of the profile's sources */
	/* Events that are shown beside the source's figures; borrowed, rows of the sources. */
	const u32 *members;
	u32 member_count;
	u32 sort_member;   /* whose figures decide, of `members` from 1; 0: the source's */
	bool has_children; /* count callers too */
	bool by_path;	   /* binaries are told apart and shown by path, not by name */
	bool is_relative;  /* 100% is what the filters leave, else all samples */
	bool shows_chains; /* call graphs are shown: equal lines are then ordered by depth */
	enum chain_order order;
	u32 max_stack; /* frames looked at, from the first in `order`; 0: all */
	struct name_filter comms, dsos, symbols;
	const char *symbol_part; /* of the name of a function; NULL: any. Borrowed */
	bool has_socket;	 /* only that one passes; labels keep DETAIL_SOCKET */
	u32 socket;
	const u32 *pids, *tids;
	size_t pid_count, tid_count;
};

/* One line. Of parts that are no keys it has those of the first sample. */
struct entry {
	/* What counting and sorting look at stands first, near to each other. */
	u64 children_period, children_samples; /* its own and what it called */
	u32 max_depth;			       /* of the chains from here on */
	u32 counted;			       /* private: the last row that counted here, from 1 */
	u64 period, samples;		       /* its own */
	thread_id thread;
	frame_id frame; /* of a branch: where it went */
	string_id comm;
	u32 cpu;
	detail_id detail;
	u32 branch; /* row of the fold's branches; 0: none */
	u64 period_sys, period_us, period_guest_sys, period_guest_us;
	char level; /* perf's letter: k . g u H */
};

/* Sums over an event of the group, as in struct entry_list. */
struct entry_totals {
	u64 total_period, all_period, all_samples, shown_samples;
};

struct entry_list {
	const struct fold *fold;
	struct entry_list_settings settings;
	VEC(struct entry) entries;
	u32 *sorted;			    /* entries.count rows of `entries`, as they are shown */
	u64 total_period;		    /* 100% */
	u64 all_period, all_samples;	    /* of the source, whatever the filters */
	u64 shown_samples;		    /* that the filters leave */
	struct entry_totals *member_totals; /* the same, of each member */
	VEC(struct entry) others;	    /* by entry, one for each member: only figures */
	struct entry_index *index;	    /* private, as what follows */
	struct strands *strands;	    /* NULL: nobody has asked for graphs */
};

/* Counts one source of a fold, which must outlive the list; the settings' arrays too. */
struct entry_list *entry_list_new(const struct fold *fold,
				  const struct entry_list_settings *settings);
/* Frees; NULL is fine. */
void entry_list_free(struct entry_list *list);
/* For CLEANUP. */
void entry_list_freep(struct entry_list **list);

/* Adds what an entry counts itself to a sum: periods, also by mode, and samples. */
void entry_add_self(struct entry *sum, const struct entry *entry);

/* What the members of the group say beside an entry of list->entries, one for each; NULL: there are
 * none. Only their figures mean anything. */
static inline const struct entry *entry_others(const struct entry_list *list,
					       const struct entry *entry)
{
	size_t row = (size_t)(entry - list->entries.items);

	return list->others.items ? list->others.items + row * list->settings.member_count : NULL;
}

/* What a binary is called in the list: its name, or its path. */
static inline string_id entry_binary_name(const struct entry_list *list, binary_id binary)
{
	const struct binary_row *row = &list->fold->profile->binaries.items[binary];

	return list->settings.by_path ? row->path : row->short_name;
}
/* What an entry counts for: with what it called, if the list counts that. */
static inline u64 entry_whole_period(const struct entry_list *list, const struct entry *entry)
{
	return list->settings.has_children ? entry->children_period : entry->period;
}
/* The same in samples. */
static inline u64 entry_whole_samples(const struct entry_list *list, const struct entry *entry)
{
	return list->settings.has_children ? entry->children_samples : entry->samples;
}
/* Whether an entry reaches this share of all, in per cent, by perf's arithmetic. */
bool entry_reaches(const struct entry_list *list, const struct entry *entry, double percent);
/* A figure or number key of an entry: FIELD_OVERHEAD … FIELD_PERIOD in events, FIELD_CPU. */
u64 entry_value(const struct entry *entry, u8 field);
/* What an entry says of a key of details (entry_field_detail()), as in struct detail_row; perf's
 * weights that are not "local" are sums over its samples. */
u64 entry_detail(const struct entry_list *list, const struct entry *entry, u8 field);
/* Bytes of the function that FIELD_SYMBOL is about; 0: it has no name. */
u64 entry_symbol_bytes(const struct entry_list *list, const struct entry *entry);
/* The frame that a key is about: of FIELD_SYMBOL_FROM where the branch came from, and so on. */
frame_id entry_key_frame(const struct entry_list *list, const struct entry *entry, u8 field);
/* The name of the binary that FIELD_DSO, _FROM or _TO is about, "[unknown]" if there is none.
 * Borrowed from the profile. */
const char *entry_dso(const struct entry_list *list, const struct entry *entry, u8 field);
/* The place in the source that FIELD_SRCLINE, _FROM, _TO or FIELD_SRCFILE is about. Borrowed from
 * the fold. */
const char *entry_source(const struct entry_list *list, const struct entry *entry, u8 field);
/* The letter of the code that FIELD_SYMBOL, _FROM or _TO is about, as in perf: k . g u H */
char entry_key_level(const struct entry_list *list, const struct entry *entry, u8 field);
/* The flags of an entry's branch (enum branch_flag). */
u32 entry_branch_flags(const struct entry_list *list, const struct entry *entry);

/* The path of a row's stack, callers first, without what max_stack cuts off; 0: no stack. For lists
 * in the order CALLER_FIRST. */
path_id entry_list_path(const struct entry_list *list, u32 row);
/* The frames of a row's stack in the list's order, at most max_stack, into `frames`, which has room
 * for fold->deepest. Returns how many. */
u32 entry_list_frames(const struct entry_list *list, u32 row, frame_id *frames);

#endif
