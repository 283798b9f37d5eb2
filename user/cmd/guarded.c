/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The child does all of the command's work, output and last words included, so nothing has to be
 * handed over; its parent only waits.
 */
#include "cmd/guarded.h"

#include "base/fail.h"
#include "base/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Variables of the file because a signal handler looks at them. A step is odd inside of the
 * library. */
static volatile unsigned long step, step_before;
static bool is_guarded;

void guarded_enter(void)
{
	step++;
}

void guarded_leave(void)
{
	step++;
}

/* Each second of CPU time. */
static void look_whether_it_hangs(int number)
{
	bool hangs = (step & 1) && step == step_before;

	step_before = step;
	if (hangs)
		raise(SIGXCPU);
	(void)number;
}

/* A crash is the parent's to tell of: no file, and no words of who else may watch for it. */
static void prepare_child(void)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
	struct sigaction watch = {.sa_handler = look_whether_it_hangs, .sa_flags = SA_RESTART};
	struct itimerval second = {{1, 0}, {1, 0}};
	struct rlimit no_core = {0, 0};

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < ARRAY_COUNT(crashes); i++)
		signal(crashes[i], SIG_DFL);
	sigaction(SIGPROF, &watch, NULL);
	setitimer(ITIMER_PROF, &second, NULL);
}

static bool is_crash(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGABRT || number == SIGXCPU;
}

static int wait_for(pid_t child, int *ret_status)
{
	while (waitpid(child, ret_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* What the terminal sends reaches both; it is the child that answers. */
static int keep(pid_t child, const char *path, const char *remedy)
{
	void (*on_interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*on_quit)(int) = signal(SIGQUIT, SIG_IGN);
	int status, error = wait_for(child, &status);

	signal(SIGINT, on_interrupt);
	signal(SIGQUIT, on_quit);
	if (error)
		return fail(error, NULL, "cannot wait for the process that reads %s", path);
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	if (!is_crash(WTERMSIG(status))) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	return fail_plain(-EBADMSG, remedy, "%s makes the library that reads it %s", path,
			  WTERMSIG(status) == SIGXCPU ? "hang" : "crash");
}

int guarded_begin(const char *path, const char *remedy)
{
	pid_t child = is_guarded ? 0 : fork();

	if (child < 0)
		return fail(-errno, NULL, "cannot start a process to read %s", path);
	if (child > 0)
		return keep(child, path, remedy);
	if (!is_guarded)
		prepare_child();
	is_guarded = true;
	return 0;
}
