/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The section of formats is walked here, with bounds; libtraceevent reads each format.
 *
 * Source of the section's layout: trace-event-read.c of tools/perf/util, Linux 6.1.
 */
#include "perfdata/tracepoints.h"

#include "base/fail.h"
#include "perfdata/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <traceevent/event-parse.h>

/* What is used of the library. */
#define FUNCTIONS(X)                 \
	X(tep_alloc)                 \
	X(tep_free)                  \
	X(tep_set_flag)              \
	X(tep_set_file_bigendian)    \
	X(tep_set_local_bigendian)   \
	X(tep_set_long_size)         \
	X(tep_set_page_size)         \
	X(tep_set_function_resolver) \
	X(tep_parse_header_page)     \
	X(tep_parse_event)           \
	X(tep_register_print_string) \
	X(tep_find_event)            \
	X(tep_find_event_by_record)  \
	X(tep_print_event)           \
	X(trace_seq_init)            \
	X(trace_seq_reset)           \
	X(trace_seq_terminate)       \
	X(trace_seq_destroy)

enum {
	RAW_BYTES = 1 << 16, /* more than a record holds */
	/* The most that is said of a sample: so much for each of its bytes, and as much as the
	 * longest format may say by itself. */
	WORDS_A_BYTE = 16,
	FORMAT_WORDS = 1 << 16,
	ROOM_BYTES = 3 * RAW_BYTES, /* what a field's place and length, 16 bits each, can lead to */
};

struct tracepoints {
	struct tep_handle *handle;
	struct trace_seq words;
	struct tracepoint_names names;
	u64 named;	    /* start of the function that was named last */
	size_t raw_bytes;   /* of `raw` that may be other than zero */
	u8 raw[ROOM_BYTES]; /* a sample's, with zeroes behind it */
};

/* --- the library --- */

static struct {
#define AS_MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(AS_MEMBER)
	bool is_there;
} library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void load_library(void)
{
	void *handle = dlopen("libtraceevent.so.1", RTLD_NOW | RTLD_LOCAL);
	void (*set_log_level)(int level);

	if (!handle)
		return;
	library.is_there = true;
#define LOAD(name)                                      \
	*(void **)&library.name = dlsym(handle, #name); \
	library.is_there = library.is_there && library.name;
	FUNCTIONS(LOAD)
	/* Since 1.3; before, it has no words for what it does not understand. */
	*(void **)&set_log_level = dlsym(handle, "tep_set_loglevel");
	if (set_log_level)
		set_log_level(0); /* none */
}

static int need_library(void)
{
	pthread_once(&library_once, load_library);
	return library.is_there
		       ? 0
		       : fail_plain(-ENOPKG, "install libtraceevent1, or leave out what they say",
				    "tracepoints need libtraceevent, which cannot be loaded");
}

/* --- the section --- */

/* Up to a zero byte; NULL if there is none. */
static const char *take_word(struct cursor *cursor)
{
	const u8 *end = memchr(cursor->next, 0, cursor_left(cursor));

	return cursor_text(cursor, end ? (u64)(end - cursor->next) + 1 : UINT64_MAX);
}

static bool take_name(struct cursor *cursor, const char *name)
{
	const char *word = take_word(cursor);

	return word && !strcmp(word, name);
}

/* The machine that the tracepoints are of. */
static bool read_machine(struct tracepoints *points, struct cursor *cursor)
{
	static const char mark[] = "\x17\x08\x44tracing";
	const u8 *start = cursor_take(cursor, strlen(mark));
	enum tep_endian order,
		own = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN;
	u8 long_bytes;

	if (!start || memcmp(start, mark, strlen(mark)) || !take_word(cursor))
		return false;
	order = cursor_u8(cursor) ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN;
	long_bytes = cursor_u8(cursor);
	cursor->swap = order != own;
	library.tep_set_flag(points->handle, TEP_NSEC_OUTPUT);
	library.tep_set_file_bigendian(points->handle, order);
	library.tep_set_local_bigendian(points->handle, own);
	library.tep_set_long_size(points->handle, long_bytes);
	library.tep_set_page_size(points->handle, (int)cursor_u32(cursor));
	return long_bytes == sizeof(u32) || long_bytes == sizeof(u64);
}

/* A text that a length stands in front of, with the zero behind it that the library looks for; NULL
 * if it is not all there. The caller frees. */
static char *take_text(struct cursor *cursor, u64 length)
{
	const u8 *start = cursor_take(cursor, length);

	return start ? must_copy_bytes((const char *)start, length) : NULL;
}

static bool read_headers(struct tracepoints *points, struct cursor *cursor)
{
	CLEANUP(freep) char *page = NULL;
	u64 length;

	if (!take_name(cursor, "header_page"))
		return false;
	length = cursor_u64(cursor);
	page = take_text(cursor, length);
	if (page)
		library.tep_parse_header_page(points->handle, page, length, sizeof(u64));
	if (!page || !take_name(cursor, "header_event"))
		return false;
	cursor_take(cursor, cursor_u64(cursor));
	return true;
}

/* The text of a format with no tab in the strings of its last line, "print fmt:", but "\\t": of one
 * with a tab as the kernel writes it, libtraceevent 1.7 takes in nothing. The caller frees. */
static char *escape_tabs(const char *format)
{
	const char *line = strstr(format, "print fmt:");
	struct text escaped = {0};
	bool is_quoted = false;

	text_append_bytes(&escaped, format, line ? (size_t)(line - format) : strlen(format));
	for (const char *at = line; at && *at; at++) {
		is_quoted ^= *at == '"' && at[-1] != '\\';
		if (*at == '\t' && is_quoted)
			text_append(&escaped, "\\t");
		else
			text_append_bytes(&escaped, at, 1);
	}
	return text_take(&escaped);
}

/* One it cannot read is one that nothing will be told of. */
static void read_formats(struct tracepoints *points, struct cursor *cursor, const char *system)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		CLEANUP(freep) char *text = take_text(cursor, cursor_u64(cursor));
		CLEANUP(freep) char *format = text ? escape_tabs(text) : NULL;

		if (format)
			library.tep_parse_event(points->handle, format, strlen(format), system);
	}
}

