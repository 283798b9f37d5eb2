/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One sample after the other as text.
 */
#include "cmd/script_print.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cmd/dump.h"
#include "cmd/script_code.h"
#include "cmd/script_printer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

/* Foreign strings are printable from here on: nothing reaches a terminal raw. */
static u32 keep_printable(struct script_printer *printer, const char *foreign)
{
	text_truncate(&printer->scratch, 0);
	text_append_printable(&printer->scratch, foreign);
	return intern_text(&printer->strings, text_view(&printer->scratch));
}

const char *script_printable(struct script_printer *printer, const char *foreign)
{
	return intern_view(&printer->strings, keep_printable(printer, foreign));
}

/* A thread's name, which is the same pointer each time. */
static const char *printable_comm(struct script_printer *printer, const char *comm)
{
	u32 *place = idmap_place(&printer->comms, (uintptr_t)comm);

	if (!*place)
		*place = keep_printable(printer, comm);
	return intern_view(&printer->strings, *place);
}

/* --- which samples --- */

static bool is_listed_path(const char *list, const char *path)
{
	const char *slash = strrchr(path, '/');

	return script_is_listed(list, path) || (slash && script_is_listed(list, slash + 1));
}

static bool is_chosen(struct script_printer *printer, const struct sample *sample, const char *comm)
{
	const struct script_layout *layout = &printer->layout;
	location_id location;

	if (layout->comms && !script_is_listed(layout->comms, comm))
		return false;
	if (!layout->dsos && !layout->symbols)
		return true;
	location = script_locate(printer, sample->pid, sample->address, sample->space);
	if (layout->dsos) {
		const struct location_row *at;

		symbolizer_name(printer->symbolizer, printer->profile, location);
		at = &printer->profile->locations.items[location];
		if (!at->binary || !is_listed_path(layout->dsos, script_binary_name(printer, at)))
			return false;
	}
	return !layout->symbols || script_is_listed_function(printer, layout->symbols, location);
}

/* --- fields --- */

enum { PERIOD_WIDTH = 10, ADDRESS_WIDTH = 16 };

static void print_period(struct script_printer *printer, const struct script_line *line)
{
	text_append_u64(&printer->text, PERIOD_WIDTH, line->sample->weight);
	text_append(&printer->text, " ");
}

static void print_event(struct script_printer *printer, const struct script_line *line)
{
	text_append(&printer->text, intern_view(&printer->strings,
						printer->event_names.items[line->sample->source]));
	text_append(&printer->text, ": ");
}

/* Whether the address that goes with the event is one of the code or data that was mapped. */
static bool has_named_address(const struct event_source *source)
{
	enum { SOFTWARE = 1, PAGE_FAULTS = 2, MINOR_FAULTS = 5, MAJOR_FAULTS = 6 };

	return source->type == SOFTWARE &&
	       (source->config == PAGE_FAULTS || source->config == MINOR_FAULTS ||
		source->config == MAJOR_FAULTS);
}

static void print_address(struct script_printer *printer, const struct script_line *line)
{
	u64 address = line->sample->data_address;
	const struct virtual_place place = {address, line->sample->pid, address_space_of(address)};

	text_append_hex(&printer->text, ADDRESS_WIDTH, address);
	if (has_named_address(line->source))
		script_append_leaf(printer, &place);
}

static void print_provenance(struct script_printer *printer, const struct script_line *line)
{
	const struct sample *sample = line->sample;
	struct text *text = &printer->text;

	text_append(text, "[");
	if (stack_is_known(sample))
		text_appendf(text, "%s, ", stack_walk_words(sample->walked));
	text_append(text, stack_end_words(sample->cut));
	if (sample_count(sample) > 1)
		text_appendf(text, ", %u samples", sample->count);
	text_append(text, "]");
}

static void print_ip(struct script_printer *printer, const struct script_line *line)
{
	const struct sample *sample = line->sample;
	const struct virtual_place place = {sample->address, sample->pid, sample->space};

	if (line->shows_chain) {
		text_append(&printer->text, "\n");
		script_append_chain(printer, sample);
		return;
	}
	text_append(&printer->text, " ");
	text_append_hex(&printer->text, ADDRESS_WIDTH, sample->address);
	script_append_leaf(printer, &place);
}

