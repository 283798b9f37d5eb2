/* CFLAGS: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Four threads, each of which recurses in its own way and to its own depth: each has its own ring.
 *
 * usage: lbr_threads [ROUNDS]
 */
#include "lbr.h"

#include <pthread.h>

enum { THREADS = 4 };

struct worker {
	unsigned long chance, rounds;
};

FRAME static void work(unsigned long turns)
{
	burn(turns);
}

FRAME static unsigned long draw(struct worker *worker, unsigned long limit)
{
	worker->chance = worker->chance * 6364136223846793005UL + 1442695040888963407UL;
	return (worker->chance >> 33) % limit;
}

/* NOLINTBEGIN(misc-no-recursion): recursion is what it is for */
FRAME static void steep(struct worker *worker, unsigned long depth)
{
	work(150);
	if (depth && draw(worker, 30))
		steep(worker, depth - 1);
	work(150);
}

FRAME static void flat(struct worker *worker, unsigned long depth)
{
	work(300);
	for (int i = 0; i < 2 && depth; i++)
		if (draw(worker, 10) < 5)
			flat(worker, depth - 1);
	if (depth > 40)
		steep(worker, depth - 20);
	work(100);
}
/* NOLINTEND(misc-no-recursion) */

static void *run(void *argument)
{
	struct worker *worker = argument;

	for (; worker->rounds; worker->rounds--) {
		steep(worker, 10 + draw(worker, 80));
		flat(worker, 20 + draw(worker, 60));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){pick(1000000), rounds(argc, argv, 80)};
		if (pthread_create(&threads[i], NULL, run, &workers[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
