/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One sample after the other as text. What is printed of an address is made once per location.
 */
#include "cmd/script_print.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

typedef VEC(string_id) string_list;

enum { SAMPLE_BIT_ADDR = 8 }; /* PERF_SAMPLE_ADDR */

struct script_printer {
	struct event_sink sink; /* first */
	struct script_layout layout;
	const struct event_source *sources;
	struct symbolizer *symbolizer;
	struct locator *locator;
	struct profile *profile;
	FILE *out;
	int name_width;	    /* of the longest event's name */
	string_list names;  /* by source, printable */
	string_list leaves; /* by location: what follows an address; 0: not made yet */
	/* by origin and location: its lines in a chain */
	string_list frames[ORIGIN_COUNT];
	u8 origin;		 /* of the frame whose lines are being made */
	string_list branch_ends; /* by location: see make_branch_end() */
	struct text scratch;
};

/* Foreign strings are printable from here on: nothing reaches a terminal raw. */
static string_id printable(struct script_printer *printer, const char *foreign)
{
	struct text text = {0};
	string_id id;

	text_append_printable(&text, foreign);
	id = intern_text(&printer->profile->strings, text_view(&text));
	text_release(&text);
	return id;
}

static const char *text_of(const struct script_printer *printer, string_id id)
{
	return profile_text(printer->profile, id);
}

static const char *binary_name(const struct script_printer *printer, const struct location_row *at)
{
	if (!at->binary)
		return "[unknown]";
	return text_of(printer, printer->profile->binaries.items[at->binary].path);
}

/* Where a frame comes from, if that is asked for. */
static void append_origin(struct script_printer *printer)
{
	const char *word = frame_origin_word(printer->origin);

	if (word && printer->origin != ORIGIN_LIKELY && (printer->layout.fields & PRINT_PROVENANCE))
		text_appendf(&printer->scratch, " [%s]", word);
}

/* " name+0xoff (binary)", as far as the fields are wanted. */
static void append_place(struct script_printer *printer, const struct location_row *at,
			 const struct function_row *named, const struct function_row *outer)
{
	struct text *text = &printer->scratch;
	u32 fields = printer->layout.fields;

	if (fields & PRINT_SYM) {
		text_append(text, " ");
		text_append_printable(text, named ? text_of(printer, named->name) : "[unknown]");
		/* an inlined function has no place of its own: perf counts from the outer one */
		if (named && (fields & PRINT_SYMOFF))
			text_appendf(text, "+0x%" PRIx64, at->address - outer->start);
	}
	/* In front of the binary, where programs that read this take it for a part of the name. */
	if (printer->origin == ORIGIN_LIKELY)
		text_append(text, " [likely]");
	if (named && named->is_inlined) {
		text_append(text, " (inlined)");
	} else if (fields & PRINT_DSO) {
		text_append(text, " (");
		text_append_printable(text, binary_name(printer, at));
		text_append(text, ")");
	}
}

static const struct function_row *function_at(const struct script_printer *printer,
					      const struct location_row *at, u32 line)
{
	const struct line_row *row = &printer->profile->lines.items[at->first_line + line];

	return &printer->profile->functions.items[row->function];
}

static const struct function_row *outer_function(const struct script_printer *printer,
						 const struct location_row *at)
{
	return at->line_count ? function_at(printer, at, at->line_count - 1) : NULL;
}

static string_id make_leaf(struct script_printer *printer, const struct location_row *at)
{
	const struct function_row *outer = outer_function(printer, at);

	append_place(printer, at, outer, outer);
	return intern_text(&printer->profile->strings, text_view(&printer->scratch));
}

static string_id make_frame(struct script_printer *printer, const struct location_row *at)
{
	const struct function_row *outer = outer_function(printer, at);
	u32 lines = at->line_count ? at->line_count : 1;

	for (u32 line = 0; line < lines; line++) {
		const struct function_row *named = at->line_count ? function_at(printer, at, line)
								  : NULL;

		text_appendf(&printer->scratch, "\t%16" PRIx64, at->address);
		append_place(printer, at, named, outer);
		append_origin(printer);
		text_append(&printer->scratch, "\n");
	}
	return intern_text(&printer->profile->strings, text_view(&printer->scratch));
}

typedef string_id make_text(struct script_printer *printer, const struct location_row *at);

/* The text of a location out of its list, made at first need. */
static const char *location_text(struct script_printer *printer, string_list *list,
				 location_id location, make_text *make)
{
	while (list->count <= location)
		*vec_add(list) = 0;
	if (!list->items[location]) {
		symbolizer_name(printer->symbolizer, printer->profile, location);
		text_truncate(&printer->scratch, 0);
		list->items[location] = make(printer, &printer->profile->locations.items[location]);
	}
	return text_of(printer, list->items[location]);
}

