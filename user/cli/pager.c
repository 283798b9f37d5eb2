/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Long output through a pager, when a person is looking.
 */
#include "cli/pager.h"

#include "base/memory.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* The pager's process, 0: none. A variable of the file because a signal handler must see it, and
 * because there is one stdout. */
static volatile pid_t pager_pid;

bool pager_is_running(void)
{
	return pager_pid > 0;
}

/* Whether the shell would find the program that `command` begins with. */
static bool program_exists(const char *command)
{
	size_t length = strcspn(command, " \t");
	CLEANUP(freep) char *program = must_copy_bytes(command, length);
	CLEANUP(freep) char *folders = must_copy(getenv("PATH"));
	char *rest = folders, *folder;

	if (strchr(program, '/'))
		return access(program, X_OK) == 0;
	while (rest && (folder = strsep(&rest, ":"))) {
		CLEANUP(freep) char *path = must_format("%s/%s", *folder ? folder : ".", program);

		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* The pager to start, NULL for none. */
static const char *choose_pager(void)
{
	const char *command = getenv("BPFPROF_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	command += strspn(command, " \t");
	if (!*command || !strcmp(command, "cat") || !program_exists(command))
		return NULL;
	return command;
}

/* The shell's prompt must not come back under a pager that still draws. */
static void wait_for_pager(void)
{
	waitpid(pager_pid, NULL, 0); /* nothing interrupts it: our handlers do not return */
	pager_pid = 0;
}

static void leave_with_pager(int number)
{
	close(STDOUT_FILENO);
	if (pager_pid > 0)
		wait_for_pager();
	signal(number, SIG_DFL);
	raise(number);
}

/* The person has closed the pager before the end: seen enough is not a failure. */
static void leave_satisfied(int number)
{
	(void)number;
	if (pager_pid > 0)
		wait_for_pager();
	_exit(0);
}

static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	struct sigaction leave = {.sa_handler = leave_with_pager};
	struct sigaction satisfied = {.sa_handler = leave_satisfied};

	sigfillset(&leave.sa_mask); /* one end is enough */
	sigfillset(&satisfied.sa_mask);
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		sigaction(numbers[i], &leave, NULL);
	sigaction(SIGPIPE, &satisfied, NULL);
}

static void become_pager(const char *command, int input)
{
	dup2(input, STDIN_FILENO);
	/* As perf: end if it fits, colours, no wrapping, leave the text on the screen. */
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void pager_start(void)
{
	const char *command;
	char columns[16];
	int ends[2];
	pid_t pid;

	if (pager_is_running() || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    terminal_is_dumb())
		return;
	command = choose_pager();
	if (!command || pipe2(ends, O_CLOEXEC))
		return;
	progress_clear();
	fflush(NULL);
	snprintf(columns, sizeof(columns), "%u", terminal_width(stdout));
	setenv("COLUMNS", columns, 1);
	pid = fork();
	if (pid == 0)
		become_pager(command, ends[0]);
	if (pid > 0) {
		pager_pid = pid;
		dup2(ends[1], STDOUT_FILENO);
		catch_signals();
	}
	close(ends[0]);
	close(ends[1]);
}

void pager_finish(void)
{
	if (!pager_is_running())
		return;
	fflush(stdout);
	fclose(stdout); /* the pager sees the end of its input */
	wait_for_pager();
}
