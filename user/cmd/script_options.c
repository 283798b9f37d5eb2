/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of script.
 */
#include "base/fail.h"
#include "cmd/cmd.h"
#include "cmd/option_rows.h"
#include "cmd/script_settings.h"
#include "cmd/stitching.h"

#include <errno.h>

static int parse_fields(void *all_settings, const char *argument)
{
	struct script_settings *settings = all_settings;

	return script_fields_parse(&settings->layout.fields, argument);
}

SETS(parse_reltime, struct script_settings, layout.times, SCRIPT_TIMES_SINCE_FIRST)
SETS(parse_deltatime, struct script_settings, layout.times, SCRIPT_TIMES_SINCE_PREVIOUS)
SETS(show_inlined, struct script_settings, inlined, INLINED_ALWAYS)
SETS(hide_inlined, struct script_settings, inlined, INLINED_NEVER)
SETS(show_written_names, struct script_settings, symbolize.raw_names, false)
SETS(show_linker_names, struct script_settings, symbolize.raw_names, true)

/* An option that adds records to those that are printed. */
#define SHOWS(name, bit)                                                         \
	static int show_##name(void *all_settings, const char *argument)         \
	{                                                                        \
		((struct script_settings *)all_settings)->layout.shows |= (bit); \
		(void)argument;                                                  \
		return 0;                                                        \
	}

SHOWS(task, SHOW_TASKS)
SHOWS(mmap, SHOW_MAPPINGS)
SHOWS(switch, SHOW_SWITCHES)
SHOWS(namespace, SHOW_NAMESPACES)
SHOWS(cgroup, SHOW_CGROUPS)
SHOWS(lost, SHOW_LOSSES)
SHOWS(bpf, SHOW_BPF)

/* As perf then does it: nothing is sorted, so that the samples of a round stand before its end. */
static int show_round(void *all_settings, const char *argument)
{
	struct script_settings *settings = all_settings;

	settings->layout.shows |= SHOW_ROUNDS;
	settings->in_file_order = true;
	(void)argument;
	return 0;
}

static int parse_unsorted_dump(void *all_settings, const char *argument)
{
	struct script_settings *settings = all_settings;

	settings->layout.dumps = settings->in_file_order = true;
	(void)argument;
	return 0;
}

static int parse_stitch(void *all_settings, const char *argument)
{
	struct script_settings *settings = all_settings;

	return stitching_parse(argument, &settings->stitch);
}

const struct script_settings script_defaults = {
	.layout.fields = SCRIPT_FIELDS_DEFAULT,
	.names = NAMES_CHOICE_DEFAULTS,
};

/* --- what perf script has and this has not --- */

#define NO_SCRIPTS  "there are no scripts in Perl and Python"
#define READ_TEXT   "read the text, or use perf script"
#define NO_FILTERS  "libraries that filter are not loaded"
#define USE_FILTERS "use --pid, --comms, --symbols, --dsos or --time"
#define NO_TRACES   "hardware traces are not decoded"
#define NO_GUESTS   "code of guests is not named"
#define USE_PERF    "use perf script"
#define NO_SWITCHES "events do not switch the output on and off"
#define USE_TIME    "choose a part with --time"

