/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One profile to a server that speaks Pyroscope's HTTP: POST URL/ingest, a pprof as it is as the
 * body. Private to the folder.
 *
 * Source of the protocol: github.com/grafana/pyroscope, docs/sources/reference-server-api and
 * pkg/ingester/pyroscope/ingest_handler.go: name, from and until (19 digits: nanoseconds) and
 * format=pprof in the query. What statuses mean: RFC 9110, 15; 425 and 429: RFC 8470, 6585.
 */
#ifndef CONTINUOUS_PUSH_HTTP_H
#define CONTINUOUS_PUSH_HTTP_H

#include "base/text.h"
#include "continuous/push_spool.h"

#include <stdatomic.h>

/* Where to, and by which right; strings borrowed. */
struct push_target {
	const char *url;   /* checked by push_url_check() */
	const char *ca;	   /* certificates to trust in PEM; NULL: those of the system */
	const char *token; /* sent as "Authorization: Bearer"; NULL: none */
};

enum push_outcome {
	PUSH_SENT,
	PUSH_LATER,   /* nobody there, or who is there takes none now, from us or at this address */
	PUSH_REFUSED, /* nor will the next time, as it is about this profile */
};

enum { PUSH_STATUS_TOKEN = 401 }; /* the token is not the right one, or not any more */

/* What is to be said of one that was not sent. */
struct push_answer {
	struct text why; /* a sentence; the caller releases it */
	u32 trouble;	 /* the HTTP status; below 100: no answer, and why */
	u64 after_s;	 /* if it is to come later: the seconds that the server asks for, 0: none */
};

struct push_http;

/*
 * Loads libcurl: nothing links with it.
 *
 * ends_ns   borrowed: what goes on then (CLOCK_MONOTONIC) is given up; ~0: never
 * ret_http  push_http_close() it
 * Returns 0, or -ENOPKG with a sentence.
 */
int push_http_open(const atomic_ullong *ends_ns, struct push_http **ret_http);
/* Ends the connection, and frees; NULL is fine. */
void push_http_close(struct push_http *http);

/*
 * Sends one, and waits for the answer, at most half a minute.
 *
 * ret_answer  empty before; filled if it was not sent
 */
enum push_outcome push_http_send(struct push_http *http, const struct push_target *target,
				 const struct push_profile *profile,
				 struct push_answer *ret_answer);

#endif
