/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * -F of script: names to bits, kind of event by kind of event.
 */
#include "cmd/script_fields.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

enum {
	EVENT_DUMMY = 9, /* PERF_COUNT_SW_DUMMY: never sampled */
	EVENT_BPF_OUTPUT = 10,
	BRANCH_ANY = 1 << 3, /* PERF_SAMPLE_BRANCH_ANY */
};

#define ROW(number) [FIELD_NUMBER_##number]

static const struct {
	const char *name;
	u64 needs; /* one of these bits of sample_type; 0: every sample has it */
} rows[SCRIPT_FIELD_COUNT] = {
	ROW(comm) = {"comm", 0},
	ROW(tid) = {"tid", SAMPLE_TID},
	ROW(pid) = {"pid", SAMPLE_TID},
	ROW(time) = {"time", SAMPLE_TIME},
	ROW(cpu) = {"cpu", SAMPLE_CPU},
	ROW(event) = {"event", 0},
	ROW(ip) = {"ip", SAMPLE_IP},
	ROW(sym) = {"sym", SAMPLE_IP | SAMPLE_ADDR},
	ROW(symoff) = {"symoff", SAMPLE_IP | SAMPLE_ADDR},
	ROW(dso) = {"dso", SAMPLE_IP | SAMPLE_ADDR},
	ROW(srcline) = {"srcline", SAMPLE_IP},
	ROW(addr) = {"addr", SAMPLE_ADDR},
	ROW(period) = {"period", 0},
	ROW(misc) = {"misc", 0},
	ROW(tod) = {"tod", SAMPLE_TIME},
	ROW(flags) = {"flags", 0},
	ROW(data_src) = {"data_src", SAMPLE_DATA_SRC},
	ROW(weight) = {"weight", SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT},
	ROW(ins_lat) = {"ins_lat", SAMPLE_WEIGHT_STRUCT},
	ROW(iregs) = {"iregs", SAMPLE_REGS_INTR},
	ROW(uregs) = {"uregs", SAMPLE_REGS_USER},
	ROW(brstack) = {"brstack", SAMPLE_BRANCH_STACK},
	ROW(brstacksym) = {"brstacksym", SAMPLE_BRANCH_STACK},
	ROW(brstackoff) = {"brstackoff", SAMPLE_BRANCH_STACK},
	ROW(trace) = {"trace", SAMPLE_RAW},
	ROW(bpf_output) = {"bpf-output", 0},
	ROW(insn) = {"insn", SAMPLE_IP},
	ROW(insnlen) = {"insnlen", SAMPLE_IP},
	ROW(brstackinsn) = {"brstackinsn", SAMPLE_BRANCH_STACK},
	ROW(brstackinsnlen) = {"brstackinsnlen", SAMPLE_BRANCH_STACK},
	ROW(srccode) = {"srccode", SAMPLE_IP},
	ROW(phys_addr) = {"phys_addr", SAMPLE_PHYS_ADDR},
	ROW(data_page_size) = {"data_page_size", SAMPLE_DATA_PAGE_SIZE},
	ROW(code_page_size) = {"code_page_size", SAMPLE_CODE_PAGE_SIZE},
	ROW(provenance) = {"provenance", 0},
};

/* What perf script has and this has not, with the reason. */
static const struct {
	const char *name, *why;
} absent[] = {
	{"callindent", "it is only known to decoders of hardware traces"},
	{"ipc", "it is only known to decoders of hardware traces"},
	{"synth", "it is only known to decoders of hardware traces"},
	{"metric", "it is computed from counters of perf stat"},
};

static const struct {
	const char *name, *title;
} types[SCRIPT_TYPE_COUNT] = {
	[SCRIPT_HARDWARE] = {"hw", "hardware"},
	[SCRIPT_SOFTWARE] = {"sw", "software"},
	[SCRIPT_TRACEPOINT] = {"trace", "tracepoint"},
	[SCRIPT_CACHE] = {NULL, "cache"},
	[SCRIPT_RAW] = {"raw", "raw"},
	[SCRIPT_BREAKPOINT] = {"break", "breakpoint"},
	[SCRIPT_OTHER] = {NULL, "other"},
};

