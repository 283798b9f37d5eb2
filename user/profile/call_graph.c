/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words of -g.
 *
 * Source: Linux 6.1, tools/perf/util/callchain.c, parse_callchain_report_opt().
 */
#include "profile/call_graph.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum part { PART_TYPE, PART_ORDER, PART_KEY, PART_VALUE };

struct word {
	const char *name;
	enum part part;
	int value;
};

/* In the order in which perf tries them: "f" is flat, "c" is caller. */
static const struct word words[] = {
	{"none", PART_TYPE, CALL_GRAPH_NONE},	  {"graph", PART_TYPE, CALL_GRAPH},
	{"flat", PART_TYPE, CALL_GRAPH_FLAT},	  {"fractal", PART_TYPE, CALL_GRAPH_FRACTAL},
	{"folded", PART_TYPE, CALL_GRAPH_FOLDED}, {"caller", PART_ORDER, CALLER_FIRST},
	{"callee", PART_ORDER, CALLEE_FIRST},	  {"function", PART_KEY, FOLD_BY_FUNCTION},
	{"address", PART_KEY, FOLD_BY_ADDRESS},	  {"srcline", PART_KEY, FOLD_BY_LINE},
	{"percent", PART_VALUE, CALL_PERCENT},	  {"period", PART_VALUE, CALL_PERIOD},
	{"count", PART_VALUE, CALL_COUNT},
};

static const struct word *find_word(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (!strncmp(name, words[i].name, strlen(name)))
			return &words[i];
	return NULL;
}

static void use_word(const struct word *word, struct call_graph_settings *settings)
{
	switch (word->part) {
	case PART_TYPE:
		settings->type = (enum call_graph_type)word->value;
		break;
	case PART_ORDER:
		settings->order = (enum chain_order)word->value;
		settings->order_is_set = true;
		break;
	case PART_KEY:
		settings->key = (enum fold_key)word->value;
		break;
	case PART_VALUE:
		settings->value = (enum call_graph_value)word->value;
		break;
	}
}

static int refuse(const char *name)
{
	const char *names[ARRAY_COUNT(words) + 1] = {NULL};
	const char *nearest;

	if (!strcmp(name, "branch"))
		return fail_plain(-EINVAL, "leave it out",
				  "call graph: branch stacks are not added to call chains");
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		names[i] = words[i].name;
	nearest = nearest_name(name, names);
	if (nearest)
		return fail_plain(-EINVAL, NULL,
				  "call graph: no such word: %s; did you mean \"%s\"?", name,
				  nearest);
	return fail_plain(-EINVAL,
			  "give graph|fractal|flat|folded|none,threshold,print_limit,caller|callee,"
			  "function|address,percent|period|count",
			  "call graph: no such word: %s", name);
}

static int parse_threshold(const char *text, double *ret_percent)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !isfinite(percent) || percent < 0)
		return -EINVAL;
	*ret_percent = percent;
	return 0;
}

static int parse_limit(const char *text, u32 *ret_limit)
{
	char *end;
	unsigned long limit = strtoul(text, &end, 0);

	if (end == text || *end || *text == '-' || limit > UINT32_MAX)
		return -EINVAL;
	*ret_limit = (u32)limit;
	return 0;
}

int call_graph_parse(const char *text, struct call_graph_settings *settings)
{
	CLEANUP(freep) char *copy = must_copy(text);
	struct call_graph_settings parsed = *settings;
	bool has_threshold = false;
	char *rest = copy;
	const char *name;

	while ((name = strsep(&rest, ",")) != NULL) {
		const struct word *word = *name ? find_word(name) : NULL;
		int error = 0;

		if (word)
			use_word(word, &parsed);
		else if (*name && !has_threshold)
			error = parse_threshold(name, &parsed.threshold_percent);
		else if (*name)
			error = parse_limit(name, &parsed.print_limit);
		if (error)
			return refuse(name);
		has_threshold |= *name && !word;
	}
	*settings = parsed;
	return 0;
}

int call_graph_config(const char *key, const char *value, struct call_graph_settings *settings)
{
	static const struct {
		const char *key;
		enum part part;
	} keys[] = {{"print-type", PART_TYPE}, {"order", PART_ORDER}, {"sort-key", PART_KEY}};
	int error = 0;

	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		const struct word *word = *value ? find_word(value) : NULL;

		if (strcmp(key, keys[i].key) != 0)
			continue;
		if (!word || word->part != keys[i].part)
			return fail_plain(-EINVAL, NULL, "no such value");
		use_word(word, settings);
		return 0;
	}
	if (!strcmp(key, "threshold"))
		error = parse_threshold(value, &settings->threshold_percent);
	else if (!strcmp(key, "print-limit"))
		error = parse_limit(value, &settings->print_limit);
	return error ? fail_plain(error, NULL, "not a number") : 0;
}