static location_id locate(struct script_printer *printer, u32 pid, u64 address, u8 space)
{
	return locator_find(printer->locator, printer->profile, pid, address, space);
}

static const char *leaf_text(struct script_printer *printer, const struct sample *sample,
			     u64 address)
{
	if (!(printer->layout.fields & (PRINT_SYM | PRINT_DSO)))
		return "";
	printer->origin = ORIGIN_UNKNOWN;
	return location_text(printer, &printer->leaves,
			     locate(printer, sample->pid, address, sample->space), make_leaf);
}

static void print_chain(struct script_printer *printer, const struct sample *sample)
{
	u32 count = sample->frame_count, most = printer->layout.max_stack;

	if (most && count > most)
		count = most;
	for (u32 i = 0; i < count; i++) {
		const struct frame *frame = &sample->frames[i];
		location_id location = locate(printer, sample->pid, frame->address, frame->space);

		printer->origin = frame->origin < ORIGIN_COUNT ? frame->origin : ORIGIN_UNKNOWN;
		fputs(location_text(printer, &printer->frames[printer->origin], location,
				    make_frame),
		      printer->out);
	}
}

static void print_time(const struct script_printer *printer, u64 time_ns)
{
	enum { NS_OF_S = 1000000000, NS_OF_US = 1000 };
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

/* --- branches --- */

/* Which of the three forms is printed: the first that is asked for, as in perf. */
static u32 branch_form(const struct script_printer *printer)
{
	u32 asked = printer->layout.fields & PRINT_BRANCHES;

	return asked & -asked;
}

/* What is the same wherever a location is an end of a branch: its name, its binary. */
static string_id make_branch_end(struct script_printer *printer, const struct location_row *at)
{
	const struct function_row *outer = outer_function(printer, at);
	struct text *text = &printer->scratch;

	if (branch_form(printer) == PRINT_BRSTACKSYM) {
		text_append_printable(text, outer ? text_of(printer, outer->name) : "[unknown]");
		if (outer)
			text_appendf(text, "+0x%" PRIx64, at->address - outer->start);
	}
	if (printer->layout.fields & PRINT_DSO) {
		text_append(text, "(");
		text_append_printable(text, binary_name(printer, at));
		text_append(text, ")");
	}
	return intern_text(&printer->profile->strings, text_view(text));
}

/* Where in its file, or in the kernel's text, an address is. */
static u64 branch_offset(const struct script_printer *printer, location_id location)
{
	const struct location_row *at = &printer->profile->locations.items[location];

	return at->address - printer->profile->binaries.items[at->binary].start;
}

static void print_branch_end(struct script_printer *printer, const struct sample *sample,
			     u64 address)
{
	location_id location = locate(printer, sample->pid, address, address_space_of(address));
	u32 form = branch_form(printer);

	if (form == PRINT_BRSTACK)
		fprintf(printer->out, "0x%" PRIx64, address);
	else if (form == PRINT_BRSTACKOFF)
		fprintf(printer->out, "0x%" PRIx64, branch_offset(printer, location));
	if (form == PRINT_BRSTACKSYM || (printer->layout.fields & PRINT_DSO))
		fputs(location_text(printer, &printer->branch_ends, location, make_branch_end),
		      printer->out);
}

static const char *branch_type(u64 flags)
{
	/* PERF_BR_* and PERF_BR_NEW_*, as perf writes them */
	static const char *const types[] = {
		"",	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
	};
	static const char *const new_types[] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",	    "ARCH_4",	  "ARCH_5",
	};
	enum { EXTENDED = 15 };
	u64 type = flags >> 20 & 15, new_type = flags >> 26 & 15;

	if (type == EXTENDED)
		return new_type < ARRAY_COUNT(new_types) ? new_types[new_type] : "";
	return types[type];
}

