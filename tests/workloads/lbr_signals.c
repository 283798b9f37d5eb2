/* CFLAGS: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals at the end of recursions: raised by the program itself and by a timer, on the same stack
 * and on one of their own. No call pushes what the handler's return pops.
 *
 * usage: lbr_signals [ROUNDS]
 */
#include "lbr.h"

#include <signal.h>
#include <sys/time.h>

static char own_stack[1 << 16];

FRAME static void work(unsigned long turns)
{
	burn(turns);
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static void react(unsigned long depth)
{
	work(100);
	if (depth)
		react(depth - 1);
	AFTER_CALL();
}

static void on_signal(int number)
{
	react(number == SIGUSR1 ? 6 : 3);
	AFTER_CALL();
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static void descend(unsigned long depth)
{
	work(150);
	if (depth)
		descend(depth - 1);
	else
		raise(pick(2) ? SIGUSR1 : SIGUSR2);
	work(150);
}

int main(int argc, char **argv)
{
	stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)};
	struct itimerval often = {{0, 1000}, {0, 1000}};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned long round = rounds(argc, argv, 2500); round; round--)
		descend(10 + pick(50));
	return 0;
}
