/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signal handlers that interrupt code without frame pointers wherever it is (see known.h).
 *
 * stacks sig: _start * main one_stack outer middle leaf ~ on_a in_a
 * stacks altsig: _start * main other_stack outer middle leaf ~ on_a in_a
 * stacks nestsig: _start * main nested outer middle leaf ~ on_a in_a ~ on_b in_b
 * stacks nestsig: _start * main nested outer middle leaf ~ on_b in_b ~ on_a in_a
 */
#include "known.h"

#include <signal.h>
#include <sys/time.h>

enum { STACK_BYTES = 256 * 1024 };

FRAME static void leaf(void)
{
	burn(20000);
}

FRAME static void middle(void)
{
	for (int i = 0; i < 100; i++) { /* so that prologues are interrupted, too */
		SPOIL_REGISTERS();
		leaf();
	}
}

FRAME static void outer(void)
{
	char room[200];

	KEEP(room);
	SPOIL_REGISTERS();
	middle();
	KEEP(room);
}

FRAME static void in_a(void)
{
	SPOIL_REGISTERS();
	burn(1000000);
}

FRAME static void in_b(void)
{
	SPOIL_REGISTERS();
	burn(300000);
}

FRAME static void on_a(int number)
{
	(void)number;
	SPOIL_REGISTERS();
	in_a();
	AFTER_CALL();
}

FRAME static void on_b(int number)
{
	(void)number;
	SPOIL_REGISTERS();
	in_b();
	AFTER_CALL();
}

/* `handler` on every `microseconds` of `clock`, on the other stack if there is one. */
static void set_alarm(int clock, int signal_number, void (*handler)(int), int microseconds)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct itimerval interval = {{0, microseconds}, {0, microseconds}};

	sigaction(signal_number, &action, NULL);
	setitimer(clock, &interval, NULL);
}

FRAME static void one_stack(void)
{
	set_alarm(ITIMER_REAL, SIGALRM, on_a, 1300);
	while (!is_over())
		outer();
}

FRAME static void other_stack(void)
{
	stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};

	sigaltstack(&stack, NULL);
	set_alarm(ITIMER_REAL, SIGALRM, on_a, 1300);
	while (!is_over())
		outer();
}

FRAME static void nested(void)
{
	set_alarm(ITIMER_REAL, SIGALRM, on_a, 1700);
	set_alarm(ITIMER_PROF, SIGPROF, on_b, 1000);
	while (!is_over())
		outer();
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"sig", one_stack},
		{"altsig", other_stack},
		{"nestsig", nested},
	};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
