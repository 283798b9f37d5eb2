/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of record: perf record's letters and names where we have the thing, and for the rest
 * of perf record's options a line that says what to use instead.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/branch_filter.h"
#include "cmd/option_rows.h"
#include "cmd/record_settings.h"

#include <errno.h>
#include <string.h>

static int parse_frequency(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;
	u32 hz = 0;

	settings->is_frequency_max = !strcmp(argument, "max");
	if (!settings->is_frequency_max && (number_parse_u32(argument, &hz) || hz == 0))
		return fail_plain(-EINVAL, NULL, "give samples a second, such as 99, or max");
	settings->frequency_hz = hz;
	return 0;
}

static int parse_period(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;

	if (number_parse_u64(argument, &settings->period) || settings->period == 0)
		return fail_plain(-EINVAL, NULL, "give a number of events, at least 1");
	return 0;
}

static int parse_ring_size(void *all_settings, const char *argument)
{
	enum { RING_MAX_BYTES = 1 << 30 };
	struct record_settings *settings = all_settings;
	u64 bytes;

	if (number_parse_bytes(argument, &bytes) || !bytes || bytes > RING_MAX_BYTES)
		return fail_plain(-EINVAL, NULL,
				  "give a size such as 512K or 4M, at most 1G, or leave it out for "
				  "one that fits rate and CPUs");
	settings->ring_bytes = bytes;
	return 0;
}

static const struct {
	const char *name;
	enum call_graph mode;
} call_graphs[] = {
	{"auto", CALL_GRAPH_AUTO}, {"dwarf", CALL_GRAPH_DWARF}, {"fp", CALL_GRAPH_FP},
	{"none", CALL_GRAPH_NONE}, {"no", CALL_GRAPH_NONE},
};

static int refuse_call_graph(const char *mode)
{
	const char *names[ARRAY_COUNT(call_graphs) + 2] = {0};
	const char *near;

	for (size_t i = 0; i < ARRAY_COUNT(call_graphs); i++)
		names[i] = call_graphs[i].name;
	names[ARRAY_COUNT(call_graphs)] = "lbr";
	near = nearest_name(mode, names);
	if (near)
		return fail_plain(-EINVAL, NULL, "stacks are not walked so; did you mean %s?",
				  near);
	return fail_plain(-EINVAL, "use auto, dwarf, fp, lbr or none", "stacks are not walked so");
}

/* "dwarf,8192" as in perf, where the number says how much of the stack is copied. */
static int parse_call_graph(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;
	size_t length = strcspn(argument, ",");
	CLEANUP(freep) char *mode = must_copy_bytes(argument, length);
	u32 copied_bytes = 0, row = 0;

	settings->has_call_graph = true;
	/* A config file may say so, and the command line something else. */
	settings->wants_lbr = !strcmp(argument, "lbr");
	if (settings->wants_lbr) {
		settings->call_graph = CALL_GRAPH_AUTO;
		return 0;
	}
	while (row < ARRAY_COUNT(call_graphs) && strcmp(call_graphs[row].name, mode))
		row++;
	if (row == ARRAY_COUNT(call_graphs))
		return refuse_call_graph(mode);
	settings->call_graph = call_graphs[row].mode;
	settings->has_copy_size = argument[length] == ',';
	if (!settings->has_copy_size)
		return 0;
	if (settings->call_graph != CALL_GRAPH_DWARF ||
	    number_parse_u32(argument + length + 1, &copied_bytes))
		return fail_plain(-EINVAL, NULL, "leave out what stands behind the comma");
	return 0;
}

/* -g is for what is done anyway, unless a config file says otherwise. */
static int parse_graph(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;

	(void)argument;
	settings->has_call_graph = true;
	if (settings->call_graph == CALL_GRAPH_NONE)
		settings->call_graph = CALL_GRAPH_AUTO;
	return 0;
}

