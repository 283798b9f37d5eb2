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
string_id script_printable(struct script_printer *printer, const char *foreign)
{
	text_truncate(&printer->scratch, 0);
	text_append_printable(&printer->scratch, foreign);
	return intern_text(&printer->profile->strings, text_view(&printer->scratch));
}

/* A thread's name, which is the same pointer each time. */
static string_id printable_comm(struct script_printer *printer, const char *comm)
{
	u32 *place = idmap_place(&printer->comms, (uintptr_t)comm);

	if (!*place)
		*place = script_printable(printer, comm);
	return *place;
}

/* --- which samples, which frames --- */

static bool is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *item = list; *item; item += strspn(item, ",")) {
		size_t item_length = strcspn(item, ",");

		if (item_length == length && !strncmp(item, name, length))
			return true;
		item += item_length;
	}
	return false;
}

static bool is_listed_path(const char *list, const char *path)
{
	const char *slash = strrchr(path, '/');

	return is_listed(list, path) || (slash && is_listed(list, slash + 1));
}

/* Whether the function at a location is in the list; names are looked up. */
static bool is_listed_function(struct script_printer *printer, const char *list,
			       location_id location)
{
	const struct location_row *at;
	const struct function_row *function;

	symbolizer_name(printer->symbolizer, printer->profile, location);
	at = &printer->profile->locations.items[location];
	function = script_outer_function(printer, at);
	return function && is_listed(list, script_text_of(printer, function->name));
}

static bool is_chosen(struct script_printer *printer, const struct sample *sample, const char *comm)
{
	const struct script_layout *layout = &printer->layout;
	location_id location;

	if (layout->comms && !is_listed(layout->comms, comm))
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
	return !layout->symbols || is_listed_function(printer, layout->symbols, location);
}

static struct chain_identity chain_identity(const struct script_printer *printer,
					    const struct sample *sample)
{
	/* without frames of user space the process is of no matter */
	bool is_of_process = sample->chain_key & 1;

	return (struct chain_identity){
		.key = sample->chain_key,
		.user_state = is_of_process ? locator_generation(printer->locator, sample->pid,
								 SPACE_USER)
					    : 0,
		.kernel_state = locator_generation(printer->locator, sample->pid, SPACE_KERNEL),
		.source = sample->source,
	};
}

/* The text of a frame that was not met in this state of the mappings, or long ago. */
static struct location_text find_frame_text(struct script_printer *printer, u32 pid,
					    const struct frame *frame)
{
	location_id location = script_locate(printer, pid, frame->address, frame->space);

	printer->origin = frame->origin < ORIGIN_COUNT ? frame->origin : ORIGIN_UNKNOWN;
	return script_location_text(printer, &printer->plan->frames[printer->origin], location,
				    script_make_frame);
}

static void append_chain(struct script_printer *printer, const struct sample *sample, u32 count)
{
	struct frame_states states = {
		.user = locator_generation(printer->locator, sample->pid, SPACE_USER),
		.kernel = locator_generation(printer->locator, sample->pid, SPACE_KERNEL),
		.source = sample->source,
	};

	for (u32 i = 0; i < count; i++) {
		const struct frame *frame = &sample->frames[i];
		struct frame_text *kept = frame_texts_place(printer->frames, frame, &states);
		struct location_text text = {kept->text, kept->length};

		if (!text.bytes) {
			text = find_frame_text(printer, sample->pid, frame);
			kept->text = text.bytes;
			kept->length = (u32)text.length;
		}
		text_append_bytes(&printer->text, text.bytes, text.length);
	}
}

/* How many frames of a chain are shown. */
static u32 shown_frames(struct script_printer *printer, const struct sample *sample)
{
	u32 count = sample->frame_count, most = printer->layout.max_stack;
	const char *last = printer->layout.last_frames;

	if (most && count > most)
		count = most;
	for (u32 i = 0; last && i < count; i++) {
		const struct frame *frame = &sample->frames[i];

		if (is_listed_function(
			    printer, last,
			    script_locate(printer, sample->pid, frame->address, frame->space)))
			count = i + 1;
	}
	return count;
}

static void print_chain(struct script_printer *printer, const struct sample *sample)
{
	struct chain_identity chain = chain_identity(printer, sample);
	const struct text *text = chain_texts_find(printer->chains, &chain);
	size_t start = printer->text.length;

	if (text) {
		text_append_bytes(&printer->text, text_view(text), text->length);
		return;
	}
	append_chain(printer, sample, shown_frames(printer, sample));
	chain_texts_keep(printer->chains, &chain, text_view(&printer->text) + start,
			 printer->text.length - start);
}

/* Whether all that is printed of a sample is there without its frames. */
static bool knows_chain(struct event_sink *self, const struct sample *sample)
{
	struct script_printer *printer = (struct script_printer *)self;
	struct chain_identity chain = chain_identity(printer, sample);
	u64 fields = printer->plans.items[sample->source].fields;

	if ((fields & (PRINT_BRANCHES | PRINT_BLOCKS)) &&
	    event_source_has_call_stacks(&printer->sources[sample->source]))
		return false;
	return !(fields & PRINT_ip) || chain_texts_find(printer->chains, &chain);
}

