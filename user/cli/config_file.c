/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perfconfig files → keys and values.
 *
 * A line is "[section]", "[section "part"]", "key = value", "key" (which is true) or empty. Values
 * may be quoted in whole or part; \" \\ \n \t \b are escapes, and a backslash at the end of the
 * line goes on with the next one. Source: the perf-config(1) manual page.
 */
#include "cli/config_file.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct config_reader {
	const char *next, *end;
	const char *file_name;
	u32 line;
	struct text section, key, value;
};

enum { LARGEST_FILE_BYTES = 1 << 20 };

/* The next character; '\n' at the end of the file. */
static int peek(const struct config_reader *reader)
{
	return reader->next < reader->end ? (unsigned char)*reader->next : '\n';
}

static int take_char(struct config_reader *reader)
{
	int c = peek(reader);

	if (reader->next < reader->end)
		reader->next++;
	return c;
}

static void skip_blanks(struct config_reader *reader)
{
	while (peek(reader) == ' ' || peek(reader) == '\t' || peek(reader) == '\r')
		reader->next++;
}

static void skip_line(struct config_reader *reader)
{
	while (take_char(reader) != '\n')
		;
	reader->line++;
}

static bool is_line_end(int c)
{
	return c == '\n' || c == '#' || c == ';';
}

static bool is_key_char(int c)
{
	return isalnum(c) || c == '-' || c == '_' || c == '.';
}

static void append_char(struct text *text, int c)
{
	char byte = (char)c;

	text_append_bytes(text, &byte, 1);
}

/* "[name]" or "[name "part"]", which is the section name.part. */
static const char *read_section(struct config_reader *reader)
{
	text_truncate(&reader->section, 0);
	take_char(reader); /* [ */
	skip_blanks(reader);
	while (is_key_char(peek(reader)))
		append_char(&reader->section, take_char(reader));
	skip_blanks(reader);
	if (peek(reader) == '"') {
		take_char(reader);
		append_char(&reader->section, '.');
		while (peek(reader) != '"' && peek(reader) != '\n')
			append_char(&reader->section, take_char(reader));
		if (take_char(reader) != '"')
			return "the quote is not closed";
		skip_blanks(reader);
	}
	if (take_char(reader) != ']' || !reader->section.length)
		return "not a [section]";
	return NULL;
}

/* What follows a backslash. */
static const char *read_escape(struct config_reader *reader)
{
	static const char letters[] = "\\\"ntb", bytes[] = "\\\"\n\t\b";
	int c = take_char(reader);

	if (c == '\n') {
		reader->line++;
		return NULL;
	}
	for (size_t i = 0; i + 1 < sizeof(letters); i++) {
		if (letters[i] == c) {
			append_char(&reader->value, bytes[i]);
			return NULL;
		}
	}
	return "unknown escape in the value; write \\\\ for a backslash";
}

/* The value up to its line's end; the end itself is left. */
static const char *read_value(struct config_reader *reader)
{
	bool is_quoted = false;
	size_t wanted = 0; /* bytes without the blanks at the end */

	skip_blanks(reader);
	while (peek(reader) != '\n' && (is_quoted || !is_line_end(peek(reader)))) {
		int c = take_char(reader);
		const char *wrong = NULL;

		if (c == '"')
			is_quoted = !is_quoted;
		else if (c == '\\')
			wrong = read_escape(reader);
		else
			append_char(&reader->value, c);
		if (wrong)
			return wrong;
		if (is_quoted || c == '"' || c == '\\' || !isspace(c))
			wanted = reader->value.length;
	}
	text_truncate(&reader->value, wanted);
	return is_quoted ? "the quote is not closed" : NULL;
}

