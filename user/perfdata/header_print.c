/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The header as text, laid out as perf's --header-only.
 */
#include "base/memory.h"
#include "perfdata/attr.h"
#include "perfdata/feature_print.h"
#include "perfdata/reader.h"

#include <inttypes.h>
#include <time.h>

void print_foreign(FILE *out, const char *text)
{
	struct text printable = {0};

	text_append_printable(&printable, text ? text : "");
	fputs(text_view(&printable), out);
	text_release(&printable);
}

static void print_text_line(FILE *out, const char *label, const char *text)
{
	fprintf(out, "# %s : ", label);
	print_foreign(out, text);
	fputc('\n', out);
}

static void print_hostname(struct printer printer, struct cursor *cursor)
{
	print_text_line(printer.out, "hostname", printer.data->header.hostname);
	(void)cursor;
}

static void print_os_release(struct printer printer, struct cursor *cursor)
{
	print_text_line(printer.out, "os release", printer.data->header.os_release);
	(void)cursor;
}

static void print_version(struct printer printer, struct cursor *cursor)
{
	print_text_line(printer.out, "perf version", printer.data->header.version);
	(void)cursor;
}

static void print_arch(struct printer printer, struct cursor *cursor)
{
	print_text_line(printer.out, "arch", printer.data->header.arch);
	(void)cursor;
}

static void print_cpu_counts(struct printer printer, struct cursor *cursor)
{
	fprintf(printer.out, "# nrcpus online : %u\n# nrcpus avail : %u\n",
		printer.data->header.cpus_online, printer.data->header.cpus_available);
	(void)cursor;
}

static void print_cpu_description(struct printer printer, struct cursor *cursor)
{
	print_text_line(printer.out, "cpudesc", printer.data->header.cpu_description);
	(void)cursor;
}

static void print_cpu_id(struct printer printer, struct cursor *cursor)
{
	print_text_line(printer.out, "cpuid", printer.data->header.cpu_id);
	(void)cursor;
}

static void print_memory(struct printer printer, struct cursor *cursor)
{
	fprintf(printer.out, "# total memory : %" PRIu64 " kB\n", printer.data->header.memory_kb);
	(void)cursor;
}

static void print_command_line(struct printer printer, struct cursor *cursor)
{
	fputs("# cmdline : ", printer.out);
	for (u32 i = 0; i < printer.data->header.command_words; i++) {
		print_foreign(printer.out, printer.data->header.command_line[i]);
		fputc(' ', printer.out);
	}
	fputc('\n', printer.out);
	(void)cursor;
}

/* A list of names and numbers, or names and values. */
static void print_pmu_mappings(struct printer printer, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	fputs("# pmu mappings: ", printer.out);
	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		u32 type = cursor_u32(cursor);
		const char *name = cursor_text(cursor, cursor_u32(cursor));

		if (!name)
			break;
		fputs(i ? ", " : "", printer.out);
		print_foreign(printer.out, name);
		fprintf(printer.out, " = %u", type);
	}
	fputc('\n', printer.out);
}

static void print_groups(struct printer printer, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		const char *name = cursor_text(cursor, cursor_u32(cursor));
		u32 leader = cursor_u32(cursor), members = cursor_u32(cursor);

		if (!name || cursor->overrun)
			return;
		fputs("# group: ", printer.out);
		if (strcmp(name, "{anon_group}"))
			print_foreign(printer.out, name);
		for (size_t row = leader;
		     row < printer.data->sources.count && row - leader < members; row++) {
			fputs(row == leader ? "{" : ",", printer.out);
			print_foreign(printer.out, printer.data->sources.items[row].name);
		}
		fputs("}\n", printer.out);
	}
}

static void print_sample_times(struct printer printer, struct cursor *cursor)
{
	enum { NS_OF_US = 1000, US_OF_S = 1000000 };
	u64 first_us = printer.data->header.first_sample_ns / NS_OF_US;
	u64 last_us = printer.data->header.last_sample_ns / NS_OF_US;
	double span_ms = (double)(printer.data->header.last_sample_ns -
				  printer.data->header.first_sample_ns) /
			 1e6;

	fprintf(printer.out, "# time of first sample : %" PRIu64 ".%06" PRIu64 "\n",
		first_us / US_OF_S, first_us % US_OF_S);
	fprintf(printer.out, "# time of last sample : %" PRIu64 ".%06" PRIu64 "\n",
		last_us / US_OF_S, last_us % US_OF_S);
	fprintf(printer.out, "# sample duration : %10.3f ms\n", span_ms);
	(void)cursor;
}

