/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Option rows → completion scripts for bash, zsh and fish.
 *
 * A shell is a row of small writers: what stands before all commands, around one, for one option,
 * behind all. The loops over commands and options are written once.
 */
#include "cli/options.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* What the word behind an option may be, told from its placeholder. */
enum choice {
	CHOICE_NONE, /* the option takes no argument */
	CHOICE_ANY,  /* nothing to offer */
	CHOICE_FILE,
	CHOICE_DIRECTORY,
	CHOICE_PID,
	CHOICE_USER,
	CHOICE_WORDS,
	CHOICE_COUNT,
};

struct completion {
	const struct command *const *commands;
	FILE *out;
};

struct shell {
	const char *name;
	/* Each may be NULL. An option is written under one long name and one letter (0: none). */
	void (*begin)(const struct completion *completion);
	void (*begin_command)(const struct completion *completion, const struct command *command);
	void (*option)(const struct completion *completion, const struct command *command,
		       const struct option_row *row, const char *name);
	void (*end_command)(const struct completion *completion, const struct command *command);
	void (*end)(const struct completion *completion);
};

static enum choice choice_of(const struct option_row *row)
{
	static const struct {
		const char *placeholder;
		enum choice choice;
	} known[] = {
		{"FILE", CHOICE_FILE}, {"DIRECTORY", CHOICE_DIRECTORY}, {"PID", CHOICE_PID},
		{"TID", CHOICE_PID},   {"USER", CHOICE_USER},
	};

	if (!row->argument)
		return CHOICE_NONE;
	if (strchr(row->argument, '|'))
		return CHOICE_WORDS;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (!strncmp(row->argument, known[i].placeholder, strlen(known[i].placeholder)))
			return known[i].choice;
	return CHOICE_ANY;
}

/* "a|b|c" as "a b c". The caller owns it. */
static char *words_of(const struct option_row *row)
{
	char *words = must_copy(row->argument);

	for (char *bar = words; (bar = strchr(bar, '|'));)
		*bar = ' ';
	return words;
}

/* Writes `text` for the inside of single quotes; a backslash goes in front of the `special` ones.
 */
static void write_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* Writes the names of the commands, with `separator` between. */
static void write_names(const struct completion *completion, const char *separator)
{
	const char *between = "";

	for (const struct command *const *command = completion->commands; *command; command++) {
		if (!*(*command)->name)
			continue;
		fprintf(completion->out, "%s%s", between, (*command)->name);
		between = separator;
	}
}

/* --- bash ---------------------------------------------------------------------------------------
 */

static void bash_begin(const struct completion *completion)
{
	fputs("# bash completion for bpfprof, made by: bpfprof completion bash\n"
	      "_bpfprof() {\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal command='' words='' i\n"
	      "\tCOMPREPLY=()\n"
	      "\t# bash cuts --option=value into three words\n"
	      "\tif [[ $current == '=' ]]; then\n"
	      "\t\tcurrent=''\n"
	      "\t\toption+='='\n"
	      "\telif [[ $option == '=' ]] && ((COMP_CWORD > 2)); then\n"
	      "\t\toption=${COMP_WORDS[COMP_CWORD - 2]}=\n"
	      "\tfi\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\t_bpfprof_program \"$((i + 1))\" \"$current\"\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\tdone\n"
	      "\tif ((COMP_CWORD > 1)); then\n"
	      "\t\tcase ${COMP_WORDS[1]} in\n"
	      "\t\t",
	      completion->out);
	write_names(completion, " | ");
	fputs(") command=${COMP_WORDS[1]} ;;\n"
	      "\t\thelp) words='",
	      completion->out);
	write_names(completion, " ");
	fputs("' ;;\n"
	      "\t\tcompletion) words='bash zsh fish' ;;\n"
	      "\t\tesac\n"
	      "\t\tif [[ $words ]]; then\n"
	      "\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\tfi\n"
	      "\tcase $command:$option in\n",
	      completion->out);
}

static const char *const bash_actions[CHOICE_COUNT] = {
	[CHOICE_FILE] =
		"compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")",
	[CHOICE_DIRECTORY] =
		"compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\")",
	[CHOICE_PID] = "mapfile -t COMPREPLY < <(compgen -W \"$(cd /proc && echo [0-9]*)\" -- "
		       "\"$current\")",
	[CHOICE_USER] = "mapfile -t COMPREPLY < <(compgen -u -- \"$current\")",
};

/* A case that matches where an argument of the option is being typed. */
static void bash_option(const struct completion *completion, const struct command *command,
			const struct option_row *row, const char *name)
{
	FILE *out = completion->out;
	const char *action = bash_actions[choice_of(row)];

	if (choice_of(row) == CHOICE_NONE)
		return;
	fprintf(out, "\t%s:--%s=", command->name, name);
	if (row->optional != ARGUMENT_ATTACHED) {
		fprintf(out, " | %s:--%s", command->name, name);
		if (row->letter)
			fprintf(out, " | %s:-%c", command->name, row->letter);
	}
	fputs(")\n\t\t", out);
	if (choice_of(row) == CHOICE_WORDS) {
		CLEANUP(freep) char *words = words_of(row);

		fprintf(out, "mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$current\")", words);
	} else {
		fputs(action ? action : ":", out);
	}
	fputs("\n\t\treturn\n\t\t;;\n", out);
}