#define REFUSALS(X)                                                                           \
	X(gen_script, 'g', "gen-script", "LANGUAGE", NO_SCRIPTS, READ_TEXT)                   \
	X(script, 's', "script", "NAME", NO_SCRIPTS, READ_TEXT)                               \
	X(list, 'l', "list", NULL, NO_SCRIPTS, READ_TEXT)                                     \
	X(dlfilter, 0, "dlfilter", "FILE", NO_FILTERS, USE_FILTERS)                           \
	X(dlarg, 0, "dlarg", "ARGUMENT", NO_FILTERS, USE_FILTERS)                             \
	X(list_dlfilters, 0, "list-dlfilters", NULL, NO_FILTERS, USE_FILTERS)                 \
	X(call_trace, 0, "call-trace", NULL, NO_TRACES, USE_PERF)                             \
	X(call_ret, 0, "call-ret-trace", NULL, NO_TRACES, USE_PERF)                           \
	X(insn_trace, 0, "insn-trace", NULL, NO_TRACES, USE_PERF)                             \
	X(itrace, 0, "itrace", NULL, NO_TRACES, USE_PERF)                                     \
	X(xed, 0, "xed", NULL, NO_TRACES, USE_PERF)                                           \
	X(graph_function, 0, "graph-function", "NAMES", NO_TRACES, USE_PERF)                  \
	X(guest_code, 0, "guest-code", NULL, NO_GUESTS, USE_PERF)                             \
	X(guest_symbols, 0, "guestkallsyms", "FILE", NO_GUESTS, USE_PERF)                     \
	X(guest_modules, 0, "guestmodules", "FILE", NO_GUESTS, USE_PERF)                      \
	X(guest_mount, 0, "guestmount", "DIRECTORY", NO_GUESTS, USE_PERF)                     \
	X(guest_kernel, 0, "guestvmlinux", "FILE", NO_GUESTS, USE_PERF)                       \
	X(switch_on, 0, "switch-on", "EVENT", NO_SWITCHES, USE_TIME)                          \
	X(switch_off, 0, "switch-off", "EVENT", NO_SWITCHES, USE_TIME)                        \
	X(on_off, 0, "show-on-off-events", NULL, NO_SWITCHES, USE_TIME)                       \
	X(text_poke, 0, "show-text-poke-events", NULL,                                        \
	  "changes of kernel code are not told in words", "use -D")                           \
	X(addr_range, 0, "addr-range", "BYTES", "-S takes names of functions, no addresses",  \
	  "choose by what -F ip prints")                                                      \
	X(per_event, 0, "per-event-dump", NULL, "all events go to standard output",           \
	  "choose by the name that -F event prints")                                          \
	X(kernel_path, 0, "show-kernel-path", NULL, "the kernel is called [kernel.kallsyms]", \
	  "leave it out")
REFUSALS(REFUSAL_PARSER)

#define AT(member)   offsetof(struct script_settings, member)
#define FIELD(field) AT(field)