/* Behind what script_print_start() prints, in perf's order. */
static const struct {
	u64 field;
	print_field *print;
	bool wants_details;
} field_rows[] = {
	{PRINT_period, print_period, false},
	{PRINT_event, print_event, false},
	{PRINT_flags, script_print_flags, false},
	{PRINT_trace, script_print_trace, true},
	{PRINT_addr, print_address, false},
	{PRINT_data_src, script_print_data_source, true},
	{PRINT_weight, script_print_weight, true},
	{PRINT_ins_lat, script_print_latency, true},
	{PRINT_provenance, print_provenance, false},
	{PRINT_ip, print_ip, false},
	{PRINT_iregs, script_print_interrupt_registers, true},
	{PRINT_uregs, script_print_user_registers, true},
	{PRINT_BRANCHES, script_print_branches, false},
	{PRINT_bpf_output, script_print_bpf_output, true},
	{PRINT_INSTRUCTION, script_print_instruction, false},
	{PRINT_BLOCKS, script_print_blocks, false},
	{PRINT_phys_addr, script_print_physical_address, true},
	{PRINT_data_page_size, script_print_data_page, true},
	{PRINT_code_page_size, script_print_code_page, true},
};

static struct line_plan plan_line(u64 fields)
{
	struct line_plan plan = {.fields = fields, .wants_details = fields & PRINT_misc};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_COUNT(field_rows); i++) {
		if (!(fields & field_rows[i].field))
			continue;
		plan.steps[count++] = field_rows[i].print;
		plan.wants_details |= field_rows[i].wants_details;
	}
	return plan;
}

static void print_place(struct script_printer *printer, const struct sample *sample,
			const char *comm)
{
	location_id location = script_locate(printer, sample->pid, sample->address, sample->space);
	binary_id binary = printer->profile->locations.items[location].binary;
	string_id path = printer->profile->binaries.items[binary].path;

	script_write(printer);
	dump_place(comm, sample->tid, binary ? script_text_of(printer, path) : NULL, printer->out);
}

enum { WRITTEN_AT_ONCE = 1 << 16 };

/* Who wrote last may have left no reason. */
static int write_error(const struct script_printer *printer)
{
	if (!ferror(printer->out))
		return 0;
	return errno ? -errno : -EIO;
}

void script_write(struct script_printer *printer)
{
	fwrite(text_view(&printer->text), 1, printer->text.length, printer->out);
	text_truncate(&printer->text, 0);
}

static int hand_over(struct script_printer *printer)
{
	int error;

	if (printer->outlet)
		return printer->outlet->write(printer->outlet, &printer->text);
	script_write(printer);
	error = write_error(printer);
	return error ? fail(error, NULL, "cannot write to standard output") : 0;
}

int script_printer_finish(struct script_printer *printer)
{
	script_write(printer);
	fflush(printer->out);
	return write_error(printer);
}

static int print_sample(struct event_sink *self, const struct sample *sample)
{
	static const struct sample_details no_details;
	struct script_printer *printer = (struct script_printer *)self;
	struct line_plan *plan = &printer->plans.items[sample->source];
	const char *comm = locator_thread_name(printer->locator, sample->tid);
	struct script_line line = {
		.sample = sample,
		.source = &printer->sources[sample->source],
		.fields = plan->fields,
		.time_ns = sample->time_ns,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
	};

	printer->plan = plan;
	if (printer->layout.dumps)
		print_place(printer, sample, comm);
	if (!plan->fields || !is_chosen(printer, sample, comm))
		return 0;
	line.shows_chain = line.source->has_chain && !printer->layout.hide_chains;
	line.comm = printable_comm(printer, comm);
	if (plan->wants_details)
		line.details = perfdata_details(printer->data, sample);
	if (!line.details)
		line.details = &no_details;
	line.misc = line.details->misc;
	script_print_start(printer, &line);
	for (print_field **print = plan->steps; *print; print++)
		(*print)(printer, &line);
	text_append(&printer->text, "\n");
	if (plan->fields & PRINT_srccode)
		script_print_source(printer, &line);
	return printer->text.length > printer->written_at_once ? hand_over(printer) : 0;
}

/* A thread begins or ends. */
static int forget_thread(struct event_sink *self, const struct thread_life *life)
{
	struct script_printer *printer = (struct script_printer *)self;

	source_code_forget(printer->source_code, life->tid);
	return 0;
}

