/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What begins a line of script: who, where and when.
 */
#include "cmd/script_printer.h"

#include <inttypes.h>
#include <time.h>

enum { NS_OF_S = 1000000000, NS_OF_US = 1000 };

enum { ID_WIDTH = 5, SECONDS_WIDTH = 5, FRACTION_DIGITS = 6 };

static void append_words(struct text *text, const char *first, const char *second)
{
	text_append(text, first);
	text_append(text, second);
}

static void append_number(struct text *text, int width, int number)
{
	if (number < 0)
		text_appendf(text, "%*d", width, number);
	else
		text_append_u64(text, width, (unsigned int)number);
}

static void append_id(struct text *text, u32 id)
{
	append_number(text, ID_WIDTH, (int)id);
}

static void print_comm(struct script_printer *printer, const struct script_line *line)
{
	if (printer->layout.is_latency)
		text_appendf(&printer->text, "%8.8s ", line->comm);
	else if (line->shows_chain && (line->fields & PRINT_ip))
		append_words(&printer->text, line->comm, " ");
	else
		text_appendf(&printer->text, "%16s ", line->comm);
}

static void print_ids(struct script_printer *printer, const struct script_line *line)
{
	struct text *text = &printer->text;
	u64 fields = line->fields;
	size_t before;

	if ((fields & PRINT_pid) && (fields & PRINT_tid)) {
		append_id(text, line->pid);
		text_append(text, "/");
		before = text->length;
		append_number(text, 1, (int)line->tid);
		if (text->length - before < ID_WIDTH)
			text_append_padded(text, NULL, ID_WIDTH - (text->length - before));
	} else if (fields & (PRINT_pid | PRINT_tid)) {
		append_id(text, fields & PRINT_pid ? line->pid : line->tid);
	} else {
		return;
	}
	text_append(text, " ");
}

static void print_cpu(struct script_printer *printer, u32 cpu)
{
	enum { TWO_DIGITS = 10, THREE_DIGITS = 100 };
	struct text *text = &printer->text;

	if (printer->layout.is_latency || cpu > INT32_MAX) {
		text_appendf(text, printer->layout.is_latency ? "%3d " : "[%03d] ", (int)cpu);
		return;
	}
	append_words(text, "[", cpu < TWO_DIGITS ? "00" : cpu < THREE_DIGITS ? "0" : NULL);
	text_append_u64(text, 1, cpu);
	text_append(text, "] ");
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
	text_appendf(&printer->text, "%-6s", letters);
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
		text_appendf(&printer->text, "%s.%09" PRIu64 " ", date, wall_ns % NS_OF_S);
	else
		text_appendf(&printer->text, "%s.%06" PRIu64 " ", date,
			     wall_ns % NS_OF_S / NS_OF_US);
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

/* Six digits. */
static void append_fraction(struct text *text, u64 microseconds)
{
	char digits[FRACTION_DIGITS];

	for (int i = FRACTION_DIGITS; i-- > 0; microseconds /= 10)
		digits[i] = (char)('0' + microseconds % 10);
	text_append_bytes(text, digits, sizeof(digits));
}

static void print_time(struct script_printer *printer, const struct script_line *line)
{
	u64 time_ns = shown_time(printer, line->time_ns);
	struct text *text = &printer->text;

	if (printer->layout.is_ns) {
		text_appendf(text, "%5" PRIu64 ".%09" PRIu64 ": ", time_ns / NS_OF_S,
			     time_ns % NS_OF_S);
		return;
	}
	text_append_u64(text, SECONDS_WIDTH, time_ns / NS_OF_S);
	text_append(text, ".");
	append_fraction(text, time_ns % NS_OF_S / NS_OF_US);
	text_append(text, ": ");
}

void script_print_start(struct script_printer *printer, const struct script_line *line)
{
	if (line->fields & PRINT_comm)
		print_comm(printer, line);
	print_ids(printer, line);
	if (line->fields & PRINT_cpu)
		print_cpu(printer, line->cpu);
	if (line->fields & PRINT_misc)
		print_misc(printer, line);
	if (line->fields & PRINT_tod)
		print_day_time(printer, line);
	if (line->fields & PRINT_time)
		print_time(printer, line);
}