static void print_clock_resolution(struct printer printer, struct cursor *cursor)
{
	enum { MHZ_OF_1_NS = 1000 };
	u64 resolution_ns = cursor_u64(cursor);

	if (resolution_ns)
		fprintf(printer.out, "# clockid frequency: %" PRIu64 " MHz\n",
			MHZ_OF_1_NS / resolution_ns);
}

static void print_compression(struct printer printer, struct cursor *cursor)
{
	u32 type, level, ratio;

	cursor_u32(cursor);
	type = cursor_u32(cursor);
	level = cursor_u32(cursor);
	ratio = cursor_u32(cursor);
	fprintf(printer.out, "# compressed : %s, level = %u, ratio = %u\n",
		type == 1 ? "Zstd" : "Unknown", level, ratio);
}

static void print_pairs(struct printer printer, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		const char *name = cursor_text(cursor, cursor_u32(cursor));
		const char *value = cursor_text(cursor, cursor_u32(cursor));

		if (!name || !value)
			break;
		fputs(i ? ", " : "", printer.out);
		print_foreign(printer.out, name);
		fputc('=', printer.out);
		print_foreign(printer.out, value);
	}
	fputc('\n', printer.out);
}

static void print_capabilities(struct printer printer, struct cursor *cursor)
{
	fputs("# cpu pmu capabilities: ", printer.out);
	print_pairs(printer, cursor);
}

static void print_branch_stack(struct printer printer, struct cursor *cursor)
{
	fputs("# contains samples with branch stack\n", printer.out);
	(void)cursor;
}

/* The capabilities of each PMU that is not called "cpu"; its name comes last. */
static void print_pmu_capabilities(struct printer printer, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		struct cursor list = *cursor;
		u32 pairs = cursor_u32(cursor);
		const char *name;

		for (u32 pair = 0; pair < 2 * (u64)pairs && !cursor->overrun; pair++)
			cursor_take(cursor, cursor_u32(cursor));
		name = cursor_text(cursor, cursor_u32(cursor));
		if (!name)
			return;
		fputs("# ", printer.out);
		print_foreign(printer.out, name);
		fputs(" pmu capabilities: ", printer.out);
		print_pairs(printer, &list);
	}
}

static void print_clocks(struct printer printer, struct cursor *cursor)
{
	static const char *const clock_names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};
	enum { NS_OF_S = 1000000000, NS_OF_US = 1000 };
	const struct perfdata_header *header = &printer.data->header;
	const char *name = NULL;
	time_t wall_s = (time_t)(header->wall_clock_ns / NS_OF_S);
	struct tm wall;
	char date[64];

	(void)cursor;
	if (header->clock_id < ARRAY_COUNT(clock_names))
		name = clock_names[header->clock_id];
	localtime_r(&wall_s, &wall);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &wall);
	fprintf(printer.out, "# clockid: %s (%u)\n", name ? name : "unknown", header->clock_id);
	fprintf(printer.out,
		"# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64
		".%09" PRIu64 " (%s)\n",
		date, header->wall_clock_ns % NS_OF_S / NS_OF_US, header->wall_clock_ns / NS_OF_S,
		header->wall_clock_ns % NS_OF_S / NS_OF_US, header->clock_ns / NS_OF_S,
		header->clock_ns % NS_OF_S, name ? name : "unknown");
}

static void print_events(struct printer printer, struct cursor *cursor)
{
	(void)cursor;
	for (size_t i = 0; i < printer.data->decoder.kinds.count; i++) {
		const struct event_kind *kind = &printer.data->decoder.kinds.items[i];
		struct text line = {0};

		text_append(&line, "# event : name = ");
		text_append_printable(&line, kind->name);
		for (size_t id = 0; id < kind->ids.count; id++)
			text_appendf(&line, "%s%" PRIu64, id ? ", " : ", , id = { ",
				     kind->ids.items[id]);
		text_append(&line, kind->ids.count ? " }" : ", ");
		attr_append_members(&kind->attr, &line);
		fprintf(printer.out, "%s\n", text_view(&line));
		text_release(&line);
	}
}

