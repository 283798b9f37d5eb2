/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that pushes, and what others see of it.
 */
#include "continuous/push.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "base/vec.h"
#include "continuous/push_http.h"
#include "continuous/push_retry.h"
#include "continuous/push_spool.h"
#include "continuous/push_token.h"
#include "continuous/times.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

enum { QUEUE_MAX = 32, LOW_PRIORITY = 10, NS_PER_S = 1000000000 };

#define AS_ROW(name, sentence) [PUSH_LOST_##name] = {#name, sentence},
const struct push_loss_row push_loss_rows[PUSH_LOSS_COUNT] = {PUSH_LOSSES(AS_ROW)};

/* Beside those of struct push_answer, which are small. */
enum trouble { TROUBLE_NONE, TROUBLE_SPOOL = 1 << 16, TROUBLE_WINDOW };

/* One reading of the settings. */
struct target {
	char *url, *ca, *token_file, *token;
	u64 spool_bytes;
};

struct push {
	struct push_callbacks callbacks;
	pthread_t thread;

	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t changed;
	bool ends;
	struct target fresh; /* not yet taken by the thread, if has_fresh */
	bool has_fresh;
	VEC(struct push_window) queue;
	struct push_totals totals;

	atomic_ullong ends_ns; /* when to give up, CLOCK_MONOTONIC; ~0: never */

	/* Only of the thread. */
	struct push_spool *spool;
	struct push_http *http;
	struct target target;
	struct push_retry retry;
	u32 trouble;	  /* the last one that was said: of the server, or enum trouble */
	bool lacks_token; /* that its file cannot be read any more was said */
	const struct push_window *window; /* that profiles are made of */
	u32 part;
};

static void target_release(struct target *target)
{
	free(target->url);
	free(target->ca);
	free(target->token_file);
	free(target->token);
	*target = (struct target){0};
}

static int target_read(const struct push_settings *settings, struct target *ret_target)
{
	struct target target = {.spool_bytes = settings->spool_bytes};
	int error = settings->url ? push_url_check(settings->url) : 0;

	if (!error && settings->ca && access(settings->ca, R_OK))
		error = fail(-errno, NULL, "cannot read the certificates in %s", settings->ca);
	if (!error && settings->token_file)
		error = push_token_read(settings->token_file, &target.token);
	if (error)
		return error;
	target.url = must_copy(settings->url);
	target.ca = must_copy(settings->ca);
	target.token_file = must_copy(settings->token_file);
	*ret_target = target;
	return 0;
}

/* --- what the thread says --- */

static void lose(struct push *push, enum push_loss why, u64 count)
{
	pthread_mutex_lock(&push->mutex);
	push->totals.lost[why] += count;
	pthread_mutex_unlock(&push->mutex);
}

static void note_spool(struct push *push)
{
	pthread_mutex_lock(&push->mutex);
	push->totals.waiting = push_spool_count(push->spool);
	push->totals.waiting_bytes = push_spool_bytes(push->spool);
	pthread_mutex_unlock(&push->mutex);
}

/* Trouble is said when it begins or is another one, and not each time. */
static void say_trouble(struct push *push, u32 trouble, const char *sentence)
{
	if (push->trouble == trouble)
		return;
	push->trouble = trouble;
	push->callbacks.say(push->callbacks.context, true, sentence);
}

static void say_it_works(struct push *push)
{
	CLEANUP(freep) char *sentence = NULL;

	if (!push->trouble)
		return;
	push->trouble = TROUBLE_NONE;
	sentence = must_format("pushing to %s works again; %zu profiles wait", push->target.url,
			       push_spool_count(push->spool));
	push->callbacks.say(push->callbacks.context, false, sentence);
}

/* --- windows to profiles --- */

static int take_profile(void *context, const char *name, struct bytes pprof)
{
	struct push *push = context;
	struct push_profile profile = {
		.start_ns = push->window->start_ns,
		.end_ns = push->window->end_ns,
		.part = push->part++,
		.name = name,
		.body = pprof,
	};
	u64 removed;

	if (push_spool_add(push->spool, &profile, &removed)) {
		lose(push, PUSH_LOST_not_spooled, 1);
		say_trouble(push, TROUBLE_SPOOL, fail_sentence());
	}
	lose(push, PUSH_LOST_spool_full, removed);
	return 0;
}

static void make_profiles(struct push *push, struct push_window *window)
{
	int error;

	push->window = window;
	push->part = 0;
	error = push->callbacks.make(push->callbacks.context, window, take_profile, push);
	if (error) {
		lose(push, PUSH_LOST_not_made, 1);
		say_trouble(push, TROUBLE_WINDOW, fail_sentence());
	} else {
		pthread_mutex_lock(&push->mutex);
		push->totals.windows++;
		pthread_mutex_unlock(&push->mutex);
	}
	free(window->path);
	note_spool(push);
}

