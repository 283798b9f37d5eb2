/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Option rows → settings, by getopt_long().
 */
#include "cli/options.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/config_keys.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

/* What getopt_long() returns: a letter, or one of these. */
enum {
	VALUE_ARGUMENT = 1, /* getopt's own, for a word that is no option */
	VALUE_HELP = 2,
	VALUE_ROW = 256, /* + 2 × row number, + 1 if it is the option's opposite */
};

/* --- one value ----------------------------------------------------------------------------------
 */

static int set_u32(void *field, const char *text)
{
	return number_parse_u32(text, field);
}

static int set_u64(void *field, const char *text)
{
	return number_parse_u64(text, field);
}

static int set_bytes(void *field, const char *text)
{
	return number_parse_bytes(text, field);
}

static int set_duration(void *field, const char *text)
{
	return number_parse_duration(text, field);
}

static int set_percent(void *field, const char *text)
{
	return number_parse_percent(text, field);
}

static int set_text(void *field, const char *text)
{
	*(const char **)field = text;
	return 0;
}

static void list_add(struct text_list *list, const char *text)
{
	list->items = must_resize_array(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = text;
}

static int set_list(void *field, const char *text)
{
	list_add(field, text);
	return 0;
}

static const struct {
	int (*set)(void *field, const char *text);
	const char *expected;
} kinds[] = {
	[OPTION_U32] = {set_u32, "a whole number"},
	[OPTION_U64] = {set_u64, "a whole number"},
	[OPTION_BYTES] = {set_bytes, "a size such as 512K or 4M"},
	[OPTION_DURATION] = {set_duration, "a time such as 10, 250ms or 1.5m"},
	[OPTION_PERCENT] = {set_percent, "a percentage from 0 to 100"},
	[OPTION_TEXT] = {set_text, NULL},
	[OPTION_LIST] = {set_list, NULL},
	[OPTION_CALL] = {NULL, NULL},
};

static void *field_of(const struct option_row *row, void *settings)
{
	return (char *)settings + row->offset;
}

/* Takes one value; `as_typed` is how the person named the option. */
static int set_value(const struct option_row *row, void *settings, const char *as_typed,
		     const char *text)
{
	int error;

	if (text && !*text && row->kind != OPTION_TEXT)
		return fail_plain(-EINVAL, NULL, "%s: the %s is empty", as_typed, row->argument);
	if (row->kind == OPTION_CALL) {
		fail_clear();
		error = row->parse(settings, text);
		if (error)
			fail_while(error, "%s%s%s", as_typed, text ? " " : "", text ? text : "");
		return error ? -EINVAL : 0;
	}
	error = kinds[row->kind].set(field_of(row, settings), text);
	if (!error)
		return 0;
	return fail_plain(-EINVAL, NULL, "%s %s: %s; give %s", as_typed, text,
			  error == -ERANGE ? "out of range" : "not understood",
			  kinds[row->kind].expected);
}

/* --- config files -------------------------------------------------------------------------------
 */

struct config_target {
	const struct command *command;
	void *settings;
	struct arguments *left; /* takes what is owned, and warnings */
};

static int parse_flag(const char *text, bool *ret_flag)
{
	static const char *const words[2][4] = {{"false", "no", "off", "0"},
						{"true", "yes", "on", "1"}};

	for (size_t i = 0; i < 2 * ARRAY_COUNT(words[0]); i++) {
		if (!strcasecmp(text, words[i % 2][i / 2])) {
			*ret_flag = i % 2;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_from_config(const struct option_row *row, struct config_target *target,
			   const char *value)
{
	char *kept;

	if (row->kind == OPTION_FLAG) {
		if (parse_flag(value, field_of(row, target->settings)))
			return fail_plain(-EINVAL, "give true or false",
					  "%s: '%s' is neither yes nor no", row->config, value);
		return 0;
	}
	kept = must_copy(value);
	list_add(&target->left->kept, kept);
	return set_value(row, target->settings, row->config, kept);
}

/* Takes over the sentence. */
static void warn(struct config_target *target, char *sentence)
{
	if (sentence)
		list_add(&target->left->warnings, sentence);
}

static int take_config(void *context, const struct config_pair *pair)
{
	struct config_target *target = context;
	bool is_known = false;

	for (const struct option_row *row = target->command->options; row->kind; row++) {
		if (row->config && !strcasecmp(row->config, pair->key)) {
			int error = set_from_config(row, target, pair->value);

			if (error)
				return error;
			is_known = true;
		}
	}
	if (!is_known)
		warn(target, config_unknown(target->command, pair, &target->left->warnings));
	return 0;
}

static void pass_config(void *context, const char *sentence)
{
	warn(context, must_copy(sentence));
}

static int read_config(const struct command *command, void *settings, struct arguments *left)
{
	struct config_target target = {.command = command, .settings = settings, .left = left};

	for (const struct option_row *row = command->options; row->kind; row++)
		if (row->config)
			return config_read_all(take_config, pass_config, &target);
	return 0;
}

/* --- rows → getopt_long() -----------------------------------------------------------------------
 */

struct parser {
	const struct command *command;
	void *settings;
	struct text letters;
	VEC(struct option) names;
	VEC(char *) opposites; /* the names that `names` borrows */
};

static int argument_kind(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return row->optional == ARGUMENT_NEEDED ? required_argument : optional_argument;
}

/* The row of that long name; NULL if there is none. */
static const struct option_row *find_row(const struct option_row *rows, const char *name)
{
	for (; rows->kind; rows++)
		if (rows->name && !strcmp(rows->name, name))
			return rows;
	return NULL;
}

/* --no-x for --x and --x for --no-x, unless that is an option itself. */
static void add_opposite(struct parser *parser, const struct option_row *row, int value)
{
	const char *name = row->name;
	char *opposite = strncmp(name, "no-", 3) ? must_format("no-%s", name) : must_copy(name + 3);

	*vec_add(&parser->opposites) = opposite;
	if (!find_row(parser->command->options, opposite))
		*vec_add(&parser->names) = (struct option){opposite, no_argument, NULL, value};
}

static void add_row(struct parser *parser, const struct option_row *row)
{
	static const char *const colons[] = {
		[no_argument] = "", [required_argument] = ":", [optional_argument] = "::"};
	int value = VALUE_ROW + 2 * (int)(row - parser->command->options);

	if (row->letter)
		text_appendf(&parser->letters, "%c%s", row->letter, colons[argument_kind(row)]);
	if (!row->name)
		return;
	*vec_add(&parser->names) = (struct option){row->name, argument_kind(row), NULL, value};
	if (row->kind == OPTION_FLAG)
		add_opposite(parser, row, value + 1);
}

static void build_parser(struct parser *parser)
{
	const struct option_row *rows = parser->command->options;

	/* "-": words that are no options are returned in their place; ":": we say what is wrong */
	text_append(&parser->letters, "-:");
	for (const struct option_row *row = rows; row->kind; row++)
		if (row->kind != OPTION_HEADING)
			add_row(parser, row);
	if (!find_row(rows, "help"))
		*vec_add(&parser->names) = (struct option){"help", no_argument, NULL, VALUE_HELP};
	if (!strchr(parser->letters.bytes, 'h'))
		text_append(&parser->letters, "h");
	*vec_add(&parser->names) = (struct option){0};
}

static void release_parser(struct parser *parser)
{
	text_release(&parser->letters);
	vec_release(&parser->names);
	for (size_t i = 0; i < parser->opposites.count; i++)
		free(parser->opposites.items[i]);
	vec_release(&parser->opposites);
}

/* --- what a person got wrong --------------------------------------------------------------------
 */

static const char *see_help(const struct command *command, char text[static 64])
{
	snprintf(text, 64, "see bpfprof %s%s--help", command->name, *command->name ? " " : "");
	return text;
}

/* The row that getopt_long() found: `value` as it returned it or as optopt says. */
static const struct option_row *row_of(const struct parser *parser, int value)
{
	const struct option_row *rows = parser->command->options;

	if (value >= VALUE_ROW)
		return &rows[(value - VALUE_ROW) / 2];
	for (; rows->kind; rows++)
		if (rows->letter && rows->letter == value)
			return rows;
	return NULL;
}

/* Options that are only there to be refused, or for old habits, are not worth a suggestion. */
static bool is_shown(const struct parser *parser, const struct option *name)
{
	return name->val == VALUE_HELP || !row_of(parser, name->val)->hidden;
}

/* Whether the command has an option of this name, or a flag that it turns off. */
static bool has_option(const struct command *command, const char *name)
{
	const char *flag = strncmp(name, "no-", 3) ? NULL : name + 3;

	for (const struct option_row *row = command->options; row->kind != OPTION_END; row++) {
		if (!row->name || row->hidden)
			continue;
		if (!strcmp(row->name, name) ||
		    (flag && row->kind == OPTION_FLAG && !strcmp(row->name, flag)))
			return true;
	}
	return false;
}

static const char *nearest_option(const struct parser *parser, const char *name)
{
	VEC(const char *) names = {0};
	const char *nearest;

	for (size_t i = 0; i + 1 < parser->names.count; i++)
		if (is_shown(parser, &parser->names.items[i]))
			*vec_add(&names) = parser->names.items[i].name;
	*vec_add(&names) = NULL;
	nearest = nearest_name(name, names.items);
	vec_release(&names);
	return nearest;
}

/* A long name that getopt_long() refused: unknown, or the beginning of several. */
static int refuse_name(const struct parser *parser, const char *word)
{
	CLEANUP(freep) char *name = must_copy_bytes(word + 2, strcspn(word + 2, "="));
	CLEANUP(text_release) struct text matches = {0};
	const char *nearest;
	char help[64];

	for (size_t i = 0; i + 1 < parser->names.count; i++)
		if (!strncmp(parser->names.items[i].name, name, strlen(name)))
			text_appendf(&matches, " --%s", parser->names.items[i].name);
	if (matches.length)
		return fail_plain(-EINVAL, "type more of it", "option --%s could be%s", name,
				  text_view(&matches));
	if (parser->command->next && has_option(parser->command->next, name))
		return fail_plain(-EINVAL, NULL,
				  "--%s is an option of %s: record first, then bpfprof %s --%s",
				  name, parser->command->next->name, parser->command->next->name,
				  name);
	nearest = nearest_option(parser, name);
	if (nearest)
		return fail_plain(-EINVAL, NULL, "unknown option --%s; did you mean --%s?", name,
				  nearest);
	return fail_plain(-EINVAL, see_help(parser->command, help), "unknown option --%s", name);
}

static const char *name_as_typed(const struct option_row *row, int value, char text[static 64])
{
	if (value >= VALUE_ROW)
		snprintf(text, 64, "--%s", row->name);
	else
		snprintf(text, 64, "-%c", value);
	return text;
}

static int refuse(const struct parser *parser, int found, const char *word)
{
	const struct option_row *row = row_of(parser, optopt);
	char typed[64], help[64];

	if (found == ':')
		return fail_plain(-EINVAL, NULL, "%s needs an argument: %s",
				  name_as_typed(row, optopt, typed), row->argument);
	if (optopt >= VALUE_ROW || optopt == VALUE_HELP)
		return fail_plain(-EINVAL, NULL, "%.*s takes no argument", (int)strcspn(word, "="),
				  word);
	if (optopt)
		return fail_plain(-EINVAL, see_help(parser->command, help), "unknown option -%c",
				  optopt);
	return refuse_name(parser, word);
}

/* --- the command line ---------------------------------------------------------------------------
 */

static int take_option(struct parser *parser, int found, int argc, char **argv)
{
	const struct option_row *row = row_of(parser, found);
	char typed[64];

	if (row->kind == OPTION_FLAG) {
		*(bool *)field_of(row, parser->settings) = found < VALUE_ROW || found % 2 == 0;
		return 0;
	}
	if (row->optional == ARGUMENT_MAYBE_NEXT && !optarg && optind < argc &&
	    argv[optind][0] != '-')
		optarg = argv[optind++];
	return set_value(row, parser->settings, name_as_typed(row, found, typed), optarg);
}

static int take_found(struct parser *parser, int found, int argc, char **argv)
{
	if (found == VALUE_HELP || (found == 'h' && !row_of(parser, 'h')))
		return -ECANCELED;
	if (found == ':' || found == '?')
		return refuse(parser, found, argv[optind - 1]);
	return take_option(parser, found, argc, argv);
}

/* Collects the words that are no options in left->items. argv[0] is a name. */
static int take_words(struct parser *parser, int argc, char **argv, struct arguments *left)
{
	bool is_stopped = false;
	int found;

	optind = 0; /* glibc: start afresh */
	opterr = 0;
	while (!is_stopped && (found = getopt_long(argc, argv, parser->letters.bytes,
						   parser->names.items, NULL)) != -1) {
		int error = 0;

		if (found != VALUE_ARGUMENT) {
			error = take_found(parser, found, argc, argv);
		} else if (parser->command->stop_at_argument) {
			is_stopped = true;
			optind--;
		} else {
			left->items[left->count++] = optarg;
		}
		if (error)
			return error;
	}
	/* If it was "--" that ended the options, getopt has stepped over it. */
	left->after_dashes = is_stopped ? 0 : argc - optind;
	while (optind < argc)
		left->items[left->count++] = argv[optind++];
	return 0;
}

static int parse_words(const struct command *command, int argc, char **argv, void *settings,
		       struct arguments *left)
{
	struct parser parser = {.command = command, .settings = settings};
	CLEANUP(freep) char **words = must_alloc_array((size_t)argc + 2, sizeof(*words));
	char name[] = "bpfprof";
	int error;

	words[0] = name;
	memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
	build_parser(&parser);
	error = take_words(&parser, argc + 1, words, left);
	release_parser(&parser);
	return error;
}

static void start_with_defaults(const struct command *command, void *settings)
{
	if (command->defaults)
		memcpy(settings, command->defaults, command->settings_bytes);
	else
		memset(settings, 0, command->settings_bytes);
}

int options_parse(const struct command *command, int argc, char **argv, void *settings,
		  struct arguments *ret_left)
{
	struct arguments left = {.items = argv};
	int error;

	start_with_defaults(command, settings);
	error = read_config(command, settings, &left);
	if (!error)
		error = parse_words(command, argc, argv, settings, &left);
	if (error) {
		options_release(command, settings, &left);
		return error;
	}
	*ret_left = left;
	return 0;
}

static void release_owned(struct text_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)list->items[i]);
	free(list->items);
	*list = (struct text_list){0};
}

void options_release(const struct command *command, void *settings, struct arguments *left)
{
	for (const struct option_row *row = command->options; row->kind; row++) {
		struct text_list *list = field_of(row, settings);

		if (row->kind == OPTION_LIST) {
			free(list->items);
			*list = (struct text_list){0};
		}
	}
	release_owned(&left->kept);
	release_owned(&left->warnings);
}
