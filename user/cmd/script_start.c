/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What begins a line of script: who, where and when.
 */
#include "cmd/script_printer.h"

#include <inttypes.h>
#include <time.h>

enum { NS_OF_S = 1000000000, NS_OF_US = 1000 };

static void print_comm(struct script_printer *printer, const struct script_line *line)
{
	if (printer->layout.is_latency)
		fprintf(printer->out, "%8.8s ", line->comm);
	else if (line->shows_chain && (line->fields & PRINT_ip))
		fprintf(printer->out, "%s ", line->comm);
	else
		fprintf(printer->out, "%16s ", line->comm);
}

static void print_ids(struct script_printer *printer, const struct script_line *line)
{
	u64 fields = line->fields;

	if ((fields & PRINT_pid) && (fields & PRINT_tid))
		fprintf(printer->out, "%5d/%-5d ", (int)line->pid, (int)line->tid);
	else if (fields & (PRINT_pid | PRINT_tid))
		fprintf(printer->out, "%5d ", (int)(fields & PRINT_pid ? line->pid : line->tid));
}

/* Where the CPU was, and what else the kernel says of the record. */
static void print_misc(struct script_printer *printer, const struct script_line *line)
{
	static const char spaces[] = "\0KUHGg\0\0";
	static const struct {
		u8 record_type;
		u16 bit;
		char letter;
	} marks[] = {
		{1 /* MMAP */, 0x2000, 'M'},
		{10 /* MMAP2 */, 0x2000, 'M'},
		{3 /* COMM */, 0x2000, 'E'},
		{14 /* SWITCH */, 0x2000, 'S'},
		{14 /* SWITCH */, 0x4000, 'p'},
		{15 /* SWITCH_CPU_WIDE */, 0x2000, 'S'},
		{15, 0x4000, 'p'},
	};
	char letters[8] = {spaces[line->misc & 7]};
	size_t count = letters[0] != 0;

	for (size_t i = 0; i < ARRAY_COUNT(marks); i++)
		if (marks[i].record_type == line->record_type && (line->misc & marks[i].bit))
			letters[count++] = marks[i].letter;
	fprintf(printer->out, "%-6s", letters);
}

/* The time of day, which is known if the recording has one moment by both clocks. */
static void print_day_time(struct script_printer *printer, const struct script_line *line)
{
	const struct perfdata_header *header = perfdata_header(printer->data);
	u64 wall_ns = header->wall_clock_ns + (line->time_ns - header->clock_ns);
	time_t seconds = (time_t)(wall_ns / NS_OF_S);
	char date[64] = "";
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(date, sizeof(date), "%F %H:%M:%S", &local);
	if (printer->layout.is_ns)
		fprintf(printer->out, "%s.%09" PRIu64 " ", date, wall_ns % NS_OF_S);
	else
		fprintf(printer->out, "%s.%06" PRIu64 " ", date, wall_ns % NS_OF_S / NS_OF_US);
}

/* The time as it is shown: its own, since the first line, or since the one before. */
static u64 shown_time(struct script_printer *printer, u64 time_ns)
{
	u64 shown = time_ns;

	if (!printer->first_ns)
		printer->first_ns = time_ns;
	if (printer->layout.times == SCRIPT_TIMES_SINCE_FIRST)
		shown = time_ns - printer->first_ns;
	else if (printer->layout.times == SCRIPT_TIMES_SINCE_PREVIOUS)
		shown = printer->previous_ns ? time_ns - printer->previous_ns : 0;
	printer->previous_ns = time_ns;
	return shown;
}

static void print_time(struct script_printer *printer, const struct script_line *line)
{
	u64 time_ns = shown_time(printer, line->time_ns);
	char seconds[40];

	if (printer->layout.is_ns) {
		fprintf(printer->out, "%5" PRIu64 ".%09" PRIu64 ": ", time_ns / NS_OF_S,
			time_ns % NS_OF_S);
		return;
	}
	snprintf(seconds, sizeof(seconds), "%" PRIu64 ".%06" PRIu64, time_ns / NS_OF_S,
		 time_ns % NS_OF_S / NS_OF_US);
	fprintf(printer->out, "%12s: ", seconds);
}

void script_print_start(struct script_printer *printer, const struct script_line *line)
{
	if (line->fields & PRINT_comm)
		print_comm(printer, line);
	print_ids(printer, line);
	if (line->fields & PRINT_cpu)
		fprintf(printer->out, printer->layout.is_latency ? "%3d " : "[%03d] ",
			(int)line->cpu);
	if (line->fields & PRINT_misc)
		print_misc(printer, line);
	if (line->fields & PRINT_tod)
		print_day_time(printer, line);
	if (line->fields & PRINT_time)
		print_time(printer, line);
}