static u32 keep_padded(struct script_printer *printer, const char *name, int width)
{
	text_truncate(&printer->scratch, 0);
	text_appendf(&printer->scratch, "%*s", width, name);
	return intern_text(&printer->strings, text_view(&printer->scratch));
}

static void name_events(struct script_printer *printer, u32 count)
{
	int width = 0; /* of the longest */

	for (u32 i = 0; i < count; i++) {
		const char *name = script_printable(printer, printer->sources[i].name);

		if ((int)strlen(name) > width)
			width = (int)strlen(name);
	}
	for (u32 i = 0; i < count; i++)
		*vec_add(&printer->event_names) = keep_padded(
			printer, script_printable(printer, printer->sources[i].name), width);
}

/* Events whose fields are equal have their texts together. */
static void plan_events(struct script_printer *printer, u32 count)
{
	struct idmap plan_of = {0}; /* fields: plan + 1 */

	for (u32 i = 0; i < count; i++) {
		u64 fields = script_fields_of(&printer->layout.fields, &printer->sources[i]);
		u32 *known = idmap_place(&plan_of, fields);

		if (!*known)
			*known = i + 1;
		*vec_add(&printer->plans) = plan_line(fields);
		printer->plans.items[i].first_form = (*known - 1) * TEXT_KIND_COUNT;
	}
	idmap_release(&plan_of);
}

struct script_printer *script_printer_new(const struct script_layout *layout, struct perfdata *data,
					  struct script_names *names, FILE *out)
{
	struct script_printer *printer = must_alloc(sizeof(*printer));
	u32 source_count;

	printer->sink.on_sample = print_sample;
	printer->sink.knows_chain = script_knows_chain;
	printer->sink.on_fork = forget_thread;
	printer->sink.on_exit = forget_thread;
	printer->source_code = source_code_new();
	printer->chains = chain_texts_new();
	printer->frames = frame_texts_new();
	printer->layout = *layout;
	script_listen(printer);
	printer->data = data;
	printer->sources = perfdata_sources(data, &source_count);
	printer->names = names;
	printer->symbolizer = names->symbolizer;
	printer->profile = names->profile;
	printer->locator = locator_new();
	printer->out = out;
	printer->written_at_once = isatty(fileno(out)) ? 0 : WRITTEN_AT_ONCE;
	__fsetlocking(out, FSETLOCKING_BYCALLER); /* only one thread writes */
	name_events(printer, source_count);
	plan_events(printer, source_count);
	return printer;
}

void script_printer_divert(struct script_printer *printer, struct script_outlet *outlet,
			   size_t bytes)
{
	printer->outlet = outlet;
	printer->written_at_once = bytes;
}

struct text *script_printer_text(struct script_printer *printer)
{
	return &printer->text;
}

bool script_lines_stand_alone(const struct script_layout *layout, const struct perfdata *data)
{
	/* what is not in here needs the lines before it, or a reader of its own */
	const u64 alone = PRINT_comm | PRINT_tid | PRINT_pid | PRINT_time | PRINT_cpu |
			  PRINT_event | PRINT_ip | PRINT_sym | PRINT_symoff | PRINT_dso |
			  PRINT_addr | PRINT_period | PRINT_tod | PRINT_flags | PRINT_BRANCHES |
			  PRINT_provenance;
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		if (script_fields_of(&layout->fields, &sources[i]) & ~alone)
			return false;
	return layout->times == SCRIPT_TIMES_RECORDED && !layout->dumps && !layout->shows &&
	       !layout->dsos && !layout->symbols && !layout->last_frames;
}

struct event_sink *script_printer_follower(struct script_printer *printer)
{
	return locator_sink(printer->locator);
}

struct event_sink *script_printer_sink(struct script_printer *printer)
{
	return &printer->sink;
}

struct perfdata_listener *script_printer_listener(struct script_printer *printer)
{
	return &printer->listener;
}

void script_printer_free(struct script_printer *printer)
{
	if (!printer)
		return;
	trace_words_free(printer->trace);
	script_code_release(printer);
	source_code_free(printer->source_code);
	locator_free(printer->locator);
	intern_release(&printer->strings);
	vec_release(&printer->event_names);
	vec_release(&printer->plans);
	text_release(&printer->scratch);
	text_release(&printer->text);
	idmap_release(&printer->comms);
	chain_texts_free(printer->chains);
	free(printer->frames);
	free(printer);
}
