/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the server has taken, what waits for it, and since when it takes nothing.
 */
#include "cmd/list_pushes.h"

#include "base/fail.h"
#include "base/number.h"
#include "cmd/asked_windows.h"
#include "continuous/continuous.h"

#include <errno.h>
#include <stdio.h>

/* A file that cannot be read is told, and the windows are listed all the same. */
static bool read_state(const char *store, struct push_state *ret_state)
{
	int error = push_state_read(store, ret_state);

	if (error && error != -ENOENT)
		fprintf(stderr, "bpfprof: %s\n", fail_sentence());
	return !error;
}

static void write_failing(const struct push_totals *totals)
{
	char since[32], attempts[NUMBER_TEXT_BYTES];

	if (totals->failing_since_ns)
		printf("#   failing since %s (%s attempts since the daemon's start): %s\n",
		       times_text(totals->failing_since_ns, since),
		       number_format_count(totals->attempts_failed, attempts), totals->failing_why);
}

static void write_lost(const struct push_totals *totals)
{
	char lost[NUMBER_TEXT_BYTES];

	for (size_t i = 0; i < PUSH_LOSS_COUNT; i++)
		if (totals->lost[i])
			printf("#   %s lost: %s\n", number_format_count(totals->lost[i], lost),
			       push_loss_rows[i].sentence);
}

void list_pushes_text(const char *store)
{
	char sent[NUMBER_TEXT_BYTES], sent_bytes[NUMBER_TEXT_BYTES], last[48] = "";
	char waiting[NUMBER_TEXT_BYTES], waiting_bytes[NUMBER_TEXT_BYTES], at[32];
	const struct push_totals *totals;
	struct push_state state;

	if (!read_state(store, &state))
		return;
	totals = &state.totals;
	if (totals->last_sent_ns)
		snprintf(last, sizeof(last), ", the last %s", times_text(totals->last_sent_ns, at));
	printf("# pushed to %s: %s profiles (%s)%s; ", state.url,
	       number_format_count(totals->sent, sent),
	       number_format_bytes(totals->sent_bytes, sent_bytes), last);
	printf("%s wait (%s), as of %s\n", number_format_count(totals->waiting, waiting),
	       number_format_bytes(totals->waiting_bytes, waiting_bytes),
	       times_text(state.time_ns, at));
	write_failing(totals);
	write_lost(totals);
}

void list_pushes_json(const char *store, struct json_writer *json)
{
	const struct push_totals *totals;
	struct push_state state;

	if (!read_state(store, &state))
		return;
	totals = &state.totals;
	json_object(json, "push");
	json_text(json, "url", state.url);
	json_u64(json, "time_ns", state.time_ns);
	json_u64(json, "windows", totals->windows);
	json_u64(json, "sent", totals->sent);
	json_u64(json, "sent_bytes", totals->sent_bytes);
	json_u64(json, "last_sent_ns", totals->last_sent_ns);
	json_u64(json, "attempts_failed", totals->attempts_failed);
	json_u64(json, "failing_since_ns", totals->failing_since_ns);
	json_text(json, "failing_why", totals->failing_why);
	json_u64(json, "waiting", totals->waiting);
	json_u64(json, "waiting_bytes", totals->waiting_bytes);
	json_object(json, "lost");
	for (size_t i = 0; i < PUSH_LOSS_COUNT; i++)
		json_u64(json, push_loss_rows[i].name, totals->lost[i]);
	json_object_end(json);
	json_object_end(json);
}