/* --- parsing --- */

static bool is_word(const char *name, size_t length, const char *word)
{
	return word && strlen(word) == length && !strncmp(word, name, length);
}

/* Why a field of perf script is none here; NULL: it is none there either. */
static const char *find_absent(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_COUNT(absent); i++)
		if (is_word(name, length, absent[i].name))
			return absent[i].why;
	return NULL;
}

static int unknown_field(const char *name, size_t length)
{
	const char *names[SCRIPT_FIELD_COUNT + 1] = {0};
	CLEANUP(freep) char *word = must_copy_bytes(name, length);
	CLEANUP(freep) char *remedy = NULL;
	struct text all = {0};
	const char *near;
	int error;

	if (find_absent(name, length))
		return fail_plain(-EINVAL, find_absent(name, length),
				  "field '%s' is not printed here", word);
	for (size_t i = 0; i < SCRIPT_FIELD_COUNT; i++) {
		names[i] = rows[i].name;
		text_appendf(&all, "%s%s", i ? ", " : "there are ", names[i]);
	}
	near = nearest_name(word, names);
	if (near)
		remedy = must_format("did you mean %s?", near);
	error = fail_plain(-EINVAL, remedy ? remedy : text_view(&all), "unknown field '%s'", word);
	text_release(&all);
	return error;
}

/* The bit of a name that is `length` bytes long, 0 if there is none. */
static u64 find_field(const char *name, size_t length)
{
	for (size_t i = 0; i < SCRIPT_FIELD_COUNT; i++)
		if (is_word(name, length, rows[i].name))
			return 1ull << i;
	return 0;
}

/* Which kinds of events an argument is for; what follows is the list of fields. */
static int parse_type(const char **argument, u32 *ret_types)
{
	const char *colon = strchr(*argument, ':');

	*ret_types = (1u << SCRIPT_TYPE_COUNT) - 1;
	if (!colon)
		return 0;
	for (size_t type = 0; type < SCRIPT_TYPE_COUNT; type++) {
		if (!is_word(*argument, (size_t)(colon - *argument), types[type].name))
			continue;
		*ret_types = 1u << type;
		*argument = colon + 1;
		return 0;
	}
	return fail_plain(-EINVAL, "there are hw, sw, trace, raw and break",
			  "unknown kind of events '%.*s'", (int)(colon - *argument), *argument);
}

enum change { CHANGE_SET, CHANGE_ADD, CHANGE_REMOVE };

static void change_field(struct script_fields *fields, u32 of_types, enum change change, u64 field)
{
	for (size_t type = 0; type < SCRIPT_TYPE_COUNT; type++) {
		if (!(of_types & (1u << type)))
			continue;
		fields->is_chosen[type] = true;
		if (change == CHANGE_REMOVE) {
			fields->of_type[type] &= ~field;
			fields->asked[type] &= ~field;
		} else {
			fields->of_type[type] |= field;
			fields->asked[type] |= field;
		}
	}
}

/* A list begins with nothing; "type:" and nothing behind it shows no such events. */
static void begin_list(struct script_fields *fields, u32 of_types)
{
	for (size_t type = 0; type < SCRIPT_TYPE_COUNT; type++) {
		if (!(of_types & (1u << type)))
			continue;
		fields->of_type[type] = fields->asked[type] = 0;
		fields->is_chosen[type] = true;
	}
}