static void read_systems(struct tracepoints *points, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		const char *system = take_word(cursor);

		if (system)
			read_formats(points, cursor, system);
	}
}

/* Formats of trace_printk(), one a line: "0xffffffff81234567 : "text"". */
static void read_print_formats(struct tracepoints *points, struct cursor *cursor)
{
	CLEANUP(freep) char *all = take_text(cursor, cursor_u32(cursor));
	char *rest = all, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char *text = strchr(line, ':');

		if (text && text[1])
			library.tep_register_print_string(points->handle, text + 2,
							  strtoull(line, NULL, 16));
	}
}

static bool read_section(struct tracepoints *points, struct bytes section)
{
	struct cursor cursor = cursor_of(section);

	if (!read_machine(points, &cursor) || !read_headers(points, &cursor))
		return false;
	read_formats(points, &cursor, "ftrace");
	read_systems(points, &cursor);
	cursor_take(&cursor, cursor_u32(&cursor)); /* kallsyms: they are known otherwise */
	read_print_formats(points, &cursor);
	return !cursor.overrun;
}

/* --- telling --- */

/* The library's interface; it changes nothing of what it gets. */
static char *find_function(void *context, unsigned long long *address, char **ret_module)
{
	struct tracepoints *points = context;
	const char *name;

	points->named = *address;
	name = points->names.find(points->names.context, &points->named);
	*ret_module = NULL;
	*address = points->named;
	return (char *)name;
}

bool tracepoints_are_told(const struct perfdata *data)
{
	return data->features[FEATURE_TRACING_DATA].length;
}

int tracepoints_open(const struct perfdata *data, struct tracepoint_names names,
		     struct tracepoints **ret_tracepoints)
{
	struct tracepoints *points;
	int error = need_library();

	if (error)
		return error;
	points = must_alloc(sizeof(*points));
	points->names = names;
	points->handle = library.tep_alloc();
	library.trace_seq_init(&points->words);
	*ret_tracepoints = points;
	if (!points->handle)
		return fail(-ENOMEM, NULL, "cannot read the formats of tracepoints");
	if (names.find)
		library.tep_set_function_resolver(points->handle, find_function, points);
	if (read_section(points, data->features[FEATURE_TRACING_DATA]))
		return 0;
	return fail_plain(-EBADMSG, NULL, "%s: the formats of tracepoints are damaged", data->path);
}

void tracepoints_free(struct tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	if (tracepoints->handle)
		library.tep_free(tracepoints->handle);
	library.trace_seq_destroy(&tracepoints->words);
	free(tracepoints);
}

/* As the library does, of the event that the raw data themselves are of. */
static void print(struct tracepoints *tracepoints, struct tep_record *record)
{
	library.trace_seq_reset(&tracepoints->words);
	library.tep_print_event(tracepoints->handle, &tracepoints->words, record, "%s",
				TEP_PRINT_INFO);
	library.trace_seq_terminate(&tracepoints->words);
}

/* From now on its fields are told, as of a format that cannot be read. */
static void give_up_format(struct tracepoints *tracepoints, struct tep_record *record)
{
	struct tep_event *event = library.tep_find_event_by_record(tracepoints->handle, record);

	if (event)
		event->flags |= TEP_EVENT_FL_FAILED;
}

char *tracepoints_tell(struct tracepoints *tracepoints, const struct event_source *source,
		       struct bytes raw)
{
	struct tep_event *event = library.tep_find_event(tracepoints->handle, (int)source->config);
	struct tep_record record = {.data = tracepoints->raw, .size = (int)raw.length};

	library.trace_seq_reset(&tracepoints->words);
	library.trace_seq_terminate(&tracepoints->words);
	if (!event || !raw.length || raw.length > RAW_BYTES)
		return tracepoints->words.buffer;
	memcpy(tracepoints->raw, raw.start, raw.length);
	if (raw.length < tracepoints->raw_bytes)
		memset(tracepoints->raw + raw.length, 0, tracepoints->raw_bytes - raw.length);
	tracepoints->raw_bytes = raw.length;
	print(tracepoints, &record);
	if (tracepoints->words.len > FORMAT_WORDS + WORDS_A_BYTE * raw.length) {
		give_up_format(tracepoints, &record);
		print(tracepoints, &record);
	}
	return tracepoints->words.buffer;
}
