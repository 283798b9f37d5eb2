/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How call graphs are shown: perf's -g and call-graph.* settings.
 */
#ifndef PROFILE_CALL_GRAPH_H
#define PROFILE_CALL_GRAPH_H

#include "profile/entry_list.h"

enum call_graph_type {
	CALL_GRAPH,	    /* a tree, per cent of all */
	CALL_GRAPH_FRACTAL, /* a tree, per cent of the parent */
	CALL_GRAPH_FLAT,    /* one chain below the other */
	CALL_GRAPH_FOLDED,  /* one chain a line */
	CALL_GRAPH_NONE,
};

enum call_graph_value { CALL_PERCENT, CALL_PERIOD, CALL_COUNT };

struct call_graph_settings {
	enum call_graph_type type;
	double threshold_percent; /* what is below is not shown */
	u32 print_limit;	  /* children shown of a node; 0: all */
	enum chain_order order;
	bool order_is_set; /* else: caller first with children, callee first without */
	enum fold_key key;
	enum call_graph_value value;
	/* What the marks of frames stand for; borrowed. NULL: they have none, and graphs do not
	 * tell how branches went. */
	const struct branch_mark *marks;
};

/* graph,0.5,callee,function,percent: an initializer */
#define CALL_GRAPH_DEFAULTS                                     \
	{                                                       \
		.threshold_percent = 0.5, .order = CALLEE_FIRST \
	}

/*
 * Takes "print_type,threshold[,print_limit],order,sort_key[,branch],value", in any order, each part
 * optional and possibly cut short, into settings that hold defaults. Returns 0, or -EINVAL with a
 * sentence; then nothing has changed.
 */
int call_graph_parse(const char *text, struct call_graph_settings *settings);

/* Takes one config value, key "print-type", "threshold", "print-limit", "order" or "sort-key";
 * others are passed over. Returns 0, or -EINVAL with a sentence. */
int call_graph_config(const char *key, const char *value, struct call_graph_settings *settings);

#endif