static int parse_branches(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;

	if (settings->branch_bits)
		return fail_plain(-EINVAL, "give -b or -j once", "branches are filtered one way");
	return branch_filter_parse(argument ? argument : "any", &settings->branch_bits);
}

static int parse_compression(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;

	settings->has_compression = true;
	if (!argument)
		settings->compress_level = COMPRESS_LEVEL_DEFAULT;
	else if (number_parse_u32(argument, &settings->compress_level) ||
		 settings->compress_level > 22)
		return fail_plain(-EINVAL, NULL, "give a level from 1 to 22, or 0 for none");
	return 0;
}

static int parse_duration(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;

	if (number_parse_duration(argument, &settings->duration_ns) || !settings->duration_ns)
		return fail_plain(-EINVAL, NULL, "give a time such as 10, 10s or 5m");
	return 0;
}

static int parse_window(void *all_settings, const char *argument)
{
	struct record_settings *settings = all_settings;

	if (number_parse_duration(argument, &settings->window_ns) ||
	    settings->window_ns < WINDOW_MIN_NS)
		return fail_plain(-EINVAL, NULL, "give a time such as 10s or 5m, at least 1s");
	return 0;
}

static int parse_clock(void *all_settings, const char *argument)
{
	(void)all_settings;
	if (!strcmp(argument, "mono") || !strcmp(argument, "monotonic") ||
	    !strcmp(argument, "CLOCK_MONOTONIC") || !strcmp(argument, "1"))
		return 0;
	return fail_plain(-EINVAL, "leave it out, or use -k mono",
			  "times are always of CLOCK_MONOTONIC");
}

/*
 * Options of perf record that ask for something we do not do:
 * X(identifier, letter, name, argument, why, what to do)
 */
