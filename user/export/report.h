/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every form of the report is made from.
 */
#ifndef EXPORT_REPORT_H
#define EXPORT_REPORT_H

#include "profile/profile.h"

/* One event's lines and how their call graphs are shown. All borrowed. */
struct report_view {
	struct entry_list *list;
	const struct event_source *source;
	const char *events; /* what a group of events is called; NULL: there is one event */
	bool is_leader;	    /* of a group, but shown alone */
	const struct call_graph_settings *graph;
	double percent_limit; /* lines below are left out */
	bool is_hierarchy;    /* a level of keys below the other */
	bool has_blocks;      /* they are shown, and not the list: of the profile's blocks */
	bool needs_parent;    /* lines without DETAIL_PARENT are left out */
	const char *times;    /* --time as given, NULL: none */
	/* Lines are of memory accesses, weighed by cost, and told apart by this; NULL: they are of
	 * samples, by period. */
	const char *memory_keys;
	const u32 *socket; /* of --socket-filter; NULL: none */
};

/* Whether an entry gets a line. */
static inline bool report_shows(const struct report_view *view, const struct entry *entry)
{
	if (view->needs_parent && !entry_detail(view->list, entry, FIELD_PARENT))
		return false;
	return entry_reaches(view->list, entry, view->percent_limit);
}

#endif
