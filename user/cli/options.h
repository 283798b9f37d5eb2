/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options as rows: one row feeds the parser, --help, the manual page, shell completion and the
 * config file.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_kind {
	OPTION_END = 0,	 /* the row that ends the table */
	OPTION_HEADING,	 /* only a heading in the help: `help` */
	OPTION_FLAG,	 /* bool; --name sets it, --no-name clears it; so does --x for "no-x" */
	OPTION_U32,	 /* u32 */
	OPTION_U64,	 /* u64 */
	OPTION_BYTES,	 /* u64 bytes: 4M */
	OPTION_DURATION, /* u64 ns: 10s */
	OPTION_PERCENT,	 /* double, 0 … 100 */
	OPTION_TEXT,	 /* const char *, borrowed from argv or the config file */
	OPTION_LIST,	 /* struct text_list: may be given several times */
	OPTION_CALL,	 /* `parse` is called */
};

/* Whether an option's argument may be left out, and how it is told from the next argument. */
enum option_argument {
	ARGUMENT_NEEDED,     /* -F 99, -F99, --freq=99, --freq 99 */
	ARGUMENT_ATTACHED,   /* -z, -z3, --compression-level=3: never the next word */
	ARGUMENT_MAYBE_NEXT, /* the next word too, unless it begins with "-", as perf report -g */
};

/* The texts of an option that may be given several times, in order. */
struct text_list {
	const char **items;
	size_t count;
};

struct option_row {
	enum option_kind kind;
	char letter;	  /* 0: only the long name */
	const char *name; /* long name without dashes; NULL: only a letter, or only config */
	size_t offset;	  /* of the field in the settings struct: offsetof() */
	/* Placeholder in the help, "HZ"; NULL: takes none. Completion knows FILE, DIRECTORY, PID,
	 * USER and words to choose from: "auto|always|never". */
	const char *argument;
	const char *help; /* one phrase, no full stop; the default is added from `defaults` */
	enum option_argument optional; /* only for OPTION_CALL, where `parse` gets NULL then */
	bool hidden;		       /* accepted, but not in help or completion */
	const char *config;	       /* "report.children": also set from config files; or NULL */
	/*
	 * OPTION_CALL: takes the argument (NULL if none was given, and "" never) into the settings.
	 * Returns 0 or a negative errno with a fail() sentence that need not repeat the option.
	 */
	int (*parse)(void *settings, const char *argument);
};

/* What is left of the command line when the options are gone. */
struct arguments {
	char **items;
	int count;
	int after_dashes;      /* how many of them stood behind "--"; they are the last ones */
	struct text_list kept; /* texts from config files that the settings borrow */
	/* Sentences of what was not taken from config files: to be said, once. */
	struct text_list warnings;
};

/* The exit statuses of every command; `record -- command` passes on the command's own. STATUS_FOUND
 * is of those that look for something: `diff --fail-if`. */
enum exit_status {
	STATUS_DONE = 0,
	STATUS_COULD_NOT = 1,
	STATUS_WRONG_USAGE = 2,
	STATUS_FOUND = 3
};

struct command {
	const char *name;
	const char *summary;  /* one line for the list of commands and the manual's NAME */
	const char *synopsis; /* "[options] [-- command [args]]" */
	const char *examples; /* lines, each "command\tWhat it does\n" */
	const struct option_row *options;
	const struct command
		*next; /* what comes after it; its options are pointed at. NULL: none */
	size_t settings_bytes;
	const void *defaults;  /* a settings struct, copied before parsing; NULL: zeroes */
	bool stop_at_argument; /* the first argument ends the options (as in `perf record ls -l`) */
	bool stays;	       /* for as long as it is let: little memory is worth more than time */
	/* Does the work. Returns the exit status (0 … 255), or a negative errno with a sentence:
	 * -EINVAL ends as STATUS_WRONG_USAGE, others as STATUS_COULD_NOT. */
	int (*run)(const void *settings, struct arguments arguments);
};

/*
 * Config files (for rows with `config`) and then the command line, into `settings`.
 *
 * argv       without the program and command name; is put into another order
 * settings   settings_bytes bytes, filled with the defaults first
 * ret_left   the other arguments; borrowed from argv
 * Returns 0, and then both are released with options_release(); -EINVAL with a sentence (unknown
 * option: the nearest name is suggested); the error of a config file; -ECANCELED if --help was
 * given: print it.
 */
int options_parse(const struct command *command, int argc, char **argv, void *settings,
		  struct arguments *ret_left);

/* Frees what the text lists of `settings` and `left` own. */
void options_release(const struct command *command, void *settings, struct arguments *left);

/* Whether a row is a flag that is set unless it is cleared: then --no-name is worth a word. */
bool options_is_on_by_default(const struct command *command, const struct option_row *row);

/* The help of one command: synopsis, options by heading, examples; `width` columns. */
void options_print_help(const struct command *command, FILE *out, unsigned int width);

/* The OPTIONS section of the manual page, as scdoc text. */
void options_print_manual(const struct command *command, FILE *out);

/* The EXAMPLES section of the manual page, as scdoc text. */
void options_print_manual_examples(const struct command *command, FILE *out);

/* Completion for bash, zsh or fish of all `commands` (NULL ends); the command without a name is
 * what runs when none is typed. Returns 0, or -EINVAL for another shell, with a sentence. */
int options_print_completion(const struct command *const *commands, const char *shell, FILE *out);

/* The candidate nearest to `word` (edit distance), NULL if none is near; `names` ends with NULL. */
const char *nearest_name(const char *word, const char *const *names);

#endif
