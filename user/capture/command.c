/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forks, holds, lets go: over a socket pair, of which exec closes the child's end. We send a byte
 * to let it go; what comes back is an errno if exec failed, or the end.
 */
#include "capture/command.h"

#include "base/fail.h"
#include "base/memory.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct command {
	pid_t pid;
	const char *name;
	int socket; /* our end; -1 after command_go() */
};

enum { EXIT_NOT_RUN = 127 };

/* Only what is safe between fork and exec. The end of the socket means that nobody wants the
 * command any more. */
static void run_child(char *const *arguments, int stdout_fd, int socket)
{
	sigset_t none;
	char go;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (read(socket, &go, 1) != 1)
		_exit(EXIT_NOT_RUN);
	if (stdout_fd != STDOUT_FILENO)
		dup2(stdout_fd, STDOUT_FILENO);
	execvp(arguments[0], arguments);
	error = errno;
	send(socket, &error, sizeof(error), MSG_NOSIGNAL);
	_exit(EXIT_NOT_RUN);
}

int command_hold(char *const *arguments, int stdout_fd, struct command **ret_command)
{
	struct command *command;
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return fail(-errno, NULL, "cannot start %s", arguments[0]);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		run_child(arguments, stdout_fd, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		int error = -errno;

		close(ends[0]);
		return fail(error, NULL, "cannot start %s", arguments[0]);
	}
	command = must_alloc(sizeof(*command));
	*command = (struct command){.pid = pid, .name = arguments[0], .socket = ends[0]};
	*ret_command = command;
	return 0;
}

static void reap(struct command *command)
{
	while (waitpid(command->pid, NULL, 0) < 0 && errno == EINTR)
		;
	command->pid = 0;
}

int command_go(struct command *command)
{
	int error = 0;
	ssize_t bytes = send(command->socket, "g", 1, MSG_NOSIGNAL);

	while (bytes == 1 || (bytes < 0 && errno == EINTR))
		bytes = recv(command->socket, &error, sizeof(error), MSG_WAITALL);
	close(command->socket);
	command->socket = -1;
	if (bytes == 0)
		return 0;
	reap(command);
	if (bytes < 0)
		return fail_plain(-ECHILD, NULL, "cannot start %s: it was killed", command->name);
	return fail(-error, error == ENOENT ? "check its name and PATH" : NULL, "cannot run %s",
		    command->name);
}

pid_t command_pid(const struct command *command)
{
	return command->pid;
}

void command_free(struct command *command)
{
	if (!command)
		return;
	if (command->socket >= 0) {
		close(command->socket);
		reap(command);
	}
	free(command);
}
