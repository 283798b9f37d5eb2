/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Option rows → --help and the OPTIONS section of the manual page.
 */
#include "cli/options.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum {
	NARROWEST_TEXT = 60,
	WIDEST_TEXT = 100, /* longer lines are hard to read */
	WIDEST_NAME = 26,  /* longer ones have their text on the next line */
};

/* Bytes of the next piece that stays on one line: a word, or of a word longer than a line as many
 * of its parts (a,b or a|b) as fit. */
static unsigned int piece_length(const char *words, unsigned int width)
{
	unsigned int length = (unsigned int)strcspn(words, " ");
	unsigned int parts = 0;

	if (length <= width)
		return length;
	for (unsigned int i = 0; i < width; i++)
		if (words[i] == ',' || words[i] == '|')
			parts = i + 1;
	return parts ? parts : length;
}

/* Writes words in lines of at most `width` columns; the first line begins at `column`. */
static void write_wrapped(FILE *out, const char *words, unsigned int indent, unsigned int column,
			  unsigned int width)
{
	unsigned int blank = 1;

	while (*words) {
		unsigned int length = piece_length(words, width - indent);

		if (column > indent && column + blank + length > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fprintf(out, "%*s", (int)blank, "");
			column += blank;
		}
		fwrite(words, 1, length, out);
		column += length;
		words += length;
		blank = *words == ' ';
		words += blank;
	}
	fputc('\n', out);
}

/* A phrase with a capital, unless it begins with a name such as perf.data, and with a full stop,
 * unless it ends with another mark. The caller owns it. */
static char *sentence_of(const char *phrase, size_t length)
{
	size_t first_word = strcspn(phrase, " ");
	struct text text = {0};

	text_append_bytes(&text, phrase, length);
	if (length && !memchr(phrase, '.', first_word < length ? first_word : length))
		text.bytes[0] = (char)toupper((unsigned char)phrase[0]);
	if (length && !strchr(".?!", phrase[length - 1]))
		text_append(&text, ".");
	return text_take(&text);
}

/* --- one row as words ---------------------------------------------------------------------------
 */

static const void *default_of(const struct command *command, const struct option_row *row)
{
	return command->defaults ? (const char *)command->defaults + row->offset : NULL;
}

bool options_is_on_by_default(const struct command *command, const struct option_row *row)
{
	const bool *value = default_of(command, row);

	return row->kind == OPTION_FLAG && value && *value;
}

static void append_bytes(struct text *text, u64 bytes)
{
	static const char letters[] = "KMGT";
	const char *letter = NULL;

	for (const char *next = letters; *next && bytes % 1024 == 0; next++) {
		bytes /= 1024;
		letter = next;
	}
	text_appendf(text, "%" PRIu64 "%.*s", bytes, letter ? 1 : 0, letter ? letter : "");
}

static void append_value(struct text *text, const struct option_row *row, const void *value)
{
	char duration[NUMBER_TEXT_BYTES];
	u64 number = 0;

	if (row->kind == OPTION_U32)
		number = *(const u32 *)value;
	else if (row->kind != OPTION_PERCENT && row->kind != OPTION_TEXT)
		number = *(const u64 *)value;

	if (row->kind == OPTION_PERCENT)
		text_appendf(text, "%g%%", *(const double *)value);
	else if (row->kind == OPTION_TEXT)
		text_append(text, *(const char *const *)value);
	else if (row->kind == OPTION_BYTES)
		append_bytes(text, number);
	else if (row->kind == OPTION_DURATION)
		text_append(text, number_format_duration(number, duration));
	else
		text_appendf(text, "%" PRIu64, number);
}

/* Whether the default is worth a word: set, and not the largest number, which stands for "none". */
static bool has_default(const struct option_row *row, const void *value)
{
	if (!value)
		return false;
	switch (row->kind) {
	case OPTION_U32:
		return *(const u32 *)value && *(const u32 *)value != UINT32_MAX;
	case OPTION_U64:
	case OPTION_BYTES:
	case OPTION_DURATION:
		return *(const u64 *)value && *(const u64 *)value != UINT64_MAX;
	case OPTION_PERCENT:
		return *(const double *)value > 0;
	case OPTION_TEXT:
		return *(const char *const *)value && **(const char *const *)value;
	case OPTION_END:
	case OPTION_HEADING:
	case OPTION_FLAG:
	case OPTION_LIST:
	case OPTION_CALL:
		break;
	}
	return false;
}

/* The phrase of a row, with its default. The caller owns it. */
static char *describe(const struct command *command, const struct option_row *row)
{
	const void *value = default_of(command, row);
	struct text text = {0};

	text_append(&text, row->help);
	if (has_default(row, value)) {
		text_append(&text, " (default: ");
		append_value(&text, row, value);
		text_append(&text, ")");
	}
	return text_take(&text);
}

/* How the argument is attached: "--freq HZ", "--compression-level[=LEVEL]", "-g [SPEC]". */
static const struct {
	const char *before, *after;
} attachments[] = {
	[ARGUMENT_NEEDED] = {" ", ""},
	[ARGUMENT_ATTACHED] = {"[=", "]"},
	[ARGUMENT_MAYBE_NEXT] = {" [", "]"},
};

/* --- --help -------------------------------------------------------------------------------------
 */

