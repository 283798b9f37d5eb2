/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event loop: layers of handlers hand an event on, each through a pointer, and some post another
 * one or wait for it in a loop of their own, within the handler that is running.
 *
 * usage: lbr_events [ROUNDS]
 */
#include "lbr.h"

enum { LAYERS = 6, LOOPS_MAX = 5 };

typedef unsigned long handler(unsigned long event, unsigned long layer, unsigned long loops);

static handler log_event, filter_event, route_event, wait_for_event;
static handler *const handlers[] = {log_event, filter_event, route_event, wait_for_event};

/* NOLINTBEGIN(misc-no-recursion): loops within handlers are what it is for */
FRAME static unsigned long hand_on(unsigned long event, unsigned long layer, unsigned long loops)
{
	unsigned long sum = 0;

	burn(40);
	if (layer < LAYERS)
		sum = handlers[(event + layer) % 4](event, layer + 1, loops);
	burn(40);
	return sum + 1;
}

FRAME static unsigned long log_event(unsigned long event, unsigned long layer, unsigned long loops)
{
	burn(300 + event % 50);
	return hand_on(event, layer, loops) + 1;
}

FRAME static unsigned long filter_event(unsigned long event, unsigned long layer,
					unsigned long loops)
{
	burn(60);
	return pick(8) ? hand_on(event, layer, loops) + 2 : 0;
}

FRAME static unsigned long route_event(unsigned long event, unsigned long layer,
				       unsigned long loops)
{
	unsigned long sum = hand_on(event, layer, loops);

	burn(500);
	return pick(4) ? sum : sum + hand_on(event + 1, layer, loops);
}

FRAME static unsigned long run_loop(unsigned long events, unsigned long loops)
{
	unsigned long sum = 0;

	while (events--) {
		burn(100);
		sum += hand_on(pick(16), 0, loops);
	}
	return sum;
}

FRAME static unsigned long wait_for_event(unsigned long event, unsigned long layer,
					  unsigned long loops)
{
	if (loops < LOOPS_MAX && pick(2))
		return run_loop(1 + pick(3), loops + 1) + 1;
	return hand_on(event, layer, loops) + 3;
}
/* NOLINTEND(misc-no-recursion) */

int main(int argc, char **argv)
{
	return run_loop(rounds(argc, argv, 1500), 0) == 42;
}