static void print_branches(struct script_printer *printer, const struct sample *sample)
{

	for (u16 i = 0; i < sample->branch_count; i++) {
		const struct branch *branch = &sample->branches[i];
		u64 flags = branch->flags;
		char prediction = flags & BRANCH_PREDICTED	? 'P'
				  : flags & BRANCH_MISPREDICTED ? 'M'
								: '-';

		if (branch_form(printer) != PRINT_BRSTACKSYM)
			fputc(' ', printer->out);
		print_branch_end(printer, sample, branch->from);
		fputc('/', printer->out);
		print_branch_end(printer, sample, branch->to);
		fprintf(printer->out, "/%c/%c/%c/%u/%s ", prediction,
			flags & BRANCH_IN_TRANSACTION ? 'X' : '-',
			flags & BRANCH_ABORTED ? 'A' : '-',
			(unsigned int)((flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT),
			branch_type(flags));
	}
}

/* Who, where and when. */
static void print_start(struct script_printer *printer, const struct sample *sample,
			const char *comm, bool shows_chain)
{
	const struct event_source *source = &printer->sources[sample->source];
	u32 fields = printer->layout.fields;
	FILE *out = printer->out;

	if (fields & PRINT_COMM)
		fprintf(out, shows_chain && (fields & PRINT_IP) ? "%s " : "%16s ", comm);
	if ((fields & PRINT_PID) && (fields & PRINT_TID))
		fprintf(out, "%5d/%-5d ", (int)sample->pid, (int)sample->tid);
	else if (fields & (PRINT_PID | PRINT_TID))
		fprintf(out, "%5d ", (int)(fields & PRINT_PID ? sample->pid : sample->tid));
	if ((fields & PRINT_CPU) && source->has_cpu)
		fprintf(out, "[%03d] ", (int)sample->cpu);
	if ((fields & PRINT_TIME) && source->has_time)
		print_time(printer, sample->time_ns);
	if (fields & PRINT_PERIOD)
		fprintf(out, "%10" PRIu64 " ", sample->weight);
	if (fields & PRINT_EVENT)
		fprintf(out, "%*s: ", printer->name_width,
			text_of(printer, printer->names.items[sample->source]));
}

static void print_provenance(const struct script_printer *printer, const struct sample *sample)
{
	if (stack_is_known(sample))
		fprintf(printer->out, "[%s, %s]", stack_walk_words(sample->walked),
			stack_end_words(sample->cut));
	else
		fprintf(printer->out, "[%s]", stack_end_words(sample->cut));
}

/* Whether the thread's name is one of --comm's. */
static bool is_chosen(const struct script_printer *printer, const char *comm)
{
	const char *item = printer->layout.comms;
	size_t length = strlen(comm);

	if (!item)
		return true;
	for (; *item; item += strspn(item, ",")) {
		size_t item_length = strcspn(item, ",");

		if (item_length == length && !strncmp(item, comm, length))
			return true;
		item += item_length;
	}
	return false;
}

static int print_sample(struct event_sink *self, const struct sample *sample)
{
	struct script_printer *printer = (struct script_printer *)self;
	const char *comm = locator_thread_name(printer->locator, sample->tid);
	u32 fields = printer->layout.fields;
	bool shows_chain = printer->sources[sample->source].has_chain &&
			   !printer->layout.hide_chains;

	if (!is_chosen(printer, comm))
		return 0;
	print_start(printer, sample, text_of(printer, printable(printer, comm)), shows_chain);
	if ((fields & PRINT_ADDR) &&
	    (printer->sources[sample->source].sample_bits & SAMPLE_BIT_ADDR))
		fprintf(printer->out, "%16" PRIx64, sample->data_address);
	if (fields & PRINT_PROVENANCE)
		print_provenance(printer, sample);
	if ((fields & PRINT_IP) && shows_chain) {
		fputc('\n', printer->out);
		print_chain(printer, sample);
	} else if (fields & PRINT_IP) {
		fprintf(printer->out, " %16" PRIx64 "%s", sample->address,
			leaf_text(printer, sample, sample->address));
	}
	if (fields & PRINT_BRANCHES)
		print_branches(printer, sample);
	fputc('\n', printer->out);
	return ferror(printer->out) ? fail(-EIO, NULL, "cannot write") : 0;
}

struct script_printer *script_printer_new(const struct script_layout *layout,
					  const struct event_source *sources, u32 source_count,
					  struct symbolizer *symbolizer, FILE *out)
{
	struct script_printer *printer = must_alloc(sizeof(*printer));

	printer->sink.on_sample = print_sample;
	printer->layout = *layout;
	printer->sources = sources;
	printer->symbolizer = symbolizer;
	printer->locator = locator_new();
	printer->profile = profile_new();
	printer->out = out;
	for (u32 i = 0; i < source_count; i++) {
		string_id name = printable(printer, sources[i].name);
		int width = (int)strlen(text_of(printer, name));

		*vec_add(&printer->names) = name;
		if (width > printer->name_width)
			printer->name_width = width;
	}
	return printer;
}

struct event_sink *script_printer_follower(struct script_printer *printer)
{
	return locator_sink(printer->locator);
}

struct event_sink *script_printer_sink(struct script_printer *printer)
{
	return &printer->sink;
}

void script_printer_free(struct script_printer *printer)
{
	if (!printer)
		return;
	locator_free(printer->locator);
	profile_free(printer->profile);
	vec_release(&printer->names);
	vec_release(&printer->leaves);
	for (size_t origin = 0; origin < ORIGIN_COUNT; origin++)
		vec_release(&printer->frames[origin]);
	vec_release(&printer->branch_ends);
	text_release(&printer->scratch);
	free(printer);
}
