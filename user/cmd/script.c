/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * script: one sample after the other, as perf script prints them.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/input.h"
#include "cmd/sample_choice.h"
#include "cmd/script_print.h"
#include "cmd/stitching.h"
#include "cmd/unwinding.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <string.h>

struct script_settings {
	const char *input;
	struct script_layout layout;
	struct sample_choice choice;
	struct symbolize_settings symbolize;
	u32 asked; /* fields that were named: it is an error if they are not recorded */
	u8 stitch; /* enum lbr_tier; LBR_PLAIN: LBR call stacks are shown as perf does it */
	bool header, header_only, quiet;
};

enum {
	DEFAULT_FIELDS = PRINT_COMM | PRINT_TID | PRINT_TIME | PRINT_CPU | PRINT_PERIOD |
			 PRINT_EVENT | PRINT_IP | PRINT_SYM | PRINT_SYMOFF | PRINT_DSO,
};

static const struct {
	const char *name;
	u32 field;
} field_names[] = {
	{"comm", PRINT_COMM},
	{"tid", PRINT_TID},
	{"pid", PRINT_PID},
	{"time", PRINT_TIME},
	{"cpu", PRINT_CPU},
	{"period", PRINT_PERIOD},
	{"event", PRINT_EVENT},
	{"addr", PRINT_ADDR},
	{"ip", PRINT_IP},
	{"sym", PRINT_SYM},
	{"symoff", PRINT_SYMOFF},
	{"dso", PRINT_DSO},
	{"brstack", PRINT_BRSTACK},
	{"brstacksym", PRINT_BRSTACKSYM},
	{"brstackoff", PRINT_BRSTACKOFF},
	{"provenance", PRINT_PROVENANCE},
};

/* The field of a name that is `length` bytes long, 0 if there is none. */
static u32 find_field(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_COUNT(field_names); i++)
		if (strlen(field_names[i].name) == length &&
		    !strncmp(field_names[i].name, name, length))
			return field_names[i].field;
	return 0;
}

static int unknown_field(const char *name, size_t length)
{
	const char *names[ARRAY_COUNT(field_names) + 1] = {0};
	CLEANUP(freep) char *word = must_copy_bytes(name, length);
	CLEANUP(freep) char *remedy = NULL;
	const char *near;

	for (size_t i = 0; i < ARRAY_COUNT(field_names); i++)
		names[i] = field_names[i].name;
	near = nearest_name(word, names);
	if (near)
		remedy = must_format("did you mean %s?", near);
	return fail_plain(-EINVAL,
			  remedy ? remedy
				 : "there are comm, tid, pid, time, cpu, period, event, addr, ip, "
				   "sym, symoff, dso, brstack, brstacksym, brstackoff, provenance",
			  "unknown field '%s'", word);
}

/* "comm,tid,ip" in place of the default, or "+addr,-cpu" to change it. */
static int parse_fields(void *all_settings, const char *argument)
{
	struct script_settings *settings = all_settings;
	u32 fields = strchr("+-", *argument) ? settings->layout.fields : 0;

	for (const char *item = argument; *item; item += strspn(item, ",")) {
		bool is_removed = *item == '-';
		const char *name = item + strspn(item, "+-");
		size_t length = strcspn(name, ",");
		u32 field = find_field(name, length);

		if (!field)
			return unknown_field(name, length);
		fields = is_removed ? fields & ~field : fields | field;
		if (!is_removed)
			settings->asked |= field;
		item = name + length;
	}
	settings->layout.fields = fields;
	return 0;
}

static int parse_stitch(void *all_settings, const char *argument)
{
	struct script_settings *settings = all_settings;

	return stitching_parse(argument, &settings->stitch);
}

static const struct script_settings defaults = {
	.layout.fields = DEFAULT_FIELDS,
};

#define AT(member) offsetof(struct script_settings, member)

static const struct option_row options[] = {
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
	 .help = "what to print of a sample: "
		 "comm,tid,pid,time,cpu,period,event,addr,ip,sym,symoff,dso,"
		 "brstack,brstacksym,brstackoff,provenance; +FIELD and -FIELD change the default",
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
	{.kind = OPTION_FLAG,
	 .name = "header",
	 .offset = AT(header),
	 .help = "first where and how it was recorded"},
	{.kind = OPTION_FLAG,
	 .name = "header-only",
	 .offset = AT(header_only),
	 .help = "only where and how it was recorded"},
	{.kind = OPTION_FLAG,
	 .letter = 'q',
	 .name = "quiet",
	 .offset = AT(quiet),
	 .help = "do not mention what was passed over in the file"},
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
	{.kind = OPTION_FLAG,
	 .name = "raw-names",
	 .offset = AT(symbolize.raw_names),
	 .help = "names as in the symbol table, not demangled"},
	{.kind = OPTION_FLAG,
	 .name = "strict-perf",
	 .offset = AT(symbolize.only_symbols),
	 .help = "name only what perf names: code without symbol stays addresses"},
	{.kind = OPTION_END},
};