static int change_fields(struct script_fields *fields, u32 of_types, const char *list)
{
	bool is_change = strchr("+-", *list);

	if (!is_change)
		begin_list(fields, of_types);
	for (const char *item = list; *item; item += strspn(item, ",")) {
		enum change change = *item == '-' ? CHANGE_REMOVE : CHANGE_ADD;
		const char *name = item + (*item == '-' || *item == '+');
		size_t length = strcspn(name, ",");
		u64 field = find_field(name, length);

		if (!field && !(change == CHANGE_REMOVE && find_absent(name, length)))
			return unknown_field(name, length);
		if (is_change && name == item)
			return fail_plain(-EINVAL, "begin each field with + or -, or none",
					  "-F '%s' both changes and replaces the fields", list);
		change_field(fields, of_types, is_change ? change : CHANGE_SET, field);
		item = name + length;
	}
	return 0;
}

int script_fields_parse(struct script_fields *fields, const char *argument)
{
	const char *list = argument;
	u32 of_types;
	int error = parse_type(&list, &of_types);

	return error ? error : change_fields(fields, of_types, list);
}

/* --- what was recorded --- */

static enum script_type type_of(const struct event_source *source)
{
	return source->type < SCRIPT_OTHER ? source->type : SCRIPT_OTHER;
}

/* An event that only carries records about processes; nothing is sampled by it. */
static bool is_dummy(const struct event_source *source)
{
	return source->type == SCRIPT_SOFTWARE && source->config == EVENT_DUMMY;
}

static u64 recorded_fields(const struct event_source *source)
{
	u64 recorded = 0;

	for (size_t i = 0; i < SCRIPT_FIELD_COUNT; i++)
		if (!rows[i].needs || (source->sample_bits & rows[i].needs))
			recorded |= 1ull << i;
	if (source->type != SCRIPT_SOFTWARE || source->config != EVENT_BPF_OUTPUT)
		recorded &= ~(u64)PRINT_bpf_output;
	if (source->type != SCRIPT_TRACEPOINT)
		recorded &= ~(u64)PRINT_trace;
	/* between chosen branches, or calls that have not returned, lies other code */
	if (!(source->branch_bits & BRANCH_ANY))
		recorded &= ~(u64)PRINT_BLOCKS;
	return recorded;
}

/* Tracepoints show where they were hit if that was recorded with its callers. */
static void add_stacks_of_tracepoints(struct script_fields *fields,
				      const struct event_source *sources, u32 count)
{
	if (fields->is_chosen[SCRIPT_TRACEPOINT])
		return;
	for (u32 i = 0; i < count; i++)
		if (type_of(&sources[i]) == SCRIPT_TRACEPOINT && sources[i].has_chain)
			fields->of_type[SCRIPT_TRACEPOINT] |= PRINT_ip | PRINT_sym | PRINT_symoff |
							      PRINT_dso;
}

/* What was asked for may be missing from some events, but not from all. */
static int refuse_missing(u64 missing)
{
	for (size_t i = 0; i < SCRIPT_FIELD_COUNT; i++)
		if (missing & (1ull << i))
			return fail_plain(-EINVAL, "leave it out of -F", "the samples hold no '%s'",
					  rows[i].name);
	return 0;
}

int script_fields_check(struct script_fields *fields, const struct perfdata *data, u64 also)
{
	const u64 of_recording = PRINT_provenance | PRINT_tod;
	u64 recorded = also, asked = 0;
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	if (perfdata_header(data)->has_clock)
		recorded |= PRINT_tod;
	for (u32 i = 0; i < count; i++) {
		if (is_dummy(&sources[i]))
			continue;
		recorded |= recorded_fields(&sources[i]) & ~of_recording;
		asked |= fields->asked[type_of(&sources[i])];
	}
	add_stacks_of_tracepoints(fields, sources, count);
	return refuse_missing(asked & ~recorded);
}

u64 script_fields_of(const struct script_fields *fields, const struct event_source *source)
{
	return fields->of_type[type_of(source)] & recorded_fields(source);
}

u64 script_fields_any(const struct script_fields *fields)
{
	u64 any = 0;

	for (size_t type = 0; type < SCRIPT_TYPE_COUNT; type++)
		any |= fields->of_type[type];
	return any;
}
