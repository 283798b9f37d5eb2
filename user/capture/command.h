/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that a recording starts: made early, so that its pid is known, and held before its
 * exec until everything is ready.
 */
#ifndef CAPTURE_COMMAND_H
#define CAPTURE_COMMAND_H

#include <sys/types.h>

struct command;

/* Forks a child that waits to become `arguments` (ends with NULL, borrowed), with `stdout_fd` as
 * its standard output. Returns 0 or a negative errno with a sentence. */
int command_hold(char *const *arguments, int stdout_fd, struct command **ret_command);
/* Lets it go; waits until it runs or could not be run. Returns 0 or a negative errno with a
 * sentence: -ENOENT (no such program), -EACCES (not executable), or what else exec said. */
int command_go(struct command *command);
/* Its pid; the caller reaps it. */
pid_t command_pid(const struct command *command);
/* Frees; a command that was never let go ends unrun and is reaped. NULL is fine. */
void command_free(struct command *command);

#endif