#define REFUSALS(X)                                                                                \
	X(affinity, 0, "affinity", "MODE", "one thread reads all CPUs", "use taskset")             \
	X(aio, 0, "aio", NULL, "the file is written in large pieces", "leave it out")              \
	X(aux_sample, 0, "aux-sample", NULL, "hardware traces are not recorded",                   \
	  "use perf record")                                                                       \
	X(clang_opt, 0, "clang-opt", "OPTIONS", "scriptlets are not compiled", "leave it out")     \
	X(clang_path, 0, "clang-path", "PATH", "scriptlets are not compiled", "leave it out")      \
	X(code_page_size, 0, "code-page-size", NULL, "page sizes are not recorded",                \
	  "use perf record")                                                                       \
	X(control, 0, "control", "FD", "it cannot be controlled from outside",                     \
	  "use --duration, or end it with a signal")                                               \
	X(data, 'd', "data", NULL, "data addresses are not recorded", "use perf mem record")       \
	X(data_page_size, 0, "data-page-size", NULL, "page sizes are not recorded",                \
	  "use perf record")                                                                       \
	X(debuginfod, 0, "debuginfod", NULL, "names are found by report", "set DEBUGINFOD_URLS")   \
	X(delay, 'D', "delay", "MS", "recording begins at once",                                   \
	  "start it later, or use report --time")                                                  \
	X(dry_run, 0, "dry-run", NULL, "options are not tried without recording",                  \
	  "use bpfprof check")                                                                     \
	X(filter, 0, "filter", "FILTER", "events have no filters", "use -p, -t, -u, -G or -C")     \
	X(group, 0, "group", NULL, "events are not grouped", "list them with -e")                  \
	X(intr_regs, 'I', "intr-regs", NULL, "registers are not recorded", "use perf record -I")   \
	X(kcore, 0, "kcore", NULL, "kernel code is not copied", "use perf record --kcore")         \
	X(kernel_callchains, 0, "kernel-callchains", NULL, "both stacks are recorded",             \
	  "use -e EVENT:k for samples in the kernel only")                                         \
	X(max_size, 0, "max-size", "SIZE", "files have no limit", "use --duration, or a lower -F") \
	X(mmap_flush, 0, "mmap-flush", "BYTES", "the ring is read four times a second",            \
	  "leave it out")                                                                          \
	X(mmap_pages, 'm', "mmap-pages", "PAGES", "samples come through one BPF ring",             \
	  "use --ring-size")                                                                       \
	X(namespaces, 0, "namespaces", NULL, "namespaces are not recorded", "use perf record")     \
	X(no_bpf_event, 0, "no-bpf-event", NULL, "BPF programs are always recorded",               \
	  "leave it out")                                                                          \
	X(no_buffering, 0, "no-buffering", NULL, "samples are always read in batches",             \
	  "leave it out")                                                                          \
	X(no_buildid, 'B', "no-buildid", NULL, "build ids are always recorded",                    \
	  "leave it out: they come from the kernel and cost nothing")                              \
	X(no_samples, 'n', "no-samples", NULL, "nothing else is recorded", "use perf record -n")   \
	X(num_thread_synthesize, 0, "num-thread-synthesize", "N",                                  \
	  "the start-up scan has one thread", "leave it out")                                      \
	X(off_cpu, 0, "off-cpu", NULL, "waiting is not recorded", "use perf record --off-cpu")     \
	X(overwrite, 0, "overwrite", NULL, "the ring is never overwritten", "use --duration")      \
	X(per_thread, 0, "per-thread", NULL, "each sample names its thread", "use -p or -t")       \
	X(phys_data, 0, "phys-data", NULL, "data addresses are not recorded",                      \
	  "use perf mem record")                                                                   \
	X(proc_map_timeout, 0, "proc-map-timeout", "MS", "the start-up scan has no limit",         \
	  "leave it out")                                                                          \
	X(raw_samples, 'R', "raw-samples", NULL, "our events have no raw data", "leave it out")    \
	X(realtime, 'r', "realtime", "PRIORITY", "it keeps the priority it was started with",      \
	  "use chrt -f PRIORITY bpfprof")                                                          \
	X(running_time, 0, "running-time", NULL, "counts are not recorded", "use perf record")     \
	X(snapshot, 'S', "snapshot", NULL, "hardware traces are not recorded", "use perf record")  \
	X(stat, 's', "stat", NULL, "counts are not recorded", "use perf stat")                     \
	X(switch_events, 0, "switch-events", NULL, "context switches are not recorded",            \
	  "use -e context-switches to sample them")                                                \
	X(switch_max_files, 0, "switch-max-files", "N", "one recording is one file",               \
	  "record again with --duration")                                                          \
	X(switch_output, 0, "switch-output", NULL, "one recording is one file",                    \
	  "record again with --duration")                                                          \
	X(switch_output_event, 0, "switch-output-event", "EVENT", "one recording is one file",     \
	  "record again with --duration")                                                          \
	X(synth, 0, "synth", "WHAT", "running processes are always scanned", "leave it out")       \
	X(tail_synthesize, 0, "tail-synthesize", NULL, "running processes are scanned first",      \
	  "leave it out")                                                                          \
	X(threads, 0, "threads", NULL, "one thread writes one file", "leave it out")               \
	X(timestamp_filename, 0, "timestamp-filename", NULL, "the name is the one you give",       \
	  "use -o perf.data.$(date +%F-%T)")                                                       \
	X(transaction, 0, "transaction", NULL, "transactions are not recorded", "use perf record") \
	X(user_callchains, 0, "user-callchains", NULL, "both stacks are recorded",                 \
	  "use -e EVENT:u for samples in user space only")                                         \
	X(user_regs, 0, "user-regs", NULL, "registers are not recorded", "use perf record")        \
	X(vmlinux, 0, "vmlinux", "FILE", "names are found by report", "use report --vmlinux FILE") \
	X(weight, 'W', "weight", NULL, "weights are not recorded", "use perf record -W")

REFUSALS(REFUSAL_PARSER)

/* Options of perf record that ask for what is done anyway. */
#define AS_EVER(short_name, long_name)                                               \
	{                                                                            \
		.kind = OPTION_FLAG, .letter = (short_name), .name = (long_name),    \
		.offset = offsetof(struct record_settings, as_ever), .hidden = true, \
		.help = "what is done anyway"                                        \
	}