static void bash_write_words(const struct command *command, FILE *out)
{
	fprintf(out, "\t%s) words='--help", *command->name ? command->name : "''");
	for (const struct option_row *row = command->options; row->kind; row++) {
		if (row->kind == OPTION_HEADING || row->hidden || !row->name)
			continue;
		fprintf(out, " --%s", row->name);
		if (options_is_on_by_default(command, row))
			fprintf(out, " --no-%s", row->name);
	}
	fputs("' ;;\n", out);
}

static void bash_end(const struct completion *completion)
{
	FILE *out = completion->out;

	fputs("\tesac\n"
	      "\tcase $command in\n",
	      out);
	for (const struct command *const *command = completion->commands; *command; command++)
		bash_write_words(*command, out);
	fputs("\tesac\n"
	      "\tif [[ $current == -* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
	      "\telif ((COMP_CWORD == 1)); then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W '",
	      out);
	write_names(completion, " ");
	fputs(" help version completion' -- \"$current\")\n"
	      "\telse\n"
	      "\t\tcompopt -o filenames\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
	      "\tfi\n"
	      "}\n"
	      "# The program to profile: its name first, then its own arguments.\n"
	      "_bpfprof_program() {\n"
	      "\tcompopt -o filenames\n"
	      "\tif ((COMP_CWORD == $1)); then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$2\")\n"
	      "\telse\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$2\")\n"
	      "\tfi\n"
	      "}\n"
	      "complete -F _bpfprof bpfprof\n",
	      out);
}

/* --- zsh ----------------------------------------------------------------------------------------
 */

static const char *const zsh_actions[CHOICE_COUNT] = {
	[CHOICE_FILE] = "_files",
	[CHOICE_DIRECTORY] = "_files -/",
	[CHOICE_PID] = "_pids",
	[CHOICE_USER] = "_users",
};

static void zsh_begin(const struct completion *completion)
{
	FILE *out = completion->out;

	fputs("#compdef bpfprof\n"
	      "# zsh completion for bpfprof, made by: bpfprof completion zsh\n"
	      "_bpfprof() {\n"
	      "\tlocal -a commands=(\n",
	      out);
	for (const struct command *const *command = completion->commands; *command; command++) {
		if (!*(*command)->name)
			continue;
		fprintf(out, "\t\t'%s:", (*command)->name);
		write_quoted(out, (*command)->summary, ":");
		fputs("'\n", out);
	}
	fputs("\t\t'help:print the options of a command'\n"
	      "\t\t'version:print the version'\n"
	      "\t\t'completion:print completion for a shell'\n"
	      "\t)\n"
	      "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	      "\t\t_describe command commands\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase $words[2] in\n"
	      "\thelp) _describe command commands ;;\n"
	      "\tcompletion) _values shell bash zsh fish ;;\n",
	      out);
}

static void zsh_begin_command(const struct completion *completion, const struct command *command)
{
	fprintf(completion->out, "\t%s)\n", *command->name ? command->name : "*");
	if (*command->name)
		fputs("\t\tshift words\n\t\t(( CURRENT-- ))\n", completion->out);
	fputs("\t\t_arguments -s -S \\\n\t\t\t'(-h --help)'{-h,--help}'[print the options]' \\\n",
	      completion->out);
}

/* "{-F+,--freq=}": how zsh is told where the argument may stand. */
static void zsh_write_names(FILE *out, const struct option_row *row, const char *name)
{
	static const char *const short_marks[] = {
		[ARGUMENT_NEEDED] = "+", [ARGUMENT_ATTACHED] = "-", [ARGUMENT_MAYBE_NEXT] = "+"};
	static const char *const long_marks[] = {
		[ARGUMENT_NEEDED] = "=", [ARGUMENT_ATTACHED] = "=-", [ARGUMENT_MAYBE_NEXT] = "="};
	const char *long_mark = row->argument ? long_marks[row->optional] : "";

	if (row->letter && name == row->name)
		fprintf(out, "'*'{-%c%s,--%s%s}", row->letter,
			row->argument ? short_marks[row->optional] : "", name, long_mark);
	else
		fprintf(out, "'*--%s%s'", name, long_mark);
}