/* Of the fields that a recording may lack, those that some event of this one has; all others. */
static u32 recorded_fields(const struct script_settings *settings, const struct perfdata *data)
{
	enum { BIT_ADDR = 8 };
	u32 count, recorded = ~(u32)(PRINT_CPU | PRINT_TIME | PRINT_ADDR | PRINT_BRANCHES |
				     PRINT_PROVENANCE);
	const struct event_source *sources = perfdata_sources(data, &count);

	if (perfdata_header(data)->is_ours || settings->stitch != LBR_PLAIN ||
	    unwinding_is_needed(data))
		recorded |= PRINT_PROVENANCE;
	for (u32 i = 0; i < count; i++) {
		recorded |= sources[i].has_cpu ? PRINT_CPU : 0;
		recorded |= sources[i].has_time ? PRINT_TIME : 0;
		recorded |= sources[i].has_branches ? PRINT_BRANCHES : 0;
		recorded |= sources[i].sample_bits & BIT_ADDR ? PRINT_ADDR : 0;
	}
	return recorded;
}

/* A field that was asked for has to be recorded by some event. */
static int check_recorded(const struct script_settings *settings, const struct perfdata *data)
{
	u32 recorded = recorded_fields(settings, data);

	if (settings->choice.cpus && !(recorded & PRINT_CPU))
		return fail_plain(-EINVAL, "leave out --cpu",
				  "the samples do not say on which CPU they were taken");
	for (size_t i = 0; i < ARRAY_COUNT(field_names); i++)
		if (settings->asked & ~recorded & field_names[i].field)
			return fail_plain(-EINVAL, "leave it out of -F", "the samples hold no '%s'",
					  field_names[i].name);
	return 0;
}

/* Reader, choice of samples, and then both halves of the printer. */
static int print_samples(const struct script_settings *settings, struct perfdata *data,
			 const struct filter_settings *chosen)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = NULL;
	CLEANUP(sample_unwinder_freep) struct sample_unwinder *unwinder = NULL;
	struct symbolize_settings symbolize = settings->symbolize;
	struct lbr_settings lbr = {.tier = settings->stitch, .symfs = symbolize.symfs};
	struct lbr_tally tally;
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);
	struct script_printer *printer;
	struct event_sink *halves[2], *both, *filter;
	int error;

	/* On a terminal the samples themselves show how far it is. */
	if (!settings->quiet && !isatty(STDOUT_FILENO))
		input_show_progress(data, &symbolize);
	symbolizer = symbolizer_new(&symbolize);
	printer = script_printer_new(&settings->layout, sources, count, symbolizer, stdout);
	halves[0] = script_printer_follower(printer);
	halves[1] = script_printer_sink(printer);
	both = tee_new(halves, ARRAY_COUNT(halves));
	filter = filter_new(chosen, unwinding_before(both, data, symbolize.symfs, &unwinder));
	error = stitching_read(data, &lbr, filter, &tally);
	progress_clear();
	stitching_warn(data, settings->stitch);
	filter_free(filter);
	tee_free(both);
	script_printer_free(printer);
	if (fflush(stdout) && !error)
		error = fail(-errno, NULL, "cannot write to standard output");
	return error;
}

static int run(const void *all_settings, struct arguments arguments)
{
	const struct script_settings *settings = all_settings;
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	CLEANUP(chosen_samples_release) struct chosen_samples chosen = {0};
	const char *path;
	int error = input_choose(settings->input, arguments, &path);

	if (!error)
		error = perfdata_open(path, &data);
	if (!error)
		error = check_recorded(settings, data);
	if (!error)
		error = sample_choice_read(&settings->choice,
					   perfdata_header(data)->first_sample_ns,
					   perfdata_header(data)->last_sample_ns, &chosen);
	if (error)
		return error;
	pager_start();
	if (settings->header || settings->header_only)
		perfdata_print_header(data, stdout);
	if (!settings->header_only)
		error = print_samples(settings, data, &chosen.settings);
	pager_finish();
	if (!settings->quiet)
		input_print_warnings(data);
	return error;
}

const struct command command_script = {
	.name = "script",
	.summary = "print the samples of a recording, one after the other",
	.synopsis = "[options] [FILE]",
	.examples = "bpfprof script\tprint all samples of perf.data\n"
		    "bpfprof script -F comm,tid,time,ip,sym\tonly some fields\n"
		    "perf record -o - ls | bpfprof script\tread standard input\n",
	.options = options,
	.settings_bytes = sizeof(struct script_settings),
	.defaults = &defaults,
	.run = run,
};