/* --- fields --- */

enum { PERIOD_WIDTH = 10 };

static void print_period(struct script_printer *printer, const struct script_line *line)
{
	text_append_u64(&printer->text, PERIOD_WIDTH, line->sample->weight);
	text_append(&printer->text, " ");
}

static void print_event(struct script_printer *printer, const struct script_line *line)
{
	text_append(&printer->text,
		    script_text_of(printer, printer->names.items[line->sample->source]));
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
	const struct sample *sample = line->sample;
	u64 address = sample->data_address;

	text_appendf(&printer->text, "%16" PRIx64, address);
	if (has_named_address(line->source))
		text_append(&printer->text,
			    script_leaf_text(printer, script_locate(printer, sample->pid, address,
								    address_space_of(address))));
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

	if (line->shows_chain) {
		text_append(&printer->text, "\n");
		print_chain(printer, sample);
		return;
	}
	text_appendf(&printer->text, " %16" PRIx64, sample->address);
	text_append(&printer->text,
		    script_leaf_text(printer, script_locate(printer, sample->pid, sample->address,
							    sample->space)));
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
	int error;

	printer->plan = plan;
	if (printer->layout.dumps)
		print_place(printer, sample, comm);
	if (!plan->fields || !is_chosen(printer, sample, comm))
		return 0;
	line.shows_chain = line.source->has_chain && !printer->layout.hide_chains;
	line.comm = script_text_of(printer, printable_comm(printer, comm));
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
	if (printer->text.length > printer->written_at_once)
		script_write(printer);
	error = write_error(printer);
	return error ? fail(error, NULL, "cannot write to standard output") : 0;
}

/* A thread begins or ends. */
static int forget_thread(struct event_sink *self, const struct thread_life *life)
{
	struct script_printer *printer = (struct script_printer *)self;

	source_code_forget(printer->source_code, life->tid);
	return 0;
}

static string_id padded(struct script_printer *printer, string_id name, int width)
{
	text_truncate(&printer->scratch, 0);
	text_appendf(&printer->scratch, "%*s", width, script_text_of(printer, name));
	return intern_text(&printer->profile->strings, text_view(&printer->scratch));
}

struct script_printer *script_printer_new(const struct script_layout *layout, struct perfdata *data,
					  struct symbolizer *symbolizer, FILE *out)
{
	struct script_printer *printer = must_alloc(sizeof(*printer));
	u32 source_count;
	int width = 0; /* of the longest event's name */

	printer->sink.on_sample = print_sample;
	printer->sink.knows_chain = knows_chain;
	printer->sink.on_fork = forget_thread;
	printer->sink.on_exit = forget_thread;
	printer->source_code = source_code_new();
	printer->chains = chain_texts_new();
	printer->frames = frame_texts_new();
	printer->layout = *layout;
	script_listen(printer);
	printer->data = data;
	printer->sources = perfdata_sources(data, &source_count);
	printer->symbolizer = symbolizer;
	printer->locator = locator_new();
	printer->profile = profile_new();
	printer->out = out;
	printer->written_at_once = isatty(fileno(out)) ? 0 : WRITTEN_AT_ONCE;
	__fsetlocking(out, FSETLOCKING_BYCALLER); /* it has but one thread */
	for (u32 i = 0; i < source_count; i++) {
		const struct event_source *source = &printer->sources[i];
		int own_width = (int)strlen(
			script_text_of(printer, script_printable(printer, source->name)));

		*vec_add(&printer->plans) = plan_line(script_fields_of(&layout->fields, source));
		if (own_width > width)
			width = own_width;
	}
	for (u32 i = 0; i < source_count; i++)
		*vec_add(&printer->names) = padded(
			printer, script_printable(printer, printer->sources[i].name), width);
	return printer;
}

void script_printer_know(struct script_printer *printer, struct profile *profile)
{
	struct profile *before = printer->profile;

	printer->profile = profile;
	for (size_t i = 0; i < printer->names.count; i++)
		printer->names.items[i] = intern_text(
			&profile->strings, profile_text(before, printer->names.items[i]));
	profile_free(before);
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

static void plan_release(struct line_plan *plan)
{
	vec_release(&plan->leaves);
	for (size_t origin = 0; origin < ORIGIN_COUNT; origin++)
		vec_release(&plan->frames[origin]);
	vec_release(&plan->branch_ends);
}

struct profile *script_printer_take(struct script_printer *printer)
{
	struct profile *profile = TAKE(printer->profile);

	script_printer_free(printer);
	return profile;
}

void script_printer_free(struct script_printer *printer)
{
	if (!printer)
		return;
	trace_words_free(printer->trace);
	script_code_release(printer);
	source_code_free(printer->source_code);
	locator_free(printer->locator);
	profile_free(printer->profile);
	vec_release(&printer->names);
	for (size_t i = 0; i < printer->plans.count; i++)
		plan_release(&printer->plans.items[i]);
	vec_release(&printer->plans);
	text_release(&printer->scratch);
	text_release(&printer->text);
	idmap_release(&printer->comms);
	chain_texts_free(printer->chains);
	frame_texts_free(printer->frames);
	arena_release(&printer->texts);
	free(printer);
}
