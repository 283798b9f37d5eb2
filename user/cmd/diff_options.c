/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of diff: perf diff's letters and names.
 */
#include "cmd/diff_settings.h"

#include "base/fail.h"
#include "base/number.h"
#include "cmd/option_rows.h"
#include "cmd/stitching.h"
#include "cmd/text_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct diff_settings diff_defaults = {
	.method = COMPARE_DELTA_ABS,
	.order = 1,
	.alpha_percent = 5,
	.least_percent = 0.5,
	.demangle = true,
	.names = NAMES_CHOICE_DEFAULTS,
};

static struct diff_settings *settings_of(void *settings)
{
	return settings;
}

/* --- methods --- */

static const char *const method_names[] = {
	[COMPARE_DELTA_ABS] = "delta-abs", [COMPARE_DELTA] = "delta",	[COMPARE_RATIO] = "ratio",
	[COMPARE_WEIGHTED] = "wdiff",	   [COMPARE_CYCLES] = "cycles",
};

static int find_method(const char *name, size_t length, enum comparison_method *ret_method)
{
	const char *names[ARRAY_COUNT(method_names) + 1] = {NULL};
	CLEANUP(freep) char *word = must_format("%.*s", (int)length, name);
	const char *nearest;

	for (size_t i = 0; i < ARRAY_COUNT(method_names); i++) {
		names[i] = method_names[i];
		if (strcmp(word, method_names[i]) != 0)
			continue;
		*ret_method = (enum comparison_method)i;
		return 0;
	}
	nearest = nearest_name(word, names);
	if (nearest)
		return fail_plain(-EINVAL, NULL, "no such method; did you mean %s?", nearest);
	return fail_plain(-EINVAL, "there are delta-abs, delta, ratio, wdiff:W1,W2, cycles",
			  "no such method");
}

/* A weight as perf takes it: a whole number but 0. Returns what follows, NULL: none. */
static const char *read_weight(const char *text, s64 *ret_weight)
{
	char *end;

	errno = 0;
	*ret_weight = strtoll(text, &end, 10);
	return end == text || errno || !*ret_weight ? NULL : end;
}

static int read_weights(struct diff_settings *diff, const char *weights)
{
	const char *rest = weights ? read_weight(weights, &diff->base_weight) : NULL;

	if (rest && *rest == ',')
		rest = read_weight(rest + 1, &diff->other_weight);
	else
		rest = NULL;
	if (rest && !*rest)
		return 0;
	return fail_plain(-EINVAL,
			  "give wdiff:W1,W2, whole numbers but 0: W1 for the baseline, W2 for the "
			  "other",
			  "wdiff needs two weights");
}

/* "+delta" is how old versions of perf wrote that the lines are sorted by it; they always are. */
static int parse_method(void *settings, const char *argument)
{
	struct diff_settings *diff = settings_of(settings);
	const char *name = argument + (*argument == '+');
	size_t length = strcspn(name, ":");
	const char *weights = name[length] ? name + length + 1 : NULL;
	int error = find_method(name, length, &diff->method);

	if (error)
		return error;
	if (diff->method == COMPARE_WEIGHTED)
		return read_weights(diff, weights);
	if (weights)
		return fail_plain(-EINVAL, "only wdiff does", "%.*s takes nothing behind a colon",
				  (int)length, name);
	return 0;
}

/* perf takes wdiff without weights here, and then all its values are 0. */
static int config_method(void *settings, const char *value)
{
	struct diff_settings *diff = settings_of(settings);

	if (strcmp(value, method_names[COMPARE_WEIGHTED]) != 0)
		return parse_method(settings, value);
	diff->method = COMPARE_WEIGHTED;
	return 0;
}

/* --- others --- */

static int parse_stitch(void *settings, const char *argument)
{
	return stitching_parse(argument, &settings_of(settings)->stitch);
}

static int parse_percentage(void *settings, const char *argument)
{
	return text_parse_percentage(argument, &settings_of(settings)->is_relative);
}

static int parse_color(void *settings, const char *argument)
{
	return terminal_parse_color(argument, &settings_of(settings)->color);
}

static int parse_separator(void *settings, const char *argument)
{
	return text_parse_separator(argument, &settings_of(settings)->separator);
}

#define FIELD(field) offsetof(struct diff_settings, field)

