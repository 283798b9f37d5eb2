/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command table: finds the command, runs it, prints the one error line, ends with its status.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "bpfprof/counters.h"
#include "cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A row a command; what runs without a command's name comes last, it has no name. */
static const struct command *const commands[] = {
	&command_record, &command_report, &command_diff,  &command_script, &command_daemon,
	&command_list,	 &command_export, &command_check, &command_bare,   NULL,
};

static const struct command *find_command(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (!strcmp((*command)->name, name))
			return *command;
	return NULL;
}

/* --- what main.c does itself --------------------------------------------------------------------
 */

static void print_overview(FILE *out)
{
	fputs("Usage: bpfprof [options] [-- command [args]]\n"
	      "       bpfprof COMMAND [options]\n\n"
	      "Shows where CPU time goes. Without a COMMAND: records, then prints the report.\n\n"
	      "Commands:\n",
	      out);
	for (const struct command *const *command = commands; *command; command++)
		if (*(*command)->name)
			fprintf(out, "  %-10s %s\n", (*command)->name, (*command)->summary);
	fputs("  help       print the options of a command\n\n"
	      "Examples:\n"
	      "  sudo bpfprof -a -F 99 --duration 10   profile this machine for ten seconds\n"
	      "  sudo bpfprof -p 1234                  profile a process until Ctrl-C\n"
	      "  sudo bpfprof -- make -j8              profile a command\n"
	      "  bpfprof report --no-children          read perf.data once more\n\n"
	      "Options: bpfprof COMMAND --help lists them; without a COMMAND, those of record.\n"
	      "Also: --version, --no-pager, completion bash|zsh|fish; man bpfprof\n",
	      out);
}

static void print_command_help(const struct command *command)
{
	unsigned int width = terminal_width(stdout);

	pager_start();
	options_print_help(command, stdout, width);
}

static int unknown_command(const char *name)
{
	VEC(const char *) names = {0};
	const char *nearest;

	for (const struct command *const *command = commands; *command; command++)
		if (*(*command)->name)
			*vec_add(&names) = (*command)->name;
	*vec_add(&names) = "help";
	*vec_add(&names) = "version";
	*vec_add(&names) = "completion";
	*vec_add(&names) = NULL;
	nearest = nearest_name(name, names.items);
	vec_release(&names);
	if (nearest)
		return fail_plain(-EINVAL, NULL, "unknown command '%s'; did you mean %s?", name,
				  nearest);
	return fail_plain(-EINVAL,
			  "bpfprof --help lists them; to profile a program: bpfprof -- PROGRAM",
			  "unknown command '%s'", name);
}

static int run_help(int argc, char **argv)
{
	const struct command *command;

	if (argc == 0) {
		print_overview(stdout);
		return 0;
	}
	command = find_command(argv[0]);
	if (!command)
		return unknown_command(argv[0]);
	print_command_help(command);
	return 0;
}

static int run_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("bpfprof " BPFPROF_VERSION);
	return 0;
}

static int run_completion(int argc, char **argv)
{
	if (argc != 1)
		return fail_plain(-EINVAL, "give bash, zsh or fish",
				  "completion needs the name of a shell");
	return options_print_completion(commands, argv[0], stdout);
}

