/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for descriptors, timers and signals: one epoll, with a timerfd or signalfd behind each
 * row that is not a plain descriptor.
 */
#include "base/loop.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

enum watch_kind { WATCH_DESCRIPTOR, WATCH_TIMER, WATCH_SIGNALS };

/* What one descriptor in the epoll set stands for. On the heap: epoll keeps its address. */
struct watch {
	enum watch_kind kind;
	int fd;
	struct loop_handler handler;
};

struct loop {
	int epoll_fd;
	VEC(struct watch *) watches;
	const struct watch *called; /* whose handler runs, or ran last */
	sigset_t old_mask;
	bool has_old_mask, ended;
	int result;
};

int loop_open(struct loop **ret_loop)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct loop *loop;

	if (epoll_fd < 0)
		return fail(-errno, NULL, "cannot wait for events");
	loop = must_alloc(sizeof(*loop));
	loop->epoll_fd = epoll_fd;
	*ret_loop = loop;
	return 0;
}

static void watch_close(struct watch *watch)
{
	if (watch->kind != WATCH_DESCRIPTOR)
		close(watch->fd);
}

void loop_close(struct loop *loop)
{
	if (!loop)
		return;
	for (size_t i = 0; i < loop->watches.count; i++) {
		watch_close(loop->watches.items[i]);
		free(loop->watches.items[i]);
	}
	vec_release(&loop->watches);
	close(loop->epoll_fd);
	if (loop->has_old_mask)
		sigprocmask(SIG_SETMASK, &loop->old_mask, NULL);
	free(loop);
}

/* Takes over `fd` unless it is a plain descriptor. */
static int loop_add(struct loop *loop, enum watch_kind kind, int fd, struct loop_handler handler)
{
	struct watch *watch = must_alloc(sizeof(*watch));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	*watch = (struct watch){.kind = kind, .fd = fd, .handler = handler};
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		int error = -errno;

		watch_close(watch);
		free(watch);
		return fail(error, NULL, "cannot wait for descriptor %d", fd);
	}
	*vec_add(&loop->watches) = watch;
	return 0;
}

int loop_on_readable(struct loop *loop, int fd, struct loop_handler handler)
{
	return loop_add(loop, WATCH_DESCRIPTOR, fd, handler);
}

static int set_timer(int fd, u64 interval_ns)
{
	struct timespec interval = {
		.tv_sec = (time_t)(interval_ns / 1000000000),
		.tv_nsec = (long)(interval_ns % 1000000000),
	};
	struct itimerspec every = {.it_interval = interval, .it_value = interval};

	return timerfd_settime(fd, 0, &every, NULL);
}

int loop_on_timer(struct loop *loop, u64 interval_ns, struct loop_handler handler)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return fail(-errno, NULL, "cannot make a timer");
	if (set_timer(fd, interval_ns)) {
		int error = -errno;

		close(fd);
		return fail(error, NULL, "cannot set a timer");
	}
	return loop_add(loop, WATCH_TIMER, fd, handler);
}

/* One that could be set can be set again. */
void loop_change_timer(struct loop *loop, u64 interval_ns)
{
	(void)set_timer(loop->called->fd, interval_ns);
}

int loop_on_signals(struct loop *loop, const int *signals, size_t count,
		    struct loop_handler handler)
{
	sigset_t mask, before;
	int fd;

	sigemptyset(&mask);
	for (size_t i = 0; i < count; i++)
		sigaddset(&mask, signals[i]);
	if (sigprocmask(SIG_BLOCK, &mask, &before))
		return fail(-errno, NULL, "cannot block signals");
	if (!loop->has_old_mask)
		loop->old_mask = before;
	loop->has_old_mask = true;
	fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return fail(-errno, NULL, "cannot wait for signals");
	return loop_add(loop, WATCH_SIGNALS, fd, handler);
}

static int call_timer(struct watch *watch)
{
	u64 times;

	if (read(watch->fd, &times, sizeof(times)) != sizeof(times))
		return 0;
	return watch->handler.call(watch->handler.context, times);
}

static int call_signals(struct loop *loop, struct watch *watch)
{
	struct signalfd_siginfo info;

	while (!loop->ended && read(watch->fd, &info, sizeof(info)) == sizeof(info)) {
		int error = watch->handler.call(watch->handler.context, info.ssi_signo);

		if (error)
			return error;
	}
	return 0;
}

static int call_watch(struct loop *loop, struct watch *watch)
{
	switch (watch->kind) {
	case WATCH_DESCRIPTOR:
		return watch->handler.call(watch->handler.context, (u64)watch->fd);
	case WATCH_TIMER:
		return call_timer(watch);
	case WATCH_SIGNALS:
		return call_signals(loop, watch);
	}
	return 0;
}

int loop_run(struct loop *loop)
{
	struct epoll_event events[16];

	loop->ended = false;
	while (!loop->ended) {
		int count = epoll_wait(loop->epoll_fd, events, ARRAY_COUNT(events), -1);

		if (count < 0 && errno != EINTR)
			return fail(-errno, NULL, "cannot wait for events");
		for (int i = 0; i < count && !loop->ended; i++) {
			struct watch *watch = events[i].data.ptr;
			int error;

			loop->called = watch;
			error = call_watch(loop, watch);
			if (error)
				return error;
		}
	}
	return loop->result;
}

void loop_end(struct loop *loop, int result)
{
	loop->ended = true;
	loop->result = result;
}
