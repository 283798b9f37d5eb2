/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows to a server, by a thread of its own: whoever writes windows only says that there is one.
 *
 * A window becomes profiles (by whom push_open() names), which lie in a spool on disk until the
 * server has taken them, oldest first. Where nobody answers, or who answers takes none now, it is
 * tried again after a while that doubles, up to five minutes, with some chance in it, so that the
 * machines of a fleet do not come back all at once. A profile that the server refuses is dropped.
 *
 * Each profile is sent until it is answered: once, but for one whose answer got lost.
 */
#ifndef CONTINUOUS_PUSH_H
#define CONTINUOUS_PUSH_H

#include "base/cursor.h"
#include "bpfprof/types.h"

#include <stdbool.h>

/* A window that is in the store. */
struct push_window {
	char *path; /* of its perf.data */
	u64 start_ns, end_ns;
};

/* Why profiles do not reach the server. */
#define PUSH_LOSSES(X)                                               \
	X(refused, "the server refused them")                        \
	X(spool_full, "the spool was full; raise --push-spool-size") \
	X(not_spooled, "they could not be written to the spool")     \
	X(damaged, "they were not whole in the spool")               \
	X(not_made, "their window could not be read")                \
	X(too_slow, "windows came faster than they could be made into profiles")

#define PUSH_LOSS_AS_ENUM(name, sentence) PUSH_LOST_##name,
enum push_loss { PUSH_LOSSES(PUSH_LOSS_AS_ENUM) PUSH_LOSS_COUNT };

struct push_loss_row {
	const char *name, *sentence;
};
extern const struct push_loss_row push_loss_rows[PUSH_LOSS_COUNT];

/* Since the start; profiles, but for not_made and too_slow, which are windows. */
struct push_totals {
	u64 windows;		    /* made into profiles */
	u64 sent, sent_bytes;	    /* taken by the server */
	u64 attempts_failed;	    /* that are tried again */
	u64 waiting, waiting_bytes; /* in the spool, now */
	u64 lost[PUSH_LOSS_COUNT];
	/* CLOCK_REALTIME: when the server took the last one, and since when it has not taken what
	 * it was to; 0: never, it does. */
	u64 last_sent_ns, failing_since_ns;
	char failing_why[160]; /* what it, or whatever is in between, said last; or "" */
};

/* Strings are copied. */
struct push_settings {
	const char *url;	/* NULL: nothing is pushed; what is in the spool stays there */
	const char *ca;		/* certificates to trust, in place of the system's; or NULL */
	const char *token_file; /* or NULL */
	u64 spool_bytes;	/* at most so much waits on disk */
};

/* Takes one series of a window: its name, and a pprof. Returns 0, or not 0: make no more. */
typedef int push_take(void *taker, const char *name, struct bytes pprof);

/* What whoever opens it does; called by its thread. */
struct push_callbacks {
	/* Makes the profiles of a window. Returns 0 or a negative errno with a sentence. */
	int (*make)(void *context, const struct push_window *window, push_take *take, void *taker);
	/* Hears a line, a warning or not. */
	void (*say)(void *context, bool is_warning, const char *sentence);
	void *context;
};

struct push;

/* Whether it is the address of a server: http or https, without a password. Returns 0, or -EINVAL
 * or -ENOPKG with a sentence. */
int push_url_check(const char *url);

/* Whether push_open() would take the settings, as it says it. */
int push_check(const struct push_settings *settings);

/*
 * Starts the thread. Signals must be blocked by now.
 *
 * spool     the folder in which profiles wait
 * ret_push  push_close() it
 * Returns 0, or a negative errno with a sentence (of the spool, the token's file, the CA's).
 */
int push_open(const char *spool, const struct push_settings *settings,
	      const struct push_callbacks *callbacks, struct push **ret_push);
/* Changes the settings, from the next profile on. Returns as push_open(), and then nothing has
 * changed. */
int push_set(struct push *push, const struct push_settings *settings);
/* There is a window; `path` is copied. Returns at once. */
void push_add(struct push *push, const char *path, u64 start_ns, u64 end_ns);
/* So far. */
struct push_totals push_totals(struct push *push);
/* Makes profiles of the windows that it was told of, sends what can be sent within so long, without
 * trying anything twice, and frees; the rest waits in the spool.
 *
 * Returns what it came to; NULL is fine. */
struct push_totals push_close(struct push *push, u64 within_ns);

#endif