/* What can be lost, for the manual. */
static void print_manual_losses(FILE *out)
{
	static const struct {
		enum counter_kind kind;
		const char *title;
	} kinds[] = {
		{LOST, "Lost samples"},
		{CUT, "Samples whose stack is not whole"},
		{SKIPPED, "Left out because it was asked for"},
		{OTHER, "Other"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		fprintf(out, "%s:\n\n", kinds[i].title);
		for (size_t row = 0; row < ARRAY_COUNT(counter_rows); row++)
			if (counter_rows[row].kind == kinds[i].kind)
				fprintf(out, "- %s\n", counter_rows[row].sentence);
		fputc('\n', out);
	}
}

static void print_manual_commands(FILE *out)
{
	for (const struct command *const *command = commands; *command; command++)
		if (*(*command)->name)
			fprintf(out, "*bpfprof %s*\n\t%c%s. See *bpfprof-%s*(1).\n\n",
				(*command)->name, toupper((unsigned char)*(*command)->summary),
				(*command)->summary + 1, (*command)->name);
}

/* Generated parts of the manual pages, as scdoc text: "losses", "commands", "COMMAND" or
 * "COMMAND examples". Used by the Makefile only. */
static int run_manual(int argc, char **argv)
{
	const struct command *command = argc ? find_command(argv[0]) : NULL;

	if (argc && !strcmp(argv[0], "losses"))
		print_manual_losses(stdout);
	else if (argc && !strcmp(argv[0], "commands"))
		print_manual_commands(stdout);
	else if (command && argc > 1)
		options_print_manual_examples(command, stdout);
	else if (command)
		options_print_manual(command, stdout);
	else
		return fail_plain(-EINVAL, NULL, "no such part of the manual");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} own_words[] = {
	{"help", run_help},
	{"--help", run_help},
	{"-h", run_help},
	{"version", run_version},
	{"--version", run_version},
	{"completion", run_completion},
	{"--completion", run_completion},
	{"--manual-options", run_manual},
};

/* --- running ------------------------------------------------------------------------------------
 */

/* Sentences may hold foreign names: nothing of them may steer the terminal. */
static void print_sentence(const char *sentence)
{
	struct text text = {0};

	text_append_printable(&text, sentence);
	fprintf(stderr, "bpfprof: %s\n", text_view(&text));
	text_release(&text);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	CLEANUP(freep) void *settings = must_alloc(command->settings_bytes);
	struct arguments left;
	int status;

	if (!command->stays)
		memory_prefer_speed();
	status = options_parse(command, argc, argv, settings, &left);
	if (status == -ECANCELED) {
		print_command_help(command);
		return 0;
	}
	if (status)
		return *command->name ? fail_while(status, "%s", command->name) : status;
	for (size_t i = 0; i < left.warnings.count; i++)
		print_sentence(left.warnings.items[i]);
	status = command->run(settings, left);
	options_release(command, settings, &left);
	return status;
}

static int run(int argc, char **argv)
{
	const char *word = argc ? argv[0] : "";
	const struct command *command;

	for (size_t i = 0; i < ARRAY_COUNT(own_words); i++)
		if (!strcmp(word, own_words[i].name))
			return own_words[i].run(argc - 1, argv + 1);
	command = find_command(*word == '-' ? "" : word);
	if (!command)
		return unknown_command(word);
	return *command->name ? run_command(command, argc - 1, argv + 1)
			      : run_command(command, argc, argv);
}

/* Flushes what was printed. A reader that went away needs no words, a full disk does. */
static int finish_output(int status)
{
	bool was_paged = pager_is_running();
	int error;

	progress_clear();
	pager_finish();
	if (was_paged)
		return status;
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	error = errno ? -errno : -EIO;
	if (error != -EPIPE && status >= 0)
		return fail(error, NULL, "cannot write to standard output");
	return status ? status : STATUS_COULD_NOT;
}

/* A file that we open must not become standard output because that was closed. What stands in for
 * it refuses to be written (and standard input to be read), so that nothing gets lost in silence.
 */
static void open_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Recordings are mapped: one that somebody cuts short meanwhile ends in SIGBUS at the first page
 * that is gone, and there is nothing to go on with. */
static void say_that_file_was_cut(int number)
{
	static const char sentence[] = "bpfprof: the recording became shorter while it was read; "
				       "read it again when nobody writes to it\n";
	ssize_t written = write(STDERR_FILENO, sentence, sizeof(sentence) - 1);

	(void)number;
	(void)written;
	_exit(STATUS_COULD_NOT);
}

/* What is large has pages of its own, which go back when it does. Left alone, malloc() keeps ever
 * larger ones, since it thinks that they are wanted again; here most are tables that only grow. */
static void keep_little_memory(void)
{
	enum { LARGE_BYTES = 1 << 20 };

	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

int main(int argc, char **argv)
{
	int status;

	open_standard_files();
	keep_little_memory();
	signal(SIGBUS, say_that_file_was_cut);
	if (argc > 1 && !strcmp(argv[1], "--no-pager")) {
		setenv("BPFPROF_PAGER", "", 1);
		argc--;
		argv++;
	}
	status = finish_output(run(argc - 1, argv + 1));
	if (status >= 0)
		return status;
	print_sentence(fail_sentence());
	return status == -EINVAL ? STATUS_WRONG_USAGE : STATUS_COULD_NOT;
}
