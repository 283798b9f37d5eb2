/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of daemon; those that record has too are read as record reads them.
 */
#include "base/fail.h"
#include "base/number.h"
#include "cmd/daemon_settings.h"
#include "cmd/option_rows.h"
#include "continuous/continuous.h"

#include <errno.h>
#include <string.h>

static int parse_as_record(const char *name, void *settings, const char *argument)
{
	const struct option_row *row = record_options;

	while (!row->name || strcmp(row->name, name) != 0)
		row++;
	return row->parse(settings, argument);
}

static int parse_frequency(void *settings, const char *argument)
{
	return parse_as_record("freq", settings, argument);
}

static int parse_call_graph(void *settings, const char *argument)
{
	if (!strcmp(argument, "lbr"))
		return fail_plain(-EINVAL, "use auto, dwarf, fp or none",
				  "branch records are not kept in windows");
	return parse_as_record("call-graph", settings, argument);
}

static int parse_window(void *all_settings, const char *argument)
{
	enum { NS_PER_S = 1000000000, DAY_S = 24 * 60 * 60 };
	struct daemon_settings *settings = all_settings;
	u64 ns;

	if (number_parse_duration(argument, &ns) || ns < NS_PER_S || ns > DAY_S * (u64)NS_PER_S)
		return fail_plain(-EINVAL, NULL, "give a time from 1s to 24h, such as 1m");
	settings->window_ns = ns;
	return 0;
}

/* No limit. (Not "0", by which somebody may mean that nothing is to be kept or spent.) */
static bool is_none(const char *argument)
{
	return !strcmp(argument, "none");
}

static int parse_keep_size(void *all_settings, const char *argument)
{
	enum { LEAST = 1 << 20 }; /* by less somebody means other units, and no window would stay */
	struct daemon_settings *settings = all_settings;

	settings->keep_bytes = 0;
	if (is_none(argument))
		return 0;
	if (number_parse_bytes(argument, &settings->keep_bytes) || settings->keep_bytes < LEAST)
		return fail_plain(-EINVAL, NULL, "give a size of 1M or more, such as 2G, or none");
	return 0;
}

static int parse_keep_time(void *all_settings, const char *argument)
{
	struct daemon_settings *settings = all_settings;

	settings->keep_ns = 0;
	if (is_none(argument))
		return 0;
	if (number_parse_duration(argument, &settings->keep_ns) || !settings->keep_ns)
		return fail_plain(-EINVAL, NULL, "give a time such as 30d or 12h, or none");
	return 0;
}

static int parse_max_cpu(void *all_settings, const char *argument)
{
	struct daemon_settings *settings = all_settings;

	settings->max_cpu_percent = 0;
	if (is_none(argument))
		return 0;
	if (number_parse_percent(argument, &settings->max_cpu_percent) ||
	    settings->max_cpu_percent <= 0)
		return fail_plain(-EINVAL, NULL, "give a share of one CPU such as 0.5%%, or none");
	return 0;
}

static int parse_max_memory(void *all_settings, const char *argument)
{
	struct daemon_settings *settings = all_settings;

	if (number_parse_bytes(argument, &settings->memory_bytes) || !settings->memory_bytes)
		return fail_plain(-EINVAL, NULL, "give a size such as 128M");
	return 0;
}

#define FIELD(field) offsetof(struct daemon_settings, field)

const struct daemon_settings daemon_defaults = {
	.record = {.all = true,
		   .call_graph = CALL_GRAPH_AUTO,
		   .max_stack = MAX_STACK_DEFAULT,
		   .compress_level = COMPRESS_LEVEL_DEFAULT,
		   .unwind_bytes = UNWIND_BYTES_DEFAULT,
		   .output = "",
		   .quiet = true},
	.store = STORE_DIRECTORY,
	.window_ns = 60000000000,
	.keep_bytes = 2ULL << 30,
	.keep_ns = 30ULL * 24 * 60 * 60 * 1000000000,
	.memory_bytes = 128 << 20,
	.max_cpu_percent = 0.5,
	.push_spool_bytes = 64 << 20,
};

