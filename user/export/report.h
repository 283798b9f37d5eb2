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
	const struct call_graph_settings *graph;
	double percent_limit; /* lines below are left out */
	const char *times;    /* --time as given, NULL: none */
};

#endif
