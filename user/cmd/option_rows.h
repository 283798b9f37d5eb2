/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Short ways to write rows of options. A file that has a table of them says where a field of its
 * settings is: #define FIELD(field) offsetof(struct its_settings, field)
 */
#ifndef CMD_OPTION_ROWS_H
#define CMD_OPTION_ROWS_H

#include "cli/cli.h"

#define TEXT(its_letter, its_name, field, its_argument, its_help)                  \
	{                                                                          \
		.kind = OPTION_TEXT, .letter = its_letter, .name = its_name,       \
		.offset = FIELD(field), .argument = its_argument, .help = its_help \
	}
#define FLAG(its_letter, its_name, field, its_help)                          \
	{                                                                    \
		.kind = OPTION_FLAG, .letter = its_letter, .name = its_name, \
		.offset = FIELD(field), .help = its_help                     \
	}
#define CALL(its_letter, its_name, its_argument, its_parse, its_help)          \
	{                                                                      \
		.kind = OPTION_CALL, .letter = its_letter, .name = its_name,   \
		.argument = its_argument, .parse = its_parse, .help = its_help \
	}
/* Accepted because scripts have it; changes nothing. */
#define IGNORED(its_letter, its_name)                                        \
	{                                                                    \
		.kind = OPTION_FLAG, .letter = its_letter, .name = its_name, \
		.offset = FIELD(ignored), .help = "accepted", .hidden = true \
	}
/* The same with an argument. */
#define IGNORED_TEXT(its_letter, its_name, its_argument)                                     \
	{                                                                                    \
		.kind = OPTION_TEXT, .letter = its_letter, .name = its_name,                 \
		.offset = FIELD(ignored_text), .argument = its_argument, .help = "accepted", \
		.hidden = true                                                               \
	}
/* Another name of a text option. */
#define ALIAS(its_name, field, its_argument, its_help)                         \
	{                                                                      \
		.kind = OPTION_TEXT, .name = its_name, .offset = FIELD(field), \
		.argument = its_argument, .help = its_help, .hidden = true     \
	}
#define CONFIG(its_key, its_parse)                                            \
	{                                                                     \
		.kind = OPTION_CALL, .argument = "VALUE", .parse = its_parse, \
		.help = "config only", .hidden = true, .config = its_key      \
	}
/* perf has it, this has not: its_parse says so. */
#define REFUSED(its_letter, its_name, its_argument, its_parse)                                   \
	{                                                                                        \
		.kind = OPTION_CALL, .letter = its_letter, .name = its_name,                     \
		.argument = its_argument, .parse = its_parse, .help = "not here", .hidden = true \
	}
/* Defines the parser of an option without argument that sets a member of the settings. */
#define SETS(its_name, settings_type, member, value)              \
	static int its_name(void *settings, const char *argument) \
	{                                                         \
		((settings_type *)settings)->member = (value);    \
		(void)argument;                                   \
		return 0;                                         \
	}
#define HEADING(text)                                  \
	{                                              \
		.kind = OPTION_HEADING, .help = (text) \
	}

/*
 * A list of options of perf that are not here, X(identifier, letter, name, argument, why, remedy),
 * as functions that say so, and as rows. An argument of NULL: there is none, or one behind "=".
 */
#define REFUSAL_PARSER(identifier, letter, name, argument, why, remedy)  \
	static int refuse_##identifier(void *settings, const char *text) \
	{                                                                \
		(void)settings;                                          \
		(void)text;                                              \
		return fail_plain(-EINVAL, remedy, why);                 \
	}
#define REFUSAL_ROW(identifier, short_name, long_name, placeholder, why, remedy) \
	{.kind = OPTION_CALL,                                                    \
	 .letter = (short_name),                                                 \
	 .name = (long_name),                                                    \
	 .argument = (placeholder) ? (placeholder) : "ANY",                      \
	 .optional = (placeholder) ? ARGUMENT_NEEDED : ARGUMENT_ATTACHED,        \
	 .hidden = true,                                                         \
	 .help = (why),                                                          \
	 .parse = refuse_##identifier},

#endif
