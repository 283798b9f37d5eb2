/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of report: perf report's letters and names, and those of perf's that are not here,
 * each refused by name.
 */
#include "cmd/report_settings.h"

#include "cmd/option_rows.h"
#include "cmd/report_records.h"
#include "cmd/stitching.h"
#include "cmd/text_options.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>

const struct report_settings report_defaults = {
	.children = true,
	.demangle = true,
	.names = NAMES_CHOICE_DEFAULTS,
	.has_groups = true,
	.graph = CALL_GRAPH_DEFAULTS,
	.max_stack = 127, /* sysctl kernel.perf_event_max_stack */
};

static struct report_settings *settings_of(void *settings)
{
	return settings;
}

static int parse_graph(void *settings, const char *argument)
{
	struct report_settings *report = settings_of(settings);
	int error = argument ? call_graph_parse(argument, &report->graph) : 0;

	if (!error)
		report->asks_for_graph = report->graph.type != CALL_GRAPH_NONE;
	return error;
}

static int parse_percentage(void *settings, const char *argument)
{
	return text_parse_percentage(argument, &settings_of(settings)->is_relative);
}

/* As in perf, call graphs follow, unless a later -g says otherwise. */
static int parse_percent_limit(void *settings, const char *argument)
{
	struct report_settings *report = settings_of(settings);
	double percent;

	if (number_parse_percent(argument, &percent))
		return fail_plain(-EINVAL, NULL, "give a percentage from 0 to 100");
	report->percent_limit = percent;
	report->graph.threshold_percent = percent;
	return 0;
}

static int parse_color(void *settings, const char *argument)
{
	return terminal_parse_color(argument, &settings_of(settings)->color);
}

/* perf's name for it; without a word it means always. */
static int parse_stdio_color(void *settings, const char *argument)
{
	return parse_color(settings, argument ? argument : "always");
}

static int parse_separator(void *settings, const char *argument)
{
	return text_parse_separator(argument, &settings_of(settings)->separator);
}

static int parse_quantum(void *settings, const char *argument)
{
	u64 *quantum_ns = &settings_of(settings)->quantum_ns;

	if (number_parse_duration(argument, quantum_ns) || !*quantum_ns)
		return fail_plain(-EINVAL, NULL, "give a time like 100ms or 1s");
	return 0;
}

static int parse_widths(void *settings, const char *argument)
{
	enum { WIDEST = 4096 };
	struct report_settings *report = settings_of(settings);
	CLEANUP(freep) char *copy = must_copy(argument);
	char *rest = copy;
	const char *width;

	report->width_count = 0;
	while ((width = strsep(&rest, ",")) != NULL) {
		u32 *place = &report->widths[report->width_count];

		if (report->width_count == ARRAY_COUNT(report->widths) ||
		    number_parse_u32(width, place) || *place > WIDEST)
			return fail_plain(-EINVAL, NULL, "give widths like 10,0,20");
		report->width_count++;
	}
	return 0;
}

static int parse_socket(void *settings, const char *argument)
{
	if (number_parse_u32(argument, &settings_of(settings)->socket))
		return fail_plain(-EINVAL, NULL, "give the number of a socket");
	settings_of(settings)->has_socket = true;
	return 0;
}

static int parse_stitch(void *settings, const char *argument)
{
	return stitching_parse(argument, &settings_of(settings)->stitch);
}

SETS(group_events, struct report_settings, group_mode, GROUPS_FORCED)
SETS(part_events, struct report_settings, group_mode, GROUPS_APART)
SETS(count_branches, struct report_settings, branch_mode, BRANCHES_COUNTED)
SETS(ignore_branches, struct report_settings, branch_mode, BRANCHES_IGNORED)
SETS(show_stats, struct report_settings, records, RECORDS_COUNTED)
SETS(show_tasks, struct report_settings, records, RECORDS_AS_TASKS)
SETS(show_maps, struct report_settings, records, RECORDS_WITH_MAPS)
SETS(show_inlined, struct report_settings, inlined, INLINED_ALWAYS)
SETS(hide_inlined, struct report_settings, inlined, INLINED_NEVER)

/* --- call-graph.* of config files --- */

static int config_type(void *settings, const char *value)
{
	return call_graph_config("print-type", value, &settings_of(settings)->graph);
}

static int config_threshold(void *settings, const char *value)
{
	return call_graph_config("threshold", value, &settings_of(settings)->graph);
}

