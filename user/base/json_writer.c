/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON written as a stream. Source of the grammar and the escapes: RFC 8259.
 *
 * Objects, arrays and members start a line of their own; plain values of an array share one.
 */
#include "base/json_writer.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

struct level {
	char close;    /* } or ] */
	bool has_rows; /* something is in it already */
	bool is_tall;  /* its end goes on a line of its own */
};

struct json_writer {
	FILE *out;
	VEC(struct level) levels;
};

struct json_writer *json_writer_new(FILE *out)
{
	struct json_writer *json = must_alloc(sizeof(*json));

	json->out = out;
	return json;
}

void json_writer_free(struct json_writer *json)
{
	if (!json)
		return;
	assert(json->levels.count == 0);
	fputc('\n', json->out);
	vec_release(&json->levels);
	free(json);
}

void json_writer_freep(struct json_writer **json)
{
	json_writer_free(*json);
}

static void start_line(struct json_writer *json)
{
	fputc('\n', json->out);
	for (size_t i = 0; i < json->levels.count; i++)
		fputc('\t', json->out);
}

static void write_escaped(FILE *out, unsigned char byte)
{
	static const char letters[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";

	for (size_t i = 0; i + 1 < sizeof(letters); i++) {
		if ((unsigned char)letters[i] == byte) {
			fputc('\\', out);
			fputc(names[i], out);
			return;
		}
	}
	fprintf(out, "\\u%04x", byte);
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void write_string(FILE *out, const char *text)
{
	const unsigned char *next = (const unsigned char *)text;

	fputc('"', out);
	while (*next) {
		size_t bytes = 0;

		while (is_plain(next[bytes]))
			bytes++;
		if (!bytes && *next >= 0x80)
			bytes = utf8_bytes(next);
		if (bytes)
			fwrite(next, 1, bytes, out);
		else if (*next < 0x80)
			write_escaped(out, *next);
		else
			fputs("\xef\xbf\xbd", out); /* U+FFFD */
		next += bytes ? bytes : 1;
	}
	fputc('"', out);
}

/* What stands in front of a value: comma, line, key. */
static void begin_value(struct json_writer *json, const char *key, bool is_tall)
{
	struct level *level;

	if (!json->levels.count)
		return;
	level = &json->levels.items[json->levels.count - 1];
	if (level->has_rows)
		fputc(',', json->out);
	if (key || is_tall) {
		level->is_tall = true;
		start_line(json);
	} else if (level->has_rows) {
		fputc(' ', json->out);
	}
	level->has_rows = true;
	if (key) {
		write_string(json->out, key);
		fputs(": ", json->out);
	}
}

static void open_level(struct json_writer *json, const char *key, const char *brackets)
{
	begin_value(json, key, true);
	fputc(brackets[0], json->out);
	*vec_add(&json->levels) = (struct level){.close = brackets[1]};
}

static void close_level(struct json_writer *json, char close)
{
	struct level level;

	assert(json->levels.count && json->levels.items[json->levels.count - 1].close == close);
	level = json->levels.items[--json->levels.count];
	if (level.is_tall)
		start_line(json);
	fputc(close, json->out);
}

void json_object(struct json_writer *json, const char *key)
{
	open_level(json, key, "{}");
}

void json_object_end(struct json_writer *json)
{
	close_level(json, '}');
}

void json_array(struct json_writer *json, const char *key)
{
	open_level(json, key, "[]");
}

void json_array_end(struct json_writer *json)
{
	close_level(json, ']');
}

void json_text(struct json_writer *json, const char *key, const char *value)
{
	begin_value(json, key, false);
	if (value)
		write_string(json->out, value);
	else
		fputs("null", json->out);
}

void json_u64(struct json_writer *json, const char *key, u64 value)
{
	begin_value(json, key, false);
	fprintf(json->out, "%" PRIu64, value);
}

void json_double(struct json_writer *json, const char *key, double value, int decimals)
{
	begin_value(json, key, false);
	if (isfinite(value))
		fprintf(json->out, "%.*f", decimals, value);
	else
		fputs("null", json->out);
}

void json_bool(struct json_writer *json, const char *key, bool value)
{
	begin_value(json, key, false);
	fputs(value ? "true" : "false", json->out);
}