/* clang-format off */
const struct option_row diff_options[] = {
	HEADING("Comparison"),
	CALL('c', "compute", "METHOD", parse_method,
	     "delta-abs: difference of shares, largest first (default); delta: the same by sign; "
	     "ratio: of periods; wdiff:W1,W2: period by W2 less the baseline's by W1; cycles: of blocks "
	     "of code, on average (of recordings of record -b)"),
	FLAG(0, "cycles-hist", show_spread, "with -c cycles: how much the difference varies"),
	{.kind = OPTION_U32, .letter = 'o', .name = "order", .offset = FIELD(order),
	 .argument = "NUMBER", .help = "sort by the value of this recording; 0: by the baseline",
	 .config = "diff.order"},
	FLAG('b', "baseline-only", paired_only, "only what the baseline and another recording have"),
	CALL(0, "percentage", "relative|absolute", parse_percentage,
	     "100% is what filters leave, or all samples (default: absolute)"),
	FLAG(0, "rate", shows_rates, "CPU seconds a second in place of shares (of events that do not "
	     "count time: events a second)"),
	FLAG(0, "children", children, "count what functions called, too"),
	FLAG(0, "paths", paths, "which call paths changed, as a tree, callers first"),
	{.kind = OPTION_PERCENT, .name = "least", .offset = FIELD(least_percent), .argument = "POINTS",
	 .help = "with --paths: leave out what changed by less, unless it is beyond chance (default: 0.5)"},
	{.kind = OPTION_CALL, .name = "stitch-lbr", .argument = "certain|likely",
	 .optional = ARGUMENT_ATTACHED, .parse = parse_stitch,
	 .help = "with them: LBR call stacks go on where the hardware cut them, as in report"},
	FLAG(0, "stream", streams, "the ways through the code that branches tell of, hottest first (of "
	     "recordings of record -b)"),
	FLAG(0, "significant", only_significant, "only what changed beyond chance"),
	{.kind = OPTION_PERCENT, .name = "alpha", .offset = FIELD(alpha_percent), .argument = "PERCENT",
	 .help = "of the marks, so much may be by chance", .config = "diff.alpha"},
	{.kind = OPTION_LIST, .name = "fail-if", .offset = FIELD(fail_if), .argument = "CONDITIONS",
	 .help = "end with status 3 if they hold for a line: delta>2%,p<0.01"},
	FLAG(0, "strict-perf", is_strict, "perf 6.1's figures to the digit, also where they are not sane"),
	HEADING("What is shown"),
	TEXT('s', "sort", sort, "KEYS", "tell lines apart by pid, comm, dso, symbol, cpu, parent, srcline, "
	     "srcfile; +KEY adds "
	     "(default: dso,symbol)"),
	FLAG('p', "period", show_period, "columns with the periods"),
	FLAG('F', "formula", show_formula, "columns that say how the value comes about"),
	HEADING("Filters (LIST: a,b,c or file://PATH)"),
	TEXT('d', "dsos", dsos, "LIST", "only these binaries"),
	TEXT('S', "symbols", symbols, "LIST", "only these functions"),
	TEXT('C', "comms", comms, "LIST", "only threads of these names"),
	TEXT(0, "cpu", choice.cpus, "LIST", "only these CPUs: 0,2-3"),
	TEXT(0, "pid", choice.pids, "LIST", "only these processes"),
	TEXT(0, "tid", choice.tids, "LIST", "only these threads"),
	CGROUP_ROWS(choice),
	TEXT(0, "time", choice.times, "TIMES", "only this time: START,STOP in seconds, or 10%-20%, 10%/2; "
	     "TIMES:TIMES is one for each recording"),
	HEADING("Two parts of one recording"),
	TEXT(0, "before", before, "TIMES", "the baseline: times as of --time, or of the clock: 14:00..14:05, yesterday; with --after"),
	TEXT(0, "after", after, "TIMES", "what is compared with it"),
	STORE_ROW(windows),
	HEADING("Names"),
	TEXT(0, "symfs", symbolize.symfs, "DIRECTORY", "look for binaries below this directory"),
	TEXT('k', "vmlinux", symbolize.vmlinux, "FILE", "kernel image with symbols"),
	TEXT(0, "kallsyms", symbolize.kallsyms, "FILE", "kernel symbols of the machine that was recorded"),
	NAMES_CHOICE_ROWS,
	FLAG(0, "demangle", demangle, "show C++ and Rust names as they are written"),
	HEADING("Output"),
	FLAG(0, "json", json, "print JSON, with a version number"),
	FLAG(0, "csv", csv, "print comma-separated values, all columns"),
	CALL('t', "field-separator", "TEXT", parse_separator, "between columns, for scripts"),
	FLAG('q', "quiet", is_quiet, "no comment lines and no warnings"),
	FLAG('v', "verbose", is_verbose, "whole paths, and the list of recordings"),
	CALL(0, "color", "auto|always|never", parse_color, "colour the percentages (default: auto)"),
	FLAG('D', "dump-raw-trace", dumps, "every record of the files first, in hexadecimal and in words"),
	/* accepted */
	IGNORED('f', "force"), IGNORED('m', "modules"), IGNORED(0, "stdio"),
	CONFIG("diff.compute", config_method),
	{.kind = OPTION_END},
};
/* clang-format on */