/* "key = value" or "key". */
static const char *read_pair(struct config_reader *reader)
{
	text_truncate(&reader->key, 0);
	text_truncate(&reader->value, 0);
	text_appendf(&reader->key, "%s.", text_view(&reader->section));
	if (!isalpha(peek(reader)))
		return "neither a [section] nor a key";
	while (is_key_char(peek(reader)))
		append_char(&reader->key, take_char(reader));
	skip_blanks(reader);
	if (peek(reader) == '=') {
		take_char(reader);
		return read_value(reader);
	}
	text_append(&reader->value, "true");
	return is_line_end(peek(reader)) ? NULL : "no = behind the key";
}

static const char *take_pair(struct config_reader *reader, config_take *take, void *context,
			     int *ret_error)
{
	struct config_pair pair = {.file_name = reader->file_name, .line = reader->line};
	const char *wrong;

	if (!reader->section.length)
		return "a key before the first [section]";
	wrong = read_pair(reader);
	if (wrong)
		return wrong;
	pair.key = text_view(&reader->key);
	pair.value = text_view(&reader->value);
	*ret_error = take(context, &pair);
	return NULL;
}

static int read_lines(struct config_reader *reader, config_take *take, void *context)
{
	const char *file_name = reader->file_name;

	while (reader->next < reader->end) {
		u32 line = reader->line;
		const char *wrong = NULL;
		int error = 0;

		skip_blanks(reader);
		if (peek(reader) == '[')
			wrong = read_section(reader);
		else if (!is_line_end(peek(reader)))
			wrong = take_pair(reader, take, context, &error);
		if (wrong)
			return fail_plain(-EBADMSG, NULL, "%s line %u: %s", file_name, line, wrong);
		if (error)
			return error < 0 ? fail_while(error, "%s line %u", file_name, line) : error;
		skip_blanks(reader);
		if (is_line_end(peek(reader)))
			skip_line(reader); /* a key may stand behind its [section] */
	}
	return 0;
}

int config_read(struct bytes text, const char *file_name, config_take *take, void *context)
{
	struct config_reader reader = {
		.next = (const char *)text.start,
		.end = (const char *)text.start + text.length,
		.file_name = file_name,
		.line = 1,
	};
	int error = read_lines(&reader, take, context);

	text_release(&reader.section);
	text_release(&reader.key);
	text_release(&reader.value);
	return error;
}

/* Why a file that is there is not read; NULL: it is. Owned by the caller. A settings file of
 * another user is not ours to obey, except root's. */
static char *why_passed_over(const char *path, const struct stat *status)
{
	if (status->st_uid && status->st_uid != geteuid())
		return must_format("%s is not read: it is user %u's; give it to who runs bpfprof, "
				   "or to root",
				   path, status->st_uid);
	if (access(path, R_OK))
		return must_format("%s is not read: %s", path, strerror(errno));
	return NULL;
}

static int read_file(const char *path, config_take *take, void *context)
{
	CLEANUP(freep) char *text = NULL;
	size_t length;
	int error = file_read(path, LARGEST_FILE_BYTES, &text, &length);

	if (error)
		return fail(error, NULL, "cannot read %s", path);
	return config_read((struct bytes){.start = (u8 *)text, .length = length}, path, take,
			   context);
}

static int read_if_there(const char *path, config_take *take, config_pass *pass, void *context)
{
	CLEANUP(freep) char *why = NULL;
	struct stat status;

	if (stat(path, &status))
		return 0;
	why = why_passed_over(path, &status);
	if (!why)
		return read_file(path, take, context);
	pass(context, why);
	return 0;
}

int config_read_all(config_take *take, config_pass *pass, void *context)
{
	static const char *const names[] = {"perfconfig", "bpfprofconfig"};
	const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");

	if (only && *only)
		return read_file(only, take, context); /* named: it must be there */
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		CLEANUP(freep) char *of_all = must_format("/etc/%s", names[i]);
		CLEANUP(freep) char *of_user = must_format("%s/.%s", home ? home : "", names[i]);
		int error = read_if_there(of_all, take, pass, context);

		if (!error && home)
			error = read_if_there(of_user, take, pass, context);
		if (error)
			return error;
	}
	return 0;
}