#define FIELD(member) .offset = offsetof(struct record_settings, member)

const struct record_settings record_defaults = {
	.call_graph = CALL_GRAPH_AUTO,
	.max_stack = MAX_STACK_DEFAULT,
	.compress_level = COMPRESS_LEVEL_DEFAULT,
	.unwind_bytes = UNWIND_BYTES_DEFAULT,
	.output = "perf.data",
};

const struct option_row record_options[] = {
	HEADING("Who"),
	{.kind = OPTION_FLAG,
	 .letter = 'a',
	 .name = "all-cpus",
	 FIELD(all),
	 .help = "everything on all CPUs; the default if nobody else is named"},
	{.kind = OPTION_LIST,
	 .letter = 'C',
	 .name = "cpu",
	 FIELD(cpus),
	 .argument = "CPUS",
	 .help = "only these CPUs: 0-3,7"},
	{.kind = OPTION_LIST,
	 .letter = 'p',
	 .name = "pid",
	 FIELD(pids),
	 .argument = "PID",
	 .help = "these processes, their threads and what they start; a comma list"},
	{.kind = OPTION_LIST,
	 .letter = 't',
	 .name = "tid",
	 FIELD(tids),
	 .argument = "TID",
	 .help = "these threads and what they start; a comma list"},
	{.kind = OPTION_TEXT,
	 .letter = 'G',
	 .name = "cgroup",
	 FIELD(cgroup),
	 .argument = "PATH",
	 .help = "what runs in this cgroup or below it"},
	{.kind = OPTION_TEXT,
	 .letter = 'u',
	 .name = "uid",
	 FIELD(user),
	 .argument = "USER",
	 .help = "what runs as this user, a name or a number"},
	{.kind = OPTION_FLAG,
	 .letter = 'i',
	 .name = "no-inherit",
	 FIELD(no_inherit),
	 .help = "do not follow new threads and children"},
	{.kind = OPTION_FLAG,
	 .name = "idle",
	 FIELD(wants_idle),
	 .help = "keep samples of the idle task, which are left out otherwise"},
	{.kind = OPTION_FLAG,
	 .name = "all-user",
	 FIELD(all_user),
	 .help = "only samples in user space, as if every event had :u"},
	{.kind = OPTION_FLAG,
	 .name = "all-kernel",
	 FIELD(all_kernel),
	 .help = "only samples in the kernel, as if every event had :k"},

	HEADING("What"),
	{.kind = OPTION_LIST,
	 .letter = 'e',
	 .name = "event",
	 FIELD(events),
	 .argument = "EVENTS",
	 .help = "a comma list: cycles, cpu-clock, page-faults, rHEX, pmu/term=value/, with :u :k "
		 ":p; by default cycles where the CPU counts them, else cpu-clock"},
	{.kind = OPTION_CALL,
	 .letter = 'F',
	 .name = "freq",
	 .argument = "HZ",
	 .help = "samples a second on each CPU, or max (default: 99)",
	 .parse = parse_frequency},
	{.kind = OPTION_CALL,
	 .letter = 'c',
	 .name = "count",
	 .argument = "EVENTS",
	 .help = "a sample each so many events (of clocks: nanoseconds), in place of -F",
	 .parse = parse_period},
	{.kind = OPTION_FLAG,
	 .name = "all-cgroups",
	 FIELD(all_cgroups),
	 .help = "record of which cgroup each sample is, for report by cgroup, container or unit"},
	{.kind = OPTION_CALL,
	 .letter = 'g',
	 .name = "graph",
	 .help = "record stacks; they are recorded anyway",
	 .parse = parse_graph},
	{.kind = OPTION_CALL,
	 .name = "call-graph",
	 .argument = "auto|dwarf|fp|lbr|none",
	 .help = "how user stacks are walked: by unwind tables (dwarf), by frame pointers (fp), "
		 "by tables where there are some and frame pointers elsewhere (auto, the default), "
		 "or so and by the calls that the CPU remembers (lbr); none records no stacks",
	 .config = "call-graph.record-mode",
	 .parse = parse_call_graph},
	{.kind = OPTION_U32,
	 .name = "max-stack",
	 FIELD(max_stack),
	 .argument = "FRAMES",
	 .help = "how many frames of the user's stack, and of the kernel's: 1 to 512"},
	{.kind = OPTION_FLAG,
	 .name = "no-stitch",
	 FIELD(no_stitch),
	 .help = "with --call-graph lbr: write the records of the CPU as they are, in place of "
		 "the call chains made of them"},
	{.kind = OPTION_CALL,
	 .letter = 'b',
	 .name = "branch-any",
	 .help = "record the last branches before each sample, and stacks only with -g",
	 .parse = parse_branches},
	{.kind = OPTION_CALL,
	 .letter = 'j',
	 .name = "branch-filter",
	 .argument = "FILTER",
	 .help = "the same of some branches: any, any_call, any_ret, ind_call, call, cond, u, k, …",
	 .parse = parse_branches},

	{.kind = OPTION_FLAG,
	 .name = "aggregate",
	 FIELD(aggregate),
	 .help = "count samples that are alike in the kernel, and record each sum once a window"},
	{.kind = OPTION_CALL,
	 .name = "window",
	 .argument = "TIME",
	 .help = "with --aggregate: how long it counts (default: 1m)",
	 .parse = parse_window},

	HEADING("How long, and where to"),
	{.kind = OPTION_CALL,
	 .name = "duration",
	 .argument = "TIME",
	 .help = "end after this time: 10, 10s, 5m",
	 .parse = parse_duration},
	{.kind = OPTION_TEXT,
	 .letter = 'o',
	 .name = "output",
	 FIELD(output),
	 .argument = "FILE",
	 .help = "the file; one that is there becomes FILE.old; - is a stream on stdout"},
	{.kind = OPTION_CALL,
	 .letter = 'z',
	 .name = "compression-level",
	 .argument = "LEVEL",
	 .optional = ARGUMENT_ATTACHED,
	 .help = "compress with zstd, level 1 to 22, or 0: not; files by default with 1",
	 .parse = parse_compression},
	{.kind = OPTION_CALL,
	 .name = "ring-size",
	 .argument = "SIZE",
	 .help = "memory between kernel and bpfprof; by default by rate and CPUs",
	 .parse = parse_ring_size},
	{.kind = OPTION_BYTES,
	 .name = "unwind-memory",
	 FIELD(unwind_bytes),
	 .argument = "SIZE",
	 .help = "kernel memory for unwind tables: 1M to 1G; what is used least makes room "
		 "(default: 64M)"},
	{.kind = OPTION_FLAG,
	 .letter = 'q',
	 .name = "quiet",
	 FIELD(quiet),
	 .help = "say nothing but errors"},
	{.kind = OPTION_FLAG,
	 .letter = 'v',
	 .name = "verbose",
	 FIELD(verbose),
	 .help = "also print every counter at the end"},

	{.kind = OPTION_CALL,
	 .letter = 'k',
	 .name = "clockid",
	 .argument = "CLOCK",
	 .hidden = true,
	 .help = "only CLOCK_MONOTONIC",
	 .parse = parse_clock},
	AS_EVER('N', "no-buildid-cache"),
	AS_EVER('P', "period"),
	AS_EVER('T', "timestamp"),
	AS_EVER(0, "buildid-all"),
	AS_EVER(0, "buildid-mmap"),
	AS_EVER(0, "exclude-perf"),
	AS_EVER(0, "sample-cpu"),
	AS_EVER(0, "sample-identifier"),
	AS_EVER(0, "strict-freq"),
	AS_EVER(0, "timestamp-boundary"),
	REFUSALS(REFUSAL_ROW){.kind = OPTION_END},
};