const struct option_row daemon_options[] = {
	HEADING("What"),
	{.kind = OPTION_LIST,
	 .letter = 'e',
	 .name = "event",
	 .offset = FIELD(record.events),
	 .argument = "EVENTS",
	 .help = "as of record; by default cycles where the CPU counts them, else cpu-clock",
	 .config = "daemon.event"},
	{.kind = OPTION_CALL,
	 .letter = 'F',
	 .name = "freq",
	 .argument = "HZ",
	 .help = "samples a second on each CPU (default: 99)",
	 .config = "daemon.freq",
	 .parse = parse_frequency},
	{.kind = OPTION_CALL,
	 .name = "call-graph",
	 .argument = "auto|dwarf|fp|none",
	 .help = "how user stacks are walked, as of record (default: auto)",
	 .config = "daemon.call-graph",
	 .parse = parse_call_graph},
	{.kind = OPTION_BYTES,
	 .name = "unwind-memory",
	 .offset = FIELD(record.unwind_bytes),
	 .argument = "SIZE",
	 .help = "kernel memory for unwind tables: 1M to 1G",
	 .config = "daemon.unwind-memory"},

	HEADING("Where to, and how much"),
	{.kind = OPTION_CALL,
	 .name = "window",
	 .argument = "TIME",
	 .help = "how long a window is; it begins where the clock shows a multiple of it "
		 "(default: 1m)",
	 .config = "daemon.window",
	 .parse = parse_window},
	{.kind = OPTION_TEXT,
	 .name = "store",
	 .offset = FIELD(store),
	 .argument = "DIRECTORY",
	 .help = "where windows are kept, by one daemon at a time",
	 .config = "daemon.store"},
	{.kind = OPTION_CALL,
	 .name = "keep-size",
	 .argument = "SIZE",
	 .help = "keep at most so much, the newest; none for no limit (default: 2G)",
	 .config = "daemon.keep-size",
	 .parse = parse_keep_size},
	{.kind = OPTION_CALL,
	 .name = "keep-time",
	 .argument = "TIME",
	 .help = "keep what is not older than this; none for no limit (default: 30d)",
	 .config = "daemon.keep-time",
	 .parse = parse_keep_time},
	{.kind = OPTION_FLAG,
	 .name = "keep-lines",
	 .offset = FIELD(keep_lines),
	 .help = "keep source lines and inlined functions of what was sampled, too, besides the "
		 "names of functions",
	 .config = "daemon.keep-lines"},
	{.kind = OPTION_CALL,
	 .name = "max-cpu",
	 .argument = "PERCENT",
	 .help = "of one CPU, for sampling and this process: above it the rate is lowered, on all "
		 "CPUs alike, and raised again when it can be; none for no limit (default: 0.5%)",
	 .config = "daemon.max-cpu",
	 .parse = parse_max_cpu},
	{.kind = OPTION_CALL,
	 .name = "max-memory",
	 .argument = "SIZE",
	 .help = "memory for an open window and what is known of processes; what is given up "
		 "first stands in the manual (default: 128M)",
	 .config = "daemon.max-memory",
	 .parse = parse_max_memory},

	HEADING("To a server"),
	{.kind = OPTION_TEXT,
	 .name = "push",
	 .offset = FIELD(push_url),
	 .argument = "URL",
	 .help = "each window as pprof to a server that speaks Pyroscope's HTTP: "
		 "https://host:4040; "
		 "none: do not",
	 .config = "daemon.push"},
	{.kind = OPTION_TEXT,
	 .name = "push-ca",
	 .offset = FIELD(push_ca),
	 .argument = "FILE",
	 .help = "certificates to trust, in place of those of the system",
	 .config = "daemon.push-ca"},
	{.kind = OPTION_TEXT,
	 .name = "push-token-file",
	 .offset = FIELD(push_token_file),
	 .argument = "FILE",
	 .help = "a token for the server, in a file that others cannot read",
	 .config = "daemon.push-token-file"},
	{.kind = OPTION_TEXT,
	 .name = "push-spool",
	 .offset = FIELD(push_spool),
	 .argument = "DIRECTORY",
	 .help = "where what the server has not yet taken waits (default: push, in the store)",
	 .config = "daemon.push-spool"},
	{.kind = OPTION_BYTES,
	 .name = "push-spool-size",
	 .offset = FIELD(push_spool_bytes),
	 .argument = "SIZE",
	 .help = "how much may wait; then the oldest goes",
	 .config = "daemon.push-spool-size"},

	HEADING("For Prometheus"),
	{.kind = OPTION_TEXT,
	 .name = "metrics",
	 .offset = FIELD(metrics),
	 .argument = "ADDRESS:PORT",
	 .help = "answer GET /metrics there; of 127.0.0.1 if it is only a port; none: do not",
	 .config = "daemon.metrics"},
	{.kind = OPTION_TEXT,
	 .name = "metrics-file",
	 .offset = FIELD(metrics_file),
	 .argument = "FILE",
	 .help = "write them there after each window, for node_exporter: DIRECTORY/bpfprof.prom; "
		 "none: do not",
	 .config = "daemon.metrics-file"},

	HEADING("How"),
	{.kind = OPTION_FLAG,
	 .name = "once",
	 .offset = FIELD(once),
	 .help = "end after one window, which begins now"},
	{.kind = OPTION_END},
};