static void zsh_option(const struct completion *completion, const struct command *command,
		       const struct option_row *row, const char *name)
{
	FILE *out = completion->out;
	enum choice choice = choice_of(row);

	(void)command;
	fputs("\t\t\t", out);
	zsh_write_names(out, row, name);
	fputs("'[", out);
	write_quoted(out, row->help, "[]:\\");
	fputs("]", out);
	if (choice != CHOICE_NONE) {
		fputs(row->optional == ARGUMENT_NEEDED ? ":" : "::", out);
		write_quoted(out, row->argument, ":");
		fputs(":", out);
	}
	if (choice == CHOICE_WORDS) {
		CLEANUP(freep) char *words = words_of(row);

		fprintf(out, "(%s)", words);
	} else if (zsh_actions[choice]) {
		fputs(zsh_actions[choice], out);
	}
	fputs("' \\\n", out);
}

static void zsh_end_command(const struct completion *completion, const struct command *command)
{
	fprintf(completion->out, "\t\t\t'%s'\n\t\t;;\n",
		command->stop_at_argument ? "*::program:_normal" : "*:file:_files");
}

static void zsh_end(const struct completion *completion)
{
	fputs("\tesac\n"
	      "}\n"
	      "_bpfprof \"$@\"\n",
	      completion->out);
}

/* --- fish ---------------------------------------------------------------------------------------
 */

static void fish_begin(const struct completion *completion)
{
	FILE *out = completion->out;

	fputs("# fish completion for bpfprof, made by: bpfprof completion fish\n", out);
	for (const struct command *const *command = completion->commands; *command; command++) {
		if (!*(*command)->name)
			continue;
		fprintf(out, "complete -c bpfprof -n __fish_use_subcommand -f -a %s -d '",
			(*command)->name);
		write_quoted(out, (*command)->summary, "\\");
		fputs("'\n", out);
	}
	fputs("complete -c bpfprof -n __fish_use_subcommand -f -a help -d 'print the options of a "
	      "command'\n"
	      "complete -c bpfprof -n '__fish_seen_subcommand_from help' -f -a '",
	      out);
	write_names(completion, " ");
	fputs("'\n"
	      "complete -c bpfprof -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh "
	      "fish'\n",
	      out);
}

static void fish_option(const struct completion *completion, const struct command *command,
			const struct option_row *row, const char *name)
{
	static const char *const actions[CHOICE_COUNT] = {
		[CHOICE_ANY] = " -x",
		[CHOICE_FILE] = " -r -F",
		[CHOICE_DIRECTORY] = " -x -a '(__fish_complete_directories)'",
		[CHOICE_PID] = " -x -a '(__fish_complete_pids)'",
		[CHOICE_USER] = " -x -a '(__fish_complete_users)'",
	};
	FILE *out = completion->out;
	enum choice choice = choice_of(row);

	fputs("complete -c bpfprof -n '", out);
	if (*command->name)
		fprintf(out, "__fish_seen_subcommand_from %s", command->name);
	else
		fputs("__fish_use_subcommand", out);
	fputs("'", out);
	if (row->letter && name == row->name)
		fprintf(out, " -s %c", row->letter);
	fprintf(out, " -l %s", name);
	if (choice == CHOICE_WORDS) {
		CLEANUP(freep) char *words = words_of(row);

		fprintf(out, " -x -a '%s'", words);
	} else if (actions[choice] && row->optional != ARGUMENT_ATTACHED) {
		fputs(actions[choice], out);
	}
	fputs(" -d '", out);
	write_quoted(out, row->help, "\\");
	fputs("'\n", out);
}

/* --- all ----------------------------------------------------------------------------------------
 */

static const struct shell shells[] = {
	{.name = "bash", .begin = bash_begin, .option = bash_option, .end = bash_end},
	{.name = "zsh",
	 .begin = zsh_begin,
	 .begin_command = zsh_begin_command,
	 .option = zsh_option,
	 .end_command = zsh_end_command,
	 .end = zsh_end},
	{.name = "fish", .begin = fish_begin, .option = fish_option},
};

static void write_command(const struct shell *shell, const struct completion *completion,
			  const struct command *command)
{
	if (shell->begin_command)
		shell->begin_command(completion, command);
	for (const struct option_row *row = command->options; row->kind; row++) {
		if (row->kind == OPTION_HEADING || row->hidden || !row->name)
			continue;
		shell->option(completion, command, row, row->name);
		if (options_is_on_by_default(command, row)) {
			CLEANUP(freep) char *opposite = must_format("no-%s", row->name);

			shell->option(completion, command, row, opposite);
		}
	}
	if (shell->end_command)
		shell->end_command(completion, command);
}

static void write_shell(const struct shell *shell, const struct completion *completion)
{
	shell->begin(completion);
	for (const struct command *const *command = completion->commands; *command; command++)
		write_command(shell, completion, *command);
	if (shell->end)
		shell->end(completion);
}

int options_print_completion(const struct command *const *commands, const char *shell, FILE *out)
{
	const struct completion completion = {.commands = commands, .out = out};

	for (size_t i = 0; i < ARRAY_COUNT(shells); i++) {
		if (!strcmp(shell, shells[i].name)) {
			write_shell(&shells[i], &completion);
			return 0;
		}
	}
	return fail_plain(-EINVAL, "give bash, zsh or fish", "no completion for the shell '%s'",
			  shell);
}
