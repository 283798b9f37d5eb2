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
	WIDEST_TEXT = 100, /* longer lines are hard to read */
	WIDEST_NAME = 26,  /* longer ones have their text on the next line */
};

/* Writes words in lines of at most `width` columns; the first line begins at `column`. */
static void write_wrapped(FILE *out, const char *words, unsigned int indent, unsigned int column,
			  unsigned int width)
{
	while (*words) {
		unsigned int length = (unsigned int)strcspn(words, " ");

		if (column > indent && column + 1 + length > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fwrite(words, 1, length, out);
		column += length;
		words += length + (words[length] == ' ');
	}
	fputc('\n', out);
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

/* Each example of the command: what to type, then what it does. */
static void print_examples(const struct command *command, FILE *out, const char *format)
{
	const char *line = command->examples;

	while (line && *line) {
		int typed = (int)strcspn(line, "\t");
		int said = (int)strcspn(line + typed + 1, "\n");

		fprintf(out, format, typed, line, said, line + typed + 1);
		line += typed + 1 + said;
		line += *line == '\n';
	}
}

void options_print_help(const struct command *command, FILE *out, unsigned int width)
{
	unsigned int indent = widest_name(command) + 4;
	unsigned int wide = width < WIDEST_TEXT ? width : WIDEST_TEXT;

	fprintf(out, "Usage: bpfprof %s%s%s\n\n", command->name, *command->name ? " " : "",
		command->synopsis);
	write_wrapped(out, command->summary, 0, 0, wide);
	if (command->options->kind != OPTION_HEADING)
		fputs("\nOptions:\n", out);
	for (const struct option_row *row = command->options; row->kind; row++) {
		if (row->kind == OPTION_HEADING)
			fprintf(out, "\n%s:\n", row->help);
		else if (!row->hidden)
			print_row(command, row, out, indent, wide);
	}
	if (command->examples)
		fputs("\nExamples:\n", out);
	print_examples(command, out, "  %.*s\n      %.*s\n");
	fprintf(out, "\nMore: man bpfprof%s%s\n", *command->name ? "-" : "", command->name);
}

/* --- the manual ---------------------------------------------------------------------------------
 */

/* Foreign to scdoc's marks. */
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

	fputc('\n', out);
	print_manual_name(command, row, out);
	phrase[0] = (char)toupper((unsigned char)phrase[0]);
	fputs("\n\t", out);
	write_escaped(out, phrase);
	fputs(".\n", out);
	if (row->config) {
		fputs("\tConfig file: *", out);
		write_escaped(out, row->config);
		fputs("*.\n", out);
	}
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
	print_examples(command, out, "*%.*s*\n\t%.*s.\n\n");
}
