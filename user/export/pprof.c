/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The messages of profile.proto, field by field: rows of the tables are its rows, with the same
 * numbers. A message is a list of fields, each a key (number and kind) and a value; numbers are
 * written seven bits a byte, texts and messages with their length in front.
 */
#include "export/pprof.h"

#include "base/compress.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { KIND_NUMBER = 0, KIND_BYTES = 2, KIND_BITS = 3 };

/* Fields of the messages that are written. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
};

/* What the samples that are written refer to, by row. */
struct used {
	bool *locations, *functions, *binaries;
	bool *names; /* of threads, by string of the profile: if they are frames */
};

struct pprof {
	const struct profile *profile;
	const struct pprof_settings *settings;
	struct used used;
	struct text out;     /* the whole message */
	struct text message; /* the one that is being written into it */
	struct text inner;   /* … and one in that */
	struct text printable;
	struct intern strings;
	VEC(const char *) string_list; /* from 1; borrowed */
};

/* --- fields --- */

static void put_number(struct text *out, u64 value)
{
	u8 bytes[10];
	size_t count = 0;

	do {
		bytes[count++] = (u8)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	text_append_bytes(out, bytes, count);
}

static void put_field(struct text *out, u32 field, u64 value)
{
	if (!value)
		return; /* as if it were there */
	put_number(out, field << KIND_BITS | KIND_NUMBER);
	put_number(out, value);
}

static void put_bytes(struct text *out, u32 field, const void *bytes, size_t length)
{
	put_number(out, field << KIND_BITS | KIND_BYTES);
	put_number(out, length);
	text_append_bytes(out, bytes, length);
}

/* Writes a message into another, and begins it anew. */
static void put_message(struct text *out, u32 field, struct text *message)
{
	put_bytes(out, field, text_view(message), message->length);
	text_truncate(message, 0);
}

/* The row of a text; 0 is the empty one. Strings of the format are UTF-8, and names of threads and
 * files need not be. */
static u64 string_of(struct pprof *pprof, const char *text)
{
	u32 row;

	if (!*text)
		return 0;
	text_truncate(&pprof->printable, 0);
	text_append_printable(&pprof->printable, text);
	row = intern_text(&pprof->strings, text_view(&pprof->printable));
	while (pprof->string_list.count <= row)
		*vec_add(&pprof->string_list) = "";
	pprof->string_list.items[row] = intern_view(&pprof->strings, row);
	return row;
}

/* --- messages --- */

static void put_type(struct pprof *pprof, u32 field, const char *type, const char *unit)
{
	put_field(&pprof->message, TYPE_TYPE, string_of(pprof, type));
	put_field(&pprof->message, TYPE_UNIT, string_of(pprof, unit));
	put_message(&pprof->out, field, &pprof->message);
}

static bool counts_time(const struct event_source *source)
{
	return source->type == PERF_TYPE_SOFTWARE && (source->config == PERF_COUNT_SW_CPU_CLOCK ||
						      source->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Two columns an event, named as other CPU profiles are if it is the only one. */
static void put_types(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (size_t i = 0; i < profile->sources.count; i++) {
		const struct event_source *source = &profile->sources.items[i];
		bool is_cpu = counts_time(source) && profile->sources.count == 1;
		CLEANUP(freep) char *samples = must_format("%s samples", source->name);

		put_type(pprof, PROFILE_SAMPLE_TYPE, is_cpu ? "samples" : samples, "count");
		put_type(pprof, PROFILE_SAMPLE_TYPE, is_cpu ? "cpu" : source->name,
			 counts_time(source) ? "nanoseconds" : "count");
	}
}

static void put_label(struct pprof *pprof, const char *key, const char *text, u64 number)
{
	put_field(&pprof->inner, LABEL_KEY, string_of(pprof, key));
	if (text)
		put_field(&pprof->inner, LABEL_TEXT, string_of(pprof, text));
	else
		put_field(&pprof->inner, LABEL_NUMBER, number);
	put_message(&pprof->message, SAMPLE_LABEL, &pprof->inner);
}

static void put_labels(struct pprof *pprof, const struct count_row *count)
{
	const struct profile *profile = pprof->profile;
	const struct label_row *labels = &profile->labels.items[count->labels];
	const char *comm = profile_text(profile, labels->comm);

	if (*comm)
		put_label(pprof, "thread", comm, 0);
	if (labels->pid != ~0u)
		put_label(pprof, "pid", NULL, labels->pid);
	if (labels->tid != ~0u)
		put_label(pprof, "tid", NULL, labels->tid);
}

/* A thread's name as the outermost frame: locations and functions behind those of the profile. */
static void put_name_frame(struct pprof *pprof, string_id comm)
{
	pprof->used.names[comm] = true;
	put_number(&pprof->inner, pprof->profile->locations.count + comm);
}

static void put_location(struct pprof *pprof, location_id location)
{
	pprof->used.locations[location] = true;
	put_number(&pprof->inner, location);
}

static void put_frames(struct pprof *pprof, const struct count_row *count)
{
	const struct profile *profile = pprof->profile;
	string_id comm = profile->labels.items[count->labels].comm;

	for (stack_id stack = count->stack; stack; stack = profile->stacks.items[stack].caller)
		put_location(pprof, profile->stacks.items[stack].location);
	if (!count->stack && count->leaf)
		put_location(pprof, count->leaf);
	if (pprof->settings->names_are_frames && comm)
		put_name_frame(pprof, comm);
	put_message(&pprof->message, SAMPLE_LOCATIONS, &pprof->inner);
}

static void put_sample(struct pprof *pprof, const struct count_row *count)
{
	put_frames(pprof, count);
	for (u32 i = 0; i < pprof->profile->sources.count; i++) {
		put_number(&pprof->inner, i == count->source ? count->samples : 0);
		put_number(&pprof->inner, i == count->source ? count->weight : 0);
	}
	put_message(&pprof->message, SAMPLE_VALUES, &pprof->inner);
	if (!pprof->settings->names_are_frames)
		put_labels(pprof, count);
	put_message(&pprof->out, PROFILE_SAMPLE, &pprof->message);
}

static void put_samples(struct pprof *pprof)
{
	const struct pprof_settings *settings = pprof->settings;

	for (size_t i = 0; i < pprof->profile->counts.count; i++) {
		const struct count_row *count = &pprof->profile->counts.items[i];

		if (!settings->groups || settings->groups[count->labels] == settings->group)
			put_sample(pprof, count);
	}
}

/* Locations are known; marks what they refer to. */
static void find_used(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (size_t i = 1; i < profile->locations.count; i++) {
		const struct location_row *location = &profile->locations.items[i];

		if (!pprof->used.locations[i])
			continue;
		pprof->used.binaries[location->binary] = true;
		for (u32 line = 0; line < location->line_count; line++)
			pprof->used.functions[profile->lines.items[location->first_line + line]
						      .function] = true;
	}
}

/* Names have been looked for: nobody needs to do it again with files that may be others. */
static void put_mappings(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (size_t i = 1; i < profile->binaries.count; i++) {
		const struct binary_row *binary = &profile->binaries.items[i];
		char build_id[2 * BUILD_ID_MAX_BYTES + 1] = "";

		if (!pprof->used.binaries[i])
			continue;
		for (u32 byte = 0; byte < binary->build_id_bytes; byte++)
			snprintf(&build_id[(size_t)2 * byte], 3, "%02x", binary->build_id[byte]);
		put_field(&pprof->message, MAPPING_ID, i);
		put_field(&pprof->message, MAPPING_FILE,
			  string_of(pprof, profile_text(profile, binary->path)));
		put_field(&pprof->message, MAPPING_BUILD_ID, string_of(pprof, build_id));
		put_field(&pprof->message, MAPPING_HAS_FUNCTIONS, 1);
		put_message(&pprof->out, PROFILE_MAPPING, &pprof->message);
	}
}

static void put_locations(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (size_t i = 1; i < profile->locations.count; i++) {
		const struct location_row *location = &profile->locations.items[i];

		if (!pprof->used.locations[i])
			continue;
		put_field(&pprof->message, LOCATION_ID, i);
		put_field(&pprof->message, LOCATION_MAPPING, location->binary);
		put_field(&pprof->message, LOCATION_ADDRESS, location->address);
		for (u32 line = 0; line < location->line_count; line++) {
			const struct line_row *row =
				&profile->lines.items[location->first_line + line];

			put_field(&pprof->inner, LINE_FUNCTION, row->function);
			put_field(&pprof->inner, LINE_LINE, row->line);
			put_message(&pprof->message, LOCATION_LINE, &pprof->inner);
		}
		put_message(&pprof->out, PROFILE_LOCATION, &pprof->message);
	}
}

static void put_function(struct pprof *pprof, u64 id, string_id text)
{
	u64 name = string_of(pprof, profile_text(pprof->profile, text));

	put_field(&pprof->message, FUNCTION_ID, id);
	put_field(&pprof->message, FUNCTION_NAME, name);
	put_field(&pprof->message, FUNCTION_SYSTEM_NAME, name);
	put_message(&pprof->out, PROFILE_FUNCTION, &pprof->message);
}

static void put_functions(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (size_t i = 1; i < profile->functions.count; i++)
		if (pprof->used.functions[i])
			put_function(pprof, i, profile->functions.items[i].name);
}

/* What put_name_frame() refers to. */
static void put_names(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	for (u32 comm = 1; comm <= profile->strings.count; comm++) {
		if (!pprof->used.names[comm])
			continue;
		put_function(pprof, profile->functions.count + comm, comm);
		put_field(&pprof->inner, LINE_FUNCTION, profile->functions.count + comm);
		put_field(&pprof->message, LOCATION_ID, profile->locations.count + comm);
		put_message(&pprof->message, LOCATION_LINE, &pprof->inner);
		put_message(&pprof->out, PROFILE_LOCATION, &pprof->message);
	}
}

static void put_strings(struct pprof *pprof)
{
	put_bytes(&pprof->out, PROFILE_STRING, "", 0);
	for (size_t i = 1; i < pprof->string_list.count; i++)
		put_bytes(&pprof->out, PROFILE_STRING, pprof->string_list.items[i],
			  strlen(pprof->string_list.items[i]));
}

static void put_period(struct pprof *pprof)
{
	const struct event_source *source = pprof->profile->sources.items;
	bool is_time = counts_time(source);

	put_type(pprof, PROFILE_PERIOD_TYPE, is_time ? "cpu" : source->name,
		 is_time ? "nanoseconds" : "count");
	if (!source->is_frequency)
		put_field(&pprof->out, PROFILE_PERIOD, source->rate);
	else if (is_time && source->rate)
		put_field(&pprof->out, PROFILE_PERIOD, 1000000000 / source->rate);
}

static void pprof_init(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	pprof->used = (struct used){
		.locations = must_alloc(profile->locations.count + 1),
		.functions = must_alloc(profile->functions.count + 1),
		.binaries = must_alloc(profile->binaries.count + 1),
		.names = must_alloc((size_t)profile->strings.count + 1),
	};
}

static void pprof_release(struct pprof *pprof)
{
	free(pprof->used.locations);
	free(pprof->used.functions);
	free(pprof->used.binaries);
	free(pprof->used.names);
	text_release(&pprof->out);
	text_release(&pprof->message);
	text_release(&pprof->inner);
	text_release(&pprof->printable);
	intern_release(&pprof->strings);
	vec_release(&pprof->string_list);
}

int pprof_write(const struct profile *profile, const struct pprof_settings *settings, FILE *out)
{
	CLEANUP(pprof_release) struct pprof pprof = {.profile = profile, .settings = settings};
	CLEANUP(text_release) struct text packed = {0};
	int error;

	pprof_init(&pprof);
	put_types(&pprof);
	put_samples(&pprof);
	find_used(&pprof);
	put_mappings(&pprof);
	put_locations(&pprof);
	put_functions(&pprof);
	put_names(&pprof);
	put_field(&pprof.out, PROFILE_TIME_NS, settings->start_ns);
	put_field(&pprof.out, PROFILE_DURATION_NS, settings->duration_ns);
	if (profile->sources.count)
		put_period(&pprof);
	put_strings(&pprof);
	error = gzip_pack((struct bytes){(const u8 *)text_view(&pprof.out), pprof.out.length},
			  &packed);
	if (!error && fwrite(text_view(&packed), 1, packed.length, out) != packed.length)
		error = errno ? -errno : -EIO;
	return error;
}
