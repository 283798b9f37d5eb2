/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands have rows for the keys that they take. Here is what of others can stand beside these.
 */
#include "cli/config_keys.h"

#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

/* Those of ours and of perf; one that ends in "-" is the beginning of many.
 * Source: perf-config(1), Linux 6.12; alias: tools/perf/util/alias.c. */
static const char *const sections[] = {
	/* ours */
	"cache", "store",
	/* both have, or perf's */
	"alias", "annotate", "auxtrace", "buildid", "buildid-cache", "call-graph", "colors",
	"convert", "core", "daemon", "diff", "ftrace", "gtk", "help", "hist", "intel-pt", "itrace",
	"kmem", "llvm", "man", "pager", "record", "report", "samples", "scripts", "session-",
	"stat", "top", "trace", "tui", "ui", NULL};

/* In the sections of which some command of ours has a key. Source: as above, and their rows. */
static const char *const elsewhere[] = {
	"call-graph.dump-size",
	"call-graph.order",
	"call-graph.print-limit",
	"call-graph.print-type",
	"call-graph.record-mode",
	"call-graph.sort-key",
	"call-graph.threshold",
	"daemon.base",
	"diff.alpha",
	"diff.compute",
	"diff.order",
	"hist.percentage",
	"report.children",
	"report.group",
	"report.inline",
	"report.percent-limit",
	"report.queue-size",
	"report.skip-empty",
	"report.sort-order",
	"report.sort_order",
	"top.call-graph",
	"top.children",
};

static bool is_elsewhere(const char *key)
{
	for (size_t i = 0; i < ARRAY_COUNT(elsewhere); i++)
		if (!strcasecmp(elsewhere[i], key))
			return true;
	return false;
}

/* In perf's files perf says what it does not know. */
static bool is_perfs(const char *file_name)
{
	const char *slash = strrchr(file_name, '/');
	const char *last = slash ? slash + 1 : file_name;

	return !strcmp(last, "perfconfig") || !strcmp(last, ".perfconfig");
}

static bool is_section(const char *name)
{
	size_t length = strlen(name);

	for (const char *const *section = sections; *section; section++) {
		size_t known = strlen(*section);
		bool is_beginning = (*section)[known - 1] == '-' && known < length;

		if ((is_beginning || known == length) && !strncasecmp(*section, name, known))
			return true;
	}
	return false;
}

static char *unknown_section(const struct config_pair *pair, const char *name,
			     const struct text_list *said)
{
	CLEANUP(freep) char *what = must_format("unknown section [%s]", name);
	const char *nearest = nearest_name(name, sections);

	for (size_t i = 0; i < said->count; i++)
		if (strstr(said->items[i], what))
			return NULL;
	return must_format("%s line %u: %s%s%s%s", pair->file_name, pair->line, what,
			   nearest ? "; did you mean [" : "", nearest ? nearest : "",
			   nearest ? "]?" : "");
}

/* `keys`: those that the command has in the section, and NULL. */
static char *unknown_key(const struct command *command, const struct config_pair *pair,
			 const char *const *keys)
{
	int length = (int)strcspn(pair->key, ".") + 1;
	const char *nearest = nearest_name(pair->key + length, keys);
	CLEANUP(freep)
	char *what = must_format("%s line %u: unknown key %s", pair->file_name, pair->line,
				 pair->key);

	if (nearest)
		return must_format("%s; did you mean %.*s%s?", what, length, pair->key, nearest);
	return must_format("%s; see bpfprof %s%s--help", what, command->name,
			   *command->name ? " " : "");
}

char *config_unknown(const struct command *command, const struct config_pair *pair,
		     const struct text_list *said)
{
	size_t length = strcspn(pair->key, ".");
	CLEANUP(freep) char *section = must_copy_bytes(pair->key, length);
	VEC(const char *) keys = {0};
	char *sentence = NULL;

	if (is_perfs(pair->file_name) || is_elsewhere(pair->key))
		return NULL;
	for (const struct option_row *row = command->options; row->kind; row++)
		if (row->config && !strncasecmp(row->config, pair->key, length + 1))
			*vec_add(&keys) = row->config + length + 1;
	*vec_add(&keys) = NULL;
	if (keys.count > 1)
		sentence = unknown_key(command, pair, keys.items);
	else if (!is_section(section))
		sentence = unknown_section(pair, section, said);
	vec_release(&keys);
	return sentence;
}
