/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GET /metrics over HTTP, by a thread of its own.
 */
#ifndef CONTINUOUS_METRICS_SERVER_H
#define CONTINUOUS_METRICS_SERVER_H

#include <stdio.h>

struct metrics_server;

struct metrics_server_settings {
	/* "127.0.0.1:9464", "[::1]:9464", or "9464" of the loopback; port 0: any. Numbers only. */
	const char *address;
	/* Writes what is to be answered; called by the server's thread. */
	void (*write)(void *context, FILE *out);
	void *context;
};

/*
 * Begins to answer. libmicrohttpd is loaded for it: nothing links with it. Signals must be blocked
 * by now.
 *
 * ret_server  metrics_server_stop() it
 * Returns 0, or a negative errno with a sentence: -EINVAL (no address), -EADDRINUSE, -ENOPKG …
 */
int metrics_server_start(const struct metrics_server_settings *settings,
			 struct metrics_server **ret_server);
/* Where it is to be asked: "http://127.0.0.1:9464/metrics". Borrowed. */
const char *metrics_server_url(const struct metrics_server *server);
/* Ends it, and frees; NULL is fine. */
void metrics_server_stop(struct metrics_server *server);

#endif
