/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -pthread */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads whose code has no frame pointers (see known.h): their stacks begin where the C library
 * starts a thread.
 *
 * stacks work: _start * main threads
 * stacks work: * thread_main outer leaf
 * stacks pipe: _start * main pings
 * stacks pipe: * echo_main echo
 * stacks short: _start * main short_lived
 * stacks short: * short_main outer leaf
 *
 * "pipe" wakes the other thread all the time; "short" makes a thread for every millisecond of work.
 */
#include "known.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 3 };

FRAME static void leaf(void)
{
	burn(200000);
}

FRAME static void outer(void)
{
	char room[100];

	KEEP(room);
	SPOIL_REGISTERS();
	leaf();
	KEEP(room);
}

FRAME static void *thread_main(void *unused)
{
	while (!is_over()) {
		SPOIL_REGISTERS();
		outer();
	}
	return unused;
}

FRAME static void *short_main(void *unused)
{
	for (int i = 0; i < 10; i++) {
		SPOIL_REGISTERS();
		outer();
	}
	return unused;
}

static int to_echo[2], from_echo[2];

/* Hands on one byte; false at the end. */
FRAME static bool echo(void)
{
	char byte;

	SPOIL_REGISTERS();
	return read(to_echo[0], &byte, 1) == 1 && write(from_echo[1], &byte, 1) == 1;
}

FRAME static void *echo_main(void *unused)
{
	while (echo())
		SPOIL_REGISTERS();
	return unused;
}

static pthread_t start_thread(void *(*thread)(void *))
{
	pthread_t started;

	if (pthread_create(&started, NULL, thread, NULL))
		abort();
	return started;
}

FRAME static void threads(void)
{
	pthread_t started[THREADS];

	for (int i = 0; i < THREADS; i++)
		started[i] = start_thread(thread_main);
	for (int i = 0; i < THREADS; i++)
		pthread_join(started[i], NULL);
}

FRAME static void pings(void)
{
	char byte = 0;
	pthread_t other;

	if (pipe(to_echo) || pipe(from_echo))
		abort();
	other = start_thread(echo_main);
	while (!is_over())
		if (write(to_echo[1], &byte, 1) != 1 || read(from_echo[0], &byte, 1) != 1)
			abort();
	close(to_echo[1]);
	pthread_join(other, NULL);
}

FRAME static void short_lived(void)
{
	while (!is_over())
		pthread_join(start_thread(short_main), NULL);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"work", threads},
		{"pipe", pings},
		{"short", short_lived},
	};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