/* --- profiles to the server --- */

static void note_sent(struct push *push, u64 bytes)
{
	pthread_mutex_lock(&push->mutex);
	push->totals.sent++;
	push->totals.sent_bytes += bytes;
	push->totals.last_sent_ns = clock_ns(CLOCK_REALTIME);
	push->totals.failing_since_ns = 0;
	push->totals.failing_why[0] = 0;
	pthread_mutex_unlock(&push->mutex);
	push_spool_remove_oldest(push->spool);
	push_retry_reset(&push->retry);
	say_it_works(push);
}

static void note_refused(struct push *push, const struct push_answer *answer)
{
	CLEANUP(freep)
	char *sentence = must_format("a profile was refused by %s: %s; dropped", push->target.url,
				     text_view(&answer->why));

	lose(push, PUSH_LOST_refused, 1);
	push_spool_remove_oldest(push->spool);
	push_retry_reset(&push->retry);
	say_trouble(push, answer->trouble, sentence);
}

static void note_failed(struct push *push, const struct push_answer *answer)
{
	CLEANUP(freep) char *sentence = NULL;
	char since[32];

	pthread_mutex_lock(&push->mutex);
	push->totals.attempts_failed++;
	if (!push->totals.failing_since_ns)
		push->totals.failing_since_ns = clock_ns(CLOCK_REALTIME);
	times_text(push->totals.failing_since_ns, since);
	snprintf(push->totals.failing_why, sizeof(push->totals.failing_why), "%s",
		 text_view(&answer->why));
	pthread_mutex_unlock(&push->mutex);
	push_retry_later(&push->retry, clock_ns(CLOCK_MONOTONIC), answer->after_s);
	sentence = must_format("cannot push to %s since %s: %s; trying again", push->target.url,
			       since, text_view(&answer->why));
	say_trouble(push, answer->trouble, sentence);
}

static void keep_old_token(struct push *push)
{
	CLEANUP(freep)
	char *sentence = must_format("%s (the token is as before)", fail_sentence());

	if (!push->lacks_token)
		push->callbacks.say(push->callbacks.context, true, sentence);
	push->lacks_token = true;
}

/* The server does not take the token: its file may have another one by now, which is tried at
 * once. */
static void renew_token(struct push *push)
{
	CLEANUP(freep) char *token = NULL;

	if (!push->target.token_file)
		return;
	if (push_token_read(push->target.token_file, &token)) {
		keep_old_token(push);
		return;
	}
	push->lacks_token = false;
	if (!strcmp(token, push->target.token))
		return;
	free(push->target.token);
	push->target.token = TAKE(token);
	push_retry_reset(&push->retry);
}

static void send_profile(struct push *push, const struct push_profile *profile)
{
	const struct push_target target = {push->target.url, push->target.ca, push->target.token};
	struct push_answer answer = {0};

	switch (push_http_send(push->http, &target, profile, &answer)) {
	case PUSH_SENT:
		note_sent(push, profile->body.length);
		break;
	case PUSH_REFUSED:
		note_refused(push, &answer);
		break;
	case PUSH_LATER:
		note_failed(push, &answer);
		if (answer.trouble == PUSH_STATUS_TOKEN)
			renew_token(push);
		break;
	}
	text_release(&answer.why);
}

static void send_oldest(struct push *push)
{
	CLEANUP(text_release) struct text storage = {0};
	struct push_profile profile;

	if (!push_spool_oldest(push->spool, &storage, &profile)) {
		send_profile(push, &profile);
		return;
	}
	lose(push, PUSH_LOST_damaged, 1);
	push_spool_remove_oldest(push->spool);
}

/* --- the thread --- */

/* What is to be done next. */
struct work {
	struct push_window window; /* path NULL: none */
	bool sends, ends;
};

static void take_target(struct push *push)
{
	u64 removed;

	if (!push->has_fresh)
		return;
	target_release(&push->target);
	push->target = push->fresh;
	push->fresh = (struct target){0};
	push->has_fresh = false;
	push->lacks_token = false;
	push_retry_reset(&push->retry);
	removed = push_spool_limit(push->spool, push->target.spool_bytes);
	push->totals.lost[PUSH_LOST_spool_full] += removed;
	push->totals.waiting = push_spool_count(push->spool);
	push->totals.waiting_bytes = push_spool_bytes(push->spool);
}

static bool has_to_send(const struct push *push)
{
	return push->target.url && push_spool_count(push->spool);
}

/* Waits until something has to be done; under the mutex. */
static void wait_for_work(struct push *push)
{
	u64 until_ns = push->retry.until_ns;
	struct timespec until = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};

	if (has_to_send(push))
		pthread_cond_timedwait(&push->changed, &push->mutex, &until);
	else
		pthread_cond_wait(&push->changed, &push->mutex);
}