static int config_limit(void *settings, const char *value)
{
	return call_graph_config("print-limit", value, &settings_of(settings)->graph);
}

static int config_order(void *settings, const char *value)
{
	return call_graph_config("order", value, &settings_of(settings)->graph);
}

static int config_key(void *settings, const char *value)
{
	return call_graph_config("sort-key", value, &settings_of(settings)->graph);
}

/* --- what perf report has and this has not --- */

#define REFUSALS(X)                                                                            \
	X(tui, 0, "tui", NULL, "the report is text", "leave it out")                           \
	X(gtk, 0, "gtk", NULL, "the report is text", "leave it out")                           \
	X(raw_trace, 0, "raw-trace", NULL, "what tracepoints say is not decoded",              \
	  "use perf report")                                                                   \
	X(ref_graph, 0, "show-ref-call-graph", NULL, "each event shows its own call graph",    \
	  "record with -g, and use -g here")                                                   \
	X(itrace, 0, "itrace", NULL, "hardware traces are not decoded", "use perf report")     \
	X(addr2line, 0, "addr2line", "PATH", "sources are found without addr2line",            \
	  "leave it out")                                                                      \
	X(full_source_path, 0, "full-source-path", NULL,                                       \
	  "sources are shown by the last part of their path", "leave it out")                  \
	X(switch_on, 0, "switch-on", "EVENT", "events do not switch the report on and off",    \
	  "choose a part with --time")                                                         \
	X(switch_off, 0, "switch-off", "EVENT", "events do not switch the report on and off",  \
	  "choose a part with --time")                                                         \
	X(on_off, 0, "show-on-off-events", NULL, "events do not switch the report on and off", \
	  "choose a part with --time")                                                         \
	X(disable_order, 0, "disable-order", NULL, "reports are of samples in order of time",  \
	  "use bpfprof script --dump-unsorted-raw-trace")
REFUSALS(REFUSAL_PARSER)

/* How the table of -T is laid out: perf's other way is for programs, and lacks its line ends. */
static int parse_pretty(void *settings, const char *argument)
{
	(void)settings;
	if (!strcmp(argument, "normal"))
		return 0;
	return fail_plain(-EINVAL, "leave it out", "there is only the normal layout");
}

#define FIELD(field) offsetof(struct report_settings, field)