/* Names as in perf's list of what is missing; without a function: nothing to be shown. */
static const struct {
	const char *name;
	void (*print)(struct printer printer, struct cursor *cursor);
	bool is_long; /* shown only if all is wanted */
} rows[FEATURE_KNOWN] = {
	[FEATURE_TRACING_DATA] = {"TRACING_DATA", NULL},
	[FEATURE_BUILD_ID] = {"BUILD_ID", NULL},
	[FEATURE_HOSTNAME] = {"HOSTNAME", print_hostname},
	[FEATURE_OSRELEASE] = {"OSRELEASE", print_os_release},
	[FEATURE_VERSION] = {"VERSION", print_version},
	[FEATURE_ARCH] = {"ARCH", print_arch},
	[FEATURE_NRCPUS] = {"NRCPUS", print_cpu_counts},
	[FEATURE_CPUDESC] = {"CPUDESC", print_cpu_description},
	[FEATURE_CPUID] = {"CPUID", print_cpu_id},
	[FEATURE_TOTAL_MEM] = {"TOTAL_MEM", print_memory},
	[FEATURE_CMDLINE] = {"CMDLINE", print_command_line},
	[FEATURE_EVENT_DESC] = {"EVENT_DESC", print_events},
	[FEATURE_CPU_TOPOLOGY] = {"CPU_TOPOLOGY", print_cpu_topology, true},
	[14] = {"NUMA_TOPOLOGY", print_numa_topology, true},
	[FEATURE_BRANCH_STACK] = {"BRANCH_STACK", print_branch_stack},
	[FEATURE_PMU_MAPPINGS] = {"PMU_MAPPINGS", print_pmu_mappings},
	[FEATURE_GROUP_DESC] = {"GROUP_DESC", print_groups},
	[18] = {"AUXTRACE", NULL},
	[19] = {"STAT", NULL},
	[20] = {"CACHE", print_caches, true},
	[FEATURE_SAMPLE_TIME] = {"SAMPLE_TIME", print_sample_times},
	[22] = {"MEM_TOPOLOGY", print_memory_topology, true},
	[FEATURE_CLOCKID] = {"CLOCKID", print_clock_resolution},
	[24] = {"DIR_FORMAT", NULL},
	[25] = {"BPF_PROG_INFO", NULL},
	[26] = {"BPF_BTF", NULL},
	[FEATURE_COMPRESSED] = {"COMPRESSED", print_compression},
	[FEATURE_CPU_PMU_CAPS] = {"CPU_PMU_CAPS", print_capabilities},
	[FEATURE_CLOCK_DATA] = {"CLOCK_DATA", print_clocks},
	[30] = {"HYBRID_TOPOLOGY", print_hybrid_topology, true},
	[31] = {"PMU_CAPS", print_pmu_capabilities},
	[32] = {"CPU_DOMAIN_INFO", NULL},
};

static void print_feature(struct printer printer, u32 feature, bool has_all)
{
	struct cursor cursor = cursor_of(printer.data->features[feature]);

	cursor.swap = printer.data->decoder.swap;
	if (rows[feature].is_long && !has_all)
		fprintf(printer.out, "# %s info available, use -I to display\n",
			rows[feature].name);
	else if (rows[feature].print)
		rows[feature].print(printer, &cursor);
	else if (feature != FEATURE_BUILD_ID && rows[feature].name)
		fprintf(printer.out, "# %s info available\n", rows[feature].name);
}

static void print_place(const struct perfdata *data, FILE *out)
{
	const struct file_section *records = &data->file_header.records;
	time_t captured_s = (time_t)data->header.captured_s;
	struct tm captured;
	char date[64];

	localtime_r(&captured_s, &captured);
	strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &captured);
	fprintf(out, "# captured on    : %s\n# header version : 1\n", date);
	if (data->header.is_pipe)
		return;
	fprintf(out, "# data offset    : %" PRIu64 "\n", records->offset);
	fprintf(out, "# data size      : %" PRIu64 "\n", records->size_bytes);
	fprintf(out, "# feat offset    : %" PRIu64 "\n", records->offset + records->size_bytes);
}

void perfdata_print_header(const struct perfdata *data, bool has_all, FILE *out)
{
	struct printer printer = {.data = data, .out = out};

	fputs("# ========\n", out);
	print_place(data, out);
	for (u32 feature = 0; feature < FEATURE_KNOWN; feature++)
		if (data->features[feature].start)
			print_feature(printer, feature, has_all);
	fputs("# missing features: ", out);
	for (u32 feature = 1; feature < FEATURE_PIPE_END; feature++)
		if (!data->features[feature].start && rows[feature].name)
			fprintf(out, "%s ", rows[feature].name);
	fputs("\n# ========\n#\n", out);
}