/* When all ends, what failed is not tried again. */
static bool may_send(const struct push *push)
{
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!has_to_send(push))
		return false;
	if (push->ends)
		return !push->retry.failures && now_ns < atomic_load(&push->ends_ns);
	return now_ns >= push->retry.until_ns;
}

/* Sending has its turn between windows, also if they come faster than they are made. */
static bool find_work(struct push *push, struct work *work)
{
	take_target(push);
	if (push->queue.count) {
		work->window = push->queue.items[0];
		memmove(push->queue.items, push->queue.items + 1,
			--push->queue.count * sizeof(*push->queue.items));
	}
	work->sends = may_send(push);
	work->ends = push->ends && !work->window.path && !work->sends;
	return work->window.path || work->sends || work->ends;
}

static struct work next_work(struct push *push)
{
	struct work work = {0};

	pthread_mutex_lock(&push->mutex);
	while (!find_work(push, &work))
		wait_for_work(push);
	pthread_mutex_unlock(&push->mutex);
	return work;
}

static void *push_all(void *context)
{
	struct push *push = context;
	struct work work;

	setpriority(PRIO_PROCESS, 0, LOW_PRIORITY); /* of this thread */
	for (work = next_work(push); !work.ends; work = next_work(push)) {
		if (work.sends)
			send_oldest(push);
		if (work.window.path)
			make_profiles(push, &work.window);
		note_spool(push);
	}
	return NULL;
}

/* --- what others see --- */

static void push_free(struct push *push)
{
	for (size_t i = 0; i < push->queue.count; i++)
		free(push->queue.items[i].path);
	vec_release(&push->queue);
	push_http_close(push->http);
	push_spool_close(push->spool);
	target_release(&push->target);
	target_release(&push->fresh);
	pthread_mutex_destroy(&push->mutex);
	pthread_cond_destroy(&push->changed);
	free(push);
}

static struct push *push_new(const struct push_callbacks *callbacks)
{
	struct push *push = must_alloc(sizeof(*push));
	pthread_condattr_t attributes;

	push->callbacks = *callbacks;
	atomic_init(&push->ends_ns, ~0ULL);
	push->retry = push_retry_seeded(clock_ns(CLOCK_REALTIME) ^ (u64)getpid());
	pthread_mutex_init(&push->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&push->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return push;
}

int push_check(const struct push_settings *settings)
{
	struct target target = {0};
	int error = target_read(settings, &target);

	target_release(&target);
	return error;
}

int push_open(const char *spool, const struct push_settings *settings,
	      const struct push_callbacks *callbacks, struct push **ret_push)
{
	struct push *push = push_new(callbacks);
	int error = target_read(settings, &push->fresh);

	push->has_fresh = !error;
	if (!error)
		error = push_spool_open(spool, &push->spool);
	if (!error)
		error = push_http_open(&push->ends_ns, &push->http);
	if (!error && pthread_create(&push->thread, NULL, push_all, push))
		error = fail(-EAGAIN, NULL, "cannot start a thread");
	if (error) {
		push_free(push);
		return error;
	}
	*ret_push = push;
	return 0;
}

int push_set(struct push *push, const struct push_settings *settings)
{
	struct target target;
	int error = target_read(settings, &target);

	if (error)
		return error;
	pthread_mutex_lock(&push->mutex);
	target_release(&push->fresh);
	push->fresh = target;
	push->has_fresh = true;
	pthread_cond_signal(&push->changed);
	pthread_mutex_unlock(&push->mutex);
	return 0;
}

void push_add(struct push *push, const char *path, u64 start_ns, u64 end_ns)
{
	pthread_mutex_lock(&push->mutex);
	if (push->queue.count == QUEUE_MAX) {
		free(push->queue.items[0].path);
		memmove(push->queue.items, push->queue.items + 1,
			--push->queue.count * sizeof(*push->queue.items));
		push->totals.lost[PUSH_LOST_too_slow]++;
	}
	*vec_add(&push->queue) = (struct push_window){must_copy(path), start_ns, end_ns};
	pthread_cond_signal(&push->changed);
	pthread_mutex_unlock(&push->mutex);
}

struct push_totals push_totals(struct push *push)
{
	struct push_totals totals;

	pthread_mutex_lock(&push->mutex);
	totals = push->totals;
	pthread_mutex_unlock(&push->mutex);
	return totals;
}

struct push_totals push_close(struct push *push, u64 within_ns)
{
	struct push_totals totals;

	if (!push)
		return (struct push_totals){0};
	pthread_mutex_lock(&push->mutex);
	push->ends = true;
	atomic_store(&push->ends_ns, clock_ns(CLOCK_MONOTONIC) + within_ns);
	pthread_cond_signal(&push->changed);
	pthread_mutex_unlock(&push->mutex);
	pthread_join(push->thread, NULL);
	totals = push->totals;
	push_free(push);
	return totals;
}