/* clang-format off */
const struct option_row report_options[] = {
	HEADING("Input"),
	TEXT('i', "input", input, "FILE", "recording to read, - for a pipe (default: perf.data)"),
	TEXT(0, "symfs", symbolize.symfs, "DIRECTORY", "look for binaries below this directory"),
	TEXT('k', "vmlinux", symbolize.vmlinux, "FILE", "kernel image with symbols"),
	TEXT(0, "kallsyms", symbolize.kallsyms, "FILE", "kernel symbols of the machine that was recorded"),
	NAMES_CHOICE_ROWS,
	HEADING("What is shown"),
	{.kind = OPTION_FLAG, .name = "children", .offset = FIELD(children),
	 .help = "count for a function what it called, too", .config = "report.children"},
	{.kind = OPTION_TEXT, .letter = 's', .name = "sort", .offset = FIELD(sort),
	 .argument = "KEYS", .help = "tell lines apart by pid, comm, dso, symbol, symbol_size, cpu, "
	 "socket, cgroup, container, unit, time, parent, trace, weight, local_weight, ins_lat, local_ins_lat, transaction, "
	 "code_page_size; branches by dso_from, dso_to, symbol_from, symbol_to, mispredict, in_tx, "
	 "abort, cycles, too; memory accesses by mem, symbol_daddr, dso_daddr, dcacheline, "
	 "symbol_iaddr, phys_daddr, data_page_size, snoop, tlb, locked, blocked, too; +KEY adds (default: comm,dso,symbol; trace for tracepoints alone)", .config = "report.sort_order"},
	{.kind = OPTION_CALL, .name = "time-quantum", .argument = "TIME", .parse = parse_quantum,
	 .help = "what lines of -s time stand for (default: 100ms)"},
	FLAG(0, "ns", has_nanoseconds, "times of -s time to the nanosecond"),
	TEXT('F', "fields", fields, "FIELDS", "columns: overhead, overhead_children, overhead_sys, "
	     "overhead_us, sample, period and the keys of -s; +FIELD adds"),
	CALL('b', "branch-stack", NULL, count_branches, "count the branches of each sample, told "
	     "apart by comm,dso_from,symbol_from,symbol_to,cycles (default for recordings of "
	     "record -b)"),
	FLAG(0, "mem-mode", is_memory, "count memory accesses, of perf mem record, by their "
	     "cost, told apart by local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,"
	     "locked,blocked,local_ins_lat"),
	FLAG(0, "total-cycles", has_blocks, "blocks of code between the branches of each sample, by "
	     "the cycles they took"),
	CALL(0, "no-branch-stack", NULL, ignore_branches, "count samples whatever was recorded"),
	FLAG('n', "show-nr-samples", show_samples, "a column with the number of samples"),
	FLAG(0, "show-total-period", show_period, "a column with the sum of periods"),
	FLAG(0, "showcpuutilization", show_system_share, "columns for kernel and user"),
	FLAG(0, "hierarchy", is_hierarchy, "keys one below the other, with sums of each; -s '{a,b},c' "
	     "keeps a and b together"),
	CALL(0, "group", NULL, group_events, "events side by side, all of them if none were recorded as "
	     "a group; recorded groups are anyway"),
	CALL(0, "no-group", NULL, part_events, "one event after the other, whatever was recorded"),
	{.kind = OPTION_U32, .name = "group-sort-idx", .offset = FIELD(sort_member),
	 .argument = "NUMBER", .help = "sort by this event of the group, from 0 (default: the first)"},
	{.kind = OPTION_CALL, .name = "percent-limit", .argument = "PERCENT",
	 .parse = parse_percent_limit, .help = "leave out what has a smaller share, lines and parts of graphs",
	 .config = "report.percent-limit"},
	{.kind = OPTION_CALL, .name = "percentage", .argument = "relative|absolute",
	 .parse = parse_percentage,
	 .help = "100% is what filters leave, or all samples (default: absolute)",
	 .config = "hist.percentage"},
	HEADING("Call graphs"),
	{.kind = OPTION_CALL, .letter = 'g', .name = "call-graph", .argument = "WORDS",
	 .optional = ARGUMENT_MAYBE_NEXT, .parse = parse_graph,
	 .help = "words separated by commas: form (graph, fractal, flat, folded, none), smallest "
	 "percent, greatest number of entries, order (caller, callee), key (function, address, "
	 "srcline), "
	 "value (percent, period, count) (default: graph,0.5,caller,function,percent; callee with "
	 "--no-children)"},
	FLAG('G', "inverted", is_inverted, "callers first"),
	TEXT('p', "parent", parents, "REGEX", "callers that -s parent looks for, and that key (default: "
	     "^sys_|^do_page_fault)"),
	FLAG('x', "exclude-other", excludes_other, "leave out lines without such a caller"),
	TEXT(0, "ignore-callees", ignored_callees, "REGEX", "count what these functions call for "
	     "themselves"),
	{.kind = OPTION_U32, .name = "max-stack", .offset = FIELD(max_stack), .argument = "FRAMES",
	 .help = "look at no more frames of a stack"},
	FLAG(0, "branch-history", branch_history, "call graphs go through the branches of each sample, "
	     "where they went and where they came from (-s symbol,dso -g address)"),
	{.kind = OPTION_CALL, .name = "stitch-lbr", .argument = "certain|likely",
	 .optional = ARGUMENT_ATTACHED, .parse = parse_stitch,
	 .help = "LBR call stacks go on where the hardware cut them: by what is certain (default), "
	 "or also by what is likely, which is marked"},
	HEADING("Filters (LIST: a,b,c or file://PATH)"),
	TEXT('d', "dsos", dsos, "LIST", "only these binaries"),
	TEXT('S', "symbols", symbols, "LIST", "only these functions"),
	TEXT(0, "symbol-filter", symbol_part, "TEXT", "only functions with this in their name"),
	FLAG('U', "hide-unresolved", hides_unnamed, "leave out code without name, also in call graphs"),
	TEXT('c', "comms", comms, "LIST", "only threads of these names"),
	TEXT('C', "cpu", choice.cpus, "LIST", "only these CPUs (0,2-3), or threads of these names"),
	CALL(0, "socket-filter", "NUMBER", parse_socket, "only CPUs of this socket"),
	TEXT(0, "pid", choice.pids, "LIST", "only these processes"),
	TEXT(0, "tid", choice.tids, "LIST", "only these threads"),
	TEXT(0, "time", choice.times, "START,STOP", "only this time, in seconds, or as 10%-20%, 10%/2"),
	CGROUP_ROWS(choice),
	HEADING("The store of the daemon, in place of a recording"),
	STORE_ROW(windows),
	STORE_TIME_ROWS(windows),
	HEADING("Output"),
	FLAG(0, "json", json, "print JSON, with a version number"),
	CALL('w', "column-widths", "WIDTH,…", parse_widths, "cut columns to these widths; 0: as wide "
	     "as need be"),
	CALL('t', "field-separator", "TEXT", parse_separator, "between columns, for scripts"),
	FLAG('q', "quiet", is_quiet, "no comment lines"),
	FLAG(0, "header", header, "print what the recording says about its machine first"),
	FLAG(0, "header-only", header_only, "print only that"),
	FLAG('I', "show-info", header_all, "with --header or --header-only: its long parts too, CPUs, "
	     "caches and memory"),
	FLAG('T', "threads", has_counters, "below, what the events of each thread counted, of perf "
	     "record -s"),
	CALL(0, "stats", NULL, show_stats, "in place of a report: how many records there are of each "
	     "kind"),
	CALL(0, "tasks", NULL, show_tasks, "in place of a report: threads, and who began them"),
	CALL(0, "mmaps", NULL, show_maps, "the same, with what was mapped"),
	FLAG('D', "dump-raw-trace", dumps, "every record of the file, in hexadecimal and in words"),
	FLAG(0, "demangle", demangle, "show C++ and Rust names as they are written"),
	FLAG(0, "strict-perf", symbolize.only_symbols, "name only what perf names: code without symbol stays "
	     "addresses"),
	CALL(0, "inline", NULL, show_inlined, "show inlined functions in all stacks (default: in "
	     "copied ones, of perf record --call-graph dwarf)"),
	CALL(0, "no-inline", NULL, hide_inlined, "show no inlined functions"),
	CALL(0, "color", "auto|always|never", parse_color, "colour the percentages (default: auto)"),
	/* accepted */
	IGNORED(0, "stdio"), IGNORED(0, "stdio2"), IGNORED('f', "force"),
	IGNORED('m', "modules"), IGNORED(0, "demangle-kernel"), IGNORED(0, "skip-empty"),
	IGNORED('v', "verbose"),
	IGNORED(0, "ignore-vmlinux"), IGNORED(0, "asm-raw"), IGNORED(0, "source"),
	{.kind = OPTION_FLAG, .name = "show-cpu-utilization", .offset = FIELD(show_system_share),
	 .help = "as --showcpuutilization", .hidden = true},
	{.kind = OPTION_CALL, .name = "stdio-color", .argument = "WHEN",
	 .optional = ARGUMENT_MAYBE_NEXT, .parse = parse_stdio_color, .help = "as --color",
	 .hidden = true},
	ALIAS("dso", dsos, "LIST", "as --dsos"), ALIAS("comm", comms, "LIST", "as --comms"),
	{.kind = OPTION_TEXT, .offset = FIELD(sort), .argument = "KEYS",
	 .help = "as --sort", .hidden = true, .config = "report.sort-order"},
	{.kind = OPTION_FLAG, .offset = FIELD(ignored),
	 .help = "config only", .hidden = true, .config = "top.children"},
	{.kind = OPTION_FLAG, .offset = FIELD(has_groups),
	 .help = "config only", .hidden = true, .config = "report.group"},
	{.kind = OPTION_FLAG, .offset = FIELD(inlined_by_config),
	 .help = "config only", .hidden = true, .config = "report.inline"},
	CONFIG("call-graph.print-type", config_type),
	CONFIG("call-graph.threshold", config_threshold),
	CONFIG("call-graph.print-limit", config_limit),
	CONFIG("call-graph.order", config_order),
	CONFIG("call-graph.sort-key", config_key),
	/* of perf's screen, or of its annotations: without effect on perf's text, too */
	IGNORED_TEXT(0, "samples", "COUNT"), IGNORED_TEXT(0, "objdump", "PATH"),
	IGNORED_TEXT('M', "disassembler-style", "STYLE"), IGNORED_TEXT(0, "prefix", "PATH"),
	IGNORED_TEXT(0, "prefix-strip", "NUMBER"), IGNORED_TEXT(0, "percent-type", "TYPE"),
	{.kind = OPTION_CALL, .name = "pretty", .argument = "KEY", .parse = parse_pretty,
	 .help = "accepted", .hidden = true},
	REFUSALS(REFUSAL_ROW)
	{.kind = OPTION_END},
};
/* clang-format on */