/* "-F, --freq HZ". The caller owns it. */
static char *name_row(const struct command *command, const struct option_row *row)
{
	struct text text = {0};

	if (row->letter)
		text_appendf(&text, "-%c%s", row->letter, row->name ? ", " : "");
	else
		text_append(&text, "    ");
	if (row->name)
		text_appendf(&text, "--%s%s", options_is_on_by_default(command, row) ? "[no-]" : "",
			     row->name);
	if (row->argument)
		text_appendf(&text, "%s%s%s", attachments[row->optional].before, row->argument,
			     attachments[row->optional].after);
	return text_take(&text);
}

static unsigned int widest_name(const struct command *command)
{
	size_t widest = 0;

	for (const struct option_row *row = command->options; row->kind; row++) {
		CLEANUP(freep) char *name = name_row(command, row);
		size_t width = strlen(name);

		if (row->kind != OPTION_HEADING && !row->hidden && width > widest &&
		    width <= WIDEST_NAME)
			widest = width;
	}
	return (unsigned int)widest;
}

static void print_row(const struct command *command, const struct option_row *row, FILE *out,
		      unsigned int indent, unsigned int width)
{
	CLEANUP(freep) char *name = name_row(command, row);
	CLEANUP(freep) char *phrase = describe(command, row);

	if (strlen(name) + 4 > indent)
		fprintf(out, "  %s\n%*s", name, (int)indent, "");
	else
		fprintf(out, "  %-*s", (int)indent - 2, name);
	write_wrapped(out, phrase, indent, indent, width);
}

struct example {
	const char *typed, *said;
	size_t typed_length, said_length;
};

/* Takes the next of the lines "what to type<tab>what it does"; false if there is none. */
static bool next_example(const char **lines, struct example *ret_example)
{
	const char *line = *lines;
	struct example example = {.typed = line};

	if (!line || !*line)
		return false;
	example.typed_length = strcspn(line, "\t\n");
	line += example.typed_length;
	line += *line == '\t';
	example.said = line;
	example.said_length = strcspn(line, "\n");
	line += example.said_length;
	*lines = line + (*line == '\n');
	*ret_example = example;
	return true;
}

static void print_examples(const char *lines, FILE *out, unsigned int width)
{
	struct example example;

	fputs("\nExamples:\n", out);
	while (next_example(&lines, &example)) {
		CLEANUP(freep) char *said = sentence_of(example.said, example.said_length);

		fprintf(out, "  %.*s\n      ", (int)example.typed_length, example.typed);
		write_wrapped(out, said, 6, 6, width);
	}
}

void options_print_help(const struct command *command, FILE *out, unsigned int width)
{
	CLEANUP(freep) char *summary = sentence_of(command->summary, strlen(command->summary));
	unsigned int indent = widest_name(command) + 4;
	unsigned int wide = width < WIDEST_TEXT ? width : WIDEST_TEXT;

	if (wide < NARROWEST_TEXT)
		wide = NARROWEST_TEXT;

	fprintf(out, "Usage: bpfprof %s%s%s\n\n", command->name, *command->name ? " " : "",
		command->synopsis);
	write_wrapped(out, summary, 0, 0, wide);
	if (command->options->kind != OPTION_HEADING)
		fputs("\nOptions:\n", out);
	for (const struct option_row *row = command->options; row->kind; row++) {
		if (row->kind == OPTION_HEADING)
			fprintf(out, "\n%s:\n", row->help);
		else if (!row->hidden)
			print_row(command, row, out, indent, wide);
	}
	if (command->examples)
		print_examples(command->examples, out, wide);
	fprintf(out, "\nMore: man bpfprof%s%s\n", *command->name ? "-" : "", command->name);
}

/* --- the manual ---------------------------------------------------------------------------------
 */

/* Text that scdoc must not take for marks. */
static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*_`~", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_manual_name(const struct command *command, const struct option_row *row,
			      FILE *out)
{
	if (row->letter)
		fprintf(out, "*-%c*%s", row->letter, row->name ? ", " : "");
	if (row->name)
		fprintf(out, "*--%s%s*", options_is_on_by_default(command, row) ? "[no-]" : "",
			row->name);
	if (!row->argument)
		return;
	fprintf(out, "%s_", attachments[row->optional].before);
	write_escaped(out, row->argument);
	fprintf(out, "_%s", attachments[row->optional].after);
}

static void print_manual_row(const struct command *command, const struct option_row *row, FILE *out)
{
	CLEANUP(freep) char *phrase = describe(command, row);
	CLEANUP(freep) char *sentence = sentence_of(phrase, strlen(phrase));

	fputc('\n', out);
	print_manual_name(command, row, out);
	fputs("\n\t", out);
	write_escaped(out, sentence);
	if (row->config) {
		fputs(" Config file: *", out);
		write_escaped(out, row->config);
		fputs("*.", out);
	}
	fputc('\n', out);
}

void options_print_manual(const struct command *command, FILE *out)
{
	for (const struct option_row *row = command->options; row->kind; row++) {
		if (row->kind == OPTION_HEADING)
			fprintf(out, "\n## %s\n", row->help);
		else if (!row->hidden)
			print_manual_row(command, row, out);
	}
	fputs("\n*-h*, *--help*\n\tPrint the options of the command.\n", out);
}

void options_print_manual_examples(const struct command *command, FILE *out)
{
	const char *lines = command->examples;
	struct example example;

	while (next_example(&lines, &example)) {
		CLEANUP(freep) char *typed = must_copy_bytes(example.typed, example.typed_length);
		CLEANUP(freep) char *said = sentence_of(example.said, example.said_length);

		fputc('*', out);
		write_escaped(out, typed);
		fputs("*\n\t", out);
		write_escaped(out, said);
		fputs("\n\n", out);
	}
}