const struct option_row script_options[] = {
	{.kind = OPTION_TEXT,
	 .letter = 'i',
	 .name = "input",
	 .offset = AT(input),
	 .argument = "FILE",
	 .help = "recording to read (perf.data); - reads standard input"},
	{.kind = OPTION_HEADING, .help = "What is printed"},
	{.kind = OPTION_CALL,
	 .letter = 'F',
	 .name = "fields",
	 .argument = "LIST",
	 .help = "what to print of a sample, in perf's order: comm,tid,pid,cpu,misc,tod,time,"
		 "period,event,flags,addr,data_src,weight,ins_lat,provenance,ip,sym,symoff,dso,"
		 "srcline,srccode,"
		 "iregs,uregs,"
		 "brstack,brstacksym,brstackoff,bpf-output,phys_addr,data_page_size,"
		 "code_page_size; +FIELD and -FIELD change the default; with hw:, sw:, trace:, "
		 "raw: or break: in front it is for such events only",
	 .parse = parse_fields},
	{.kind = OPTION_FLAG,
	 .letter = 'G',
	 .name = "hide-call-graph",
	 .offset = AT(layout.hide_chains),
	 .help = "only where the CPU was, not who called it"},
	{.kind = OPTION_U32,
	 .name = "max-stack",
	 .offset = AT(layout.max_stack),
	 .argument = "FRAMES",
	 .help = "innermost frames of a stack that are shown"},
	{.kind = OPTION_U32,
	 .name = "max-blocks",
	 .offset = AT(layout.max_blocks),
	 .argument = "COUNT",
	 .help = "blocks that -F brstackinsn shows of a sample, the last ones"},
	{.kind = OPTION_FLAG,
	 .name = "full-source-path",
	 .offset = AT(layout.full_source_path),
	 .help = "source files with their folders, in -F srcline"},
	{.kind = OPTION_CALL,
	 .name = "stitch-lbr",
	 .argument = "certain|likely",
	 .optional = ARGUMENT_ATTACHED,
	 .parse = parse_stitch,
	 .help = "LBR call stacks go on where the hardware cut them: by what is certain (default), "
		 "or also by what is likely, which is marked"},
	{.kind = OPTION_FLAG,
	 .name = "ns",
	 .offset = AT(layout.is_ns),
	 .help = "times with nine digits of a second"},
	{.kind = OPTION_CALL,
	 .name = "reltime",
	 .parse = parse_reltime,
	 .help = "times since the first that is printed"},
	{.kind = OPTION_CALL,
	 .name = "deltatime",
	 .parse = parse_deltatime,
	 .help = "times since the one printed before"},
	{.kind = OPTION_FLAG,
	 .letter = 'L',
	 .name = "Latency",
	 .offset = AT(layout.is_latency),
	 .help = "short columns for names and CPUs"},
	{.kind = OPTION_TEXT,
	 .name = "stop-bt",
	 .offset = AT(layout.last_frames),
	 .argument = "NAMES",
	 .help = "a stack ends with the first of these functions"},
	{.kind = OPTION_FLAG,
	 .name = "header",
	 .offset = AT(header),
	 .help = "first where and how it was recorded"},
	{.kind = OPTION_FLAG,
	 .name = "header-only",
	 .offset = AT(header_only),
	 .help = "only where and how it was recorded"},
	{.kind = OPTION_FLAG,
	 .letter = 'I',
	 .name = "show-info",
	 .offset = AT(header_all),
	 .help = "with them: its long parts too, CPUs, caches and memory"},
	{.kind = OPTION_FLAG,
	 .letter = 'q',
	 .name = "quiet",
	 .offset = AT(quiet),
	 .help = "do not mention what was passed over in the file"},
	{.kind = OPTION_HEADING, .help = "Other records, as they come between the samples"},
	{.kind = OPTION_CALL,
	 .name = "show-task-events",
	 .parse = show_task,
	 .help = "threads that begin, end and get names"},
	{.kind = OPTION_CALL,
	 .name = "show-mmap-events",
	 .parse = show_mmap,
	 .help = "what is mapped"},
	{.kind = OPTION_CALL,
	 .name = "show-switch-events",
	 .parse = show_switch,
	 .help = "threads that leave and enter CPUs, if recorded"},
	{.kind = OPTION_CALL,
	 .name = "show-namespace-events",
	 .parse = show_namespace,
	 .help = "namespaces of threads, if recorded"},
	{.kind = OPTION_CALL,
	 .name = "show-cgroup-events",
	 .parse = show_cgroup,
	 .help = "cgroups, if recorded"},
	{.kind = OPTION_CALL,
	 .name = "show-lost-events",
	 .parse = show_lost,
	 .help = "losses of the kernel's buffer"},
	{.kind = OPTION_CALL,
	 .name = "show-bpf-events",
	 .parse = show_bpf,
	 .help = "BPF programs that come and go, if recorded"},
	{.kind = OPTION_CALL,
	 .name = "show-round-events",
	 .parse = show_round,
	 .help = "where the recorder had emptied its buffers"},
	{.kind = OPTION_FLAG,
	 .letter = 'D',
	 .name = "dump-raw-trace",
	 .offset = AT(layout.dumps),
	 .help = "every record of the file, in hexadecimal and in words"},
	{.kind = OPTION_CALL,
	 .name = "dump-unsorted-raw-trace",
	 .parse = parse_unsorted_dump,
	 .help = "the same, in the order of the file"},
	{.kind = OPTION_HEADING, .help = "Which samples"},
	{.kind = OPTION_TEXT,
	 .name = "pid",
	 .offset = AT(choice.pids),
	 .argument = "LIST",
	 .help = "of these processes"},
	{.kind = OPTION_TEXT,
	 .name = "tid",
	 .offset = AT(choice.tids),
	 .argument = "LIST",
	 .help = "of these threads"},
	{.kind = OPTION_TEXT,
	 .letter = 'c',
	 .name = "comms",
	 .offset = AT(layout.comms),
	 .argument = "NAMES",
	 .help = "of threads with these names"},
	{.kind = OPTION_TEXT,
	 .name = "comm",
	 .offset = AT(layout.comms),
	 .argument = "NAMES",
	 .help = "the same",
	 .hidden = true},
	{.kind = OPTION_TEXT,
	 .letter = 'S',
	 .name = "symbols",
	 .offset = AT(layout.symbols),
	 .argument = "NAMES",
	 .help = "in these functions"},
	{.kind = OPTION_TEXT,
	 .name = "dsos",
	 .offset = AT(layout.dsos),
	 .argument = "NAMES",
	 .help = "in these programs and libraries"},
	{.kind = OPTION_TEXT,
	 .letter = 'C',
	 .name = "cpu",
	 .offset = AT(choice.cpus),
	 .argument = "LIST",
	 .help = "on these CPUs"},
	{.kind = OPTION_TEXT,
	 .name = "time",
	 .offset = AT(choice.times),
	 .argument = "RANGE",
	 .help = "START,STOP in seconds, or a share: 10%-20%, 10%/2"},
	CGROUP_ROWS(choice),
	HEADING("The store of the daemon, in place of a recording"),
	STORE_ROW(windows),
	STORE_TIME_ROWS(windows),
	{.kind = OPTION_HEADING, .help = "Names"},
	{.kind = OPTION_TEXT,
	 .name = "symfs",
	 .offset = AT(symbolize.symfs),
	 .argument = "DIRECTORY",
	 .help = "look for programs and libraries below this folder"},
	{.kind = OPTION_TEXT,
	 .name = "kallsyms",
	 .offset = AT(symbolize.kallsyms),
	 .argument = "FILE",
	 .help = "names of the kernel's functions"},
	{.kind = OPTION_TEXT,
	 .letter = 'k',
	 .name = "vmlinux",
	 .offset = AT(symbolize.vmlinux),
	 .argument = "FILE",
	 .help = "kernel image with symbols"},
	NAMES_CHOICE_ROWS,
	{.kind = OPTION_FLAG,
	 .name = "raw-names",
	 .offset = AT(symbolize.raw_names),
	 .help = "names as in the symbol table, not demangled"},
	{.kind = OPTION_CALL,
	 .name = "inline",
	 .parse = show_inlined,
	 .help = "inlined functions in all stacks (default: in copied ones, of perf record "
		 "--call-graph dwarf)"},
	{.kind = OPTION_CALL,
	 .name = "no-inline",
	 .parse = hide_inlined,
	 .help = "no inlined functions"},
	{.kind = OPTION_FLAG,
	 .name = "strict-perf",
	 .offset = AT(symbolize.only_symbols),
	 .help = "name only what perf names: code without symbol stays addresses"},
	/* accepted, with perf's names */
	IGNORED('f', "force"),
	IGNORED('v', "verbose"),
	IGNORED('a', "all-cpus"),
	IGNORED('d', "debug-mode"),
	IGNORED(0, "demangle-kernel"),
	{.kind = OPTION_CALL,
	 .name = "demangle",
	 .parse = show_written_names,
	 .help = "accepted",
	 .hidden = true},
	{.kind = OPTION_CALL,
	 .name = "no-demangle",
	 .parse = show_linker_names,
	 .help = "as --raw-names",
	 .hidden = true},
	REFUSALS(REFUSAL_ROW){.kind = OPTION_END},
};
