/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon: samples all the time, a window after the other into a store.
 */
#include "cmd/daemon.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/daemon_metrics.h"
#include "cmd/daemon_names.h"
#include "cmd/daemon_push.h"
#include "cmd/daemon_sums.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

/* How often events are drained, and clocks looked at. What cannot wait wakes us: a file that a
 * stack has come into for the first time, rings that fill. So where the rate has not to be watched
 * closely we sleep longer: to wake up costs more than what there is to do. */
static const u64 tick_ns = 1000000000, calm_tick_ns = 5000000000;

/* Sampling waits for a file to be read; the largest known take a tenth of a second. A process that
 * goes on to other files can be made to answer wrongly about these, so it does not go on for ever.
 */
enum { FILES_EACH = 128, FILE_CPU_S = 1, FILE_WALL_S = 5 };

/* The cache of names notes by the hour when a file was used. */
static const u64 names_again_ns = 2 * 3600 * 1000000000ULL;

static int turn_tables(struct daemon *daemon)
{
	daemon->turned_ns = clock_ns(CLOCK_MONOTONIC);
	return capture_turn(daemon->session->capture);
}

/* The open window is over, the next one begins. What is counted while the kernel's tables are
 * turned is of the window that ends. */
static int end_window(struct daemon *daemon)
{
	int error = turn_tables(daemon);
	struct moment now = moment_now();

	if (error)
		return error;
	daemon->end_ns = now.clock_ns;
	window_end_at(daemon->session->window, now.clock_ns);
	daemon_write_window(daemon);
	daemon_sums_go_on(daemon->sums, daemon->store);
	if (daemon->session->settings.once)
		loop_end(daemon->loop, 0);
	return daemon_begin_window(daemon, now);
}

/* --- what happens -------------------------------------------------------------------------------
 */

/* Takes in what there is. */
static int drain(struct daemon *daemon, u64 now_ns)
{
	bool is_time_to_turn = now_ns - daemon->turned_ns >= COUNTING_NS ||
			       capture_wants_turn(daemon->session->capture);
	int error = is_time_to_turn ? turn_tables(daemon) : capture_drain(daemon->session->capture);

	if (error || !window_is_full(daemon->session->window))
		return error;
	daemon_log(LOG_LEVEL_INFO, "a window ends early: --max-memory is reached");
	return end_window(daemon);
}

static int on_readable(void *context, u64 fd)
{
	(void)fd;
	return drain(context, clock_ns(CLOCK_MONOTONIC));
}

/* The window's time is over, or somebody has set the clock: then it ends where it is. */
static int on_window_end(void *context, u64 fd)
{
	struct daemon *daemon = context;
	u64 times;

	if (read((int)fd, &times, sizeof(times)) < 0) {
		if (errno != ECANCELED)
			return 0;
		daemon_log(LOG_LEVEL_INFO, "the clock was set: a window ends early");
	}
	return end_window(daemon);
}

static void keep_watchdog_calm(struct daemon *daemon, u64 now_ns)
{
	if (!daemon->watchdog_ns || now_ns - daemon->watchdog_told_ns < daemon->watchdog_ns)
		return;
	daemon->watchdog_told_ns = now_ns;
	notify_send("WATCHDOG=1");
}

static void choose_tick(struct daemon *daemon)
{
	bool is_calm = cpu_limit_has_room(&daemon->limit) &&
		       (!daemon->watchdog_ns || daemon->watchdog_ns > calm_tick_ns);

	if (is_calm != daemon->is_calm)
		loop_change_timer(daemon->loop, is_calm ? calm_tick_ns : tick_ns);
	daemon->is_calm = is_calm;
}

static int on_tick(void *context, u64 times)
{
	struct daemon *daemon = context;
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);

	(void)times;
	if (confined_is_gone(daemon->readers) || confined_is_gone(daemon->file_reader))
		return fail_plain(-EPIPE, "start the daemon again",
				  "somebody has ended or stopped the process that reads binaries");
	keep_watchdog_calm(daemon, now_ns);
	daemon_hold_limit(daemon, now_ns);
	choose_tick(daemon);
	return drain(daemon, now_ns);
}

static int on_signal(void *context, u64 number)
{
	struct daemon *daemon = context;
	int error;

	if (number != SIGHUP) {
		loop_end(daemon->loop, 0);
		return 0;
	}
	notify_send("RELOADING=1\nMONOTONIC_USEC=%llu",
		    (unsigned long long)clock_ns(CLOCK_MONOTONIC) / 1000);
	error = daemon_reload(daemon);
	notify_send("READY=1");
	return error;
}

/* --- beginning and end --------------------------------------------------------------------------
 */

int daemon_watch_capture(struct daemon *daemon)
{
	return loop_on_readable(daemon->loop, capture_fd(daemon->session->capture),
				(struct loop_handler){on_readable, daemon});
}

static int prepare_loop(struct daemon *daemon)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	int error = loop_open(&daemon->loop);

	daemon->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!error && daemon->timer_fd < 0)
		error = fail(-errno, NULL, "cannot make a timer");
	if (!error)
		error = loop_on_signals(daemon->loop, signals, ARRAY_COUNT(signals),
					(struct loop_handler){on_signal, daemon});
	if (!error)
		error = loop_on_readable(daemon->loop, daemon->timer_fd,
					 (struct loop_handler){on_window_end, daemon});
	if (!error)
		error = loop_on_timer(daemon->loop, tick_ns,
				      (struct loop_handler){on_tick, daemon});
	return error;
}

/* Without names a window is still worth having. */
static void open_names(struct daemon *daemon)
{
	struct daemon_names_settings settings = {
		.directory = store_names_path(daemon->store),
		.max_bytes = session_names_limit(daemon->session),
		.again_ns = names_again_ns,
		.confined = daemon->readers,
	};

	if (daemon_names_open(&settings, &daemon->names))
		daemon_log(LOG_LEVEL_WARNING, "names of functions are not kept: %s",
			   fail_sentence());
	daemon->session->names = daemon->names;
}

/* Without sums reports of hours take longer, and that is all. */
static void open_sums(struct daemon *daemon)
{
	if (!daemon->session->settings.once &&
	    daemon_sums_open(daemon->session->settings.store, &daemon->sums))
		daemon_log(LOG_LEVEL_WARNING, "windows are not summed: %s", fail_sentence());
}

/* While there is one thread, that may do anything. */
static int start_readers(struct daemon *daemon)
{
	const struct confined_settings names = daemon_names_works();
	const struct confined_settings files = {
		.works = confined_files_works,
		.work_count = CONFINED_FILES_WORKS,
		.name = "bpfprof-unwind",
		.jobs_each = FILES_EACH,
		.most_cpu_s = FILE_CPU_S,
		.most_wall_s = FILE_WALL_S,
	};
	int error = confined_start(&names, &daemon->readers);

	return error ? error : confined_start(&files, &daemon->file_reader);
}

/* One line of the log for each of the store's. */
static void log_notes(const char *notes)
{
	while (*notes) {
		size_t length = strcspn(notes, "\n");

		daemon_log(LOG_LEVEL_WARNING, "%.*s", (int)length, notes);
		notes += length + 1;
	}
}

static int open_store(struct daemon *daemon)
{
	int error = store_open(daemon->session->settings.store, STORE_WRITE, &daemon->store);

	if (error)
		return error;
	store_limit(daemon->store, session_limits(daemon->session));
	log_notes(store_notes(daemon->store));
	return 0;
}

/* The store first: whoever has its lock is told from what is wrong with this machine. */
static int start(struct daemon *daemon)
{
	int error = session_read(&daemon->session);

	if (!error)
		error = open_store(daemon);
	if (!error)
		error = start_readers(daemon);
	if (!error)
		error = prepare_loop(daemon);
	if (error)
		return error;
	error = daemon_push_check(daemon);
	if (error)
		return error;
	open_names(daemon);
	daemon->session->file_reader = daemon->file_reader;
	error = session_open(daemon->session);
	if (!error)
		error = session_start(daemon->session);
	if (!error)
		error = daemon_watch_capture(daemon);
	/* Threads after this one: they have what their maker has. */
	if (!error)
		error = daemon_give_up_privileges(daemon);
	if (!error && daemon->names)
		error = daemon_names_start(daemon->names);
	if (!error)
		error = daemon_begin_window(daemon, moment_now());
	if (!error)
		error = daemon_push_start(daemon);
	if (error)
		return error;
	open_sums(daemon);
	daemon_limit_cpu(daemon);
	error = daemon_metrics_start(daemon);
	if (error)
		return error;
	daemon->turned_ns = clock_ns(CLOCK_MONOTONIC);
	daemon->watchdog_ns = notify_watchdog_ns();
	notify_send("READY=1\nSTATUS=the first window is open");
	daemon_log(LOG_LEVEL_INFO, "sampling at %u Hz into %s", daemon->session->plan.frequency_hz,
		   daemon->session->settings.store);
	return 0;
}

/* The open window is written as far as it has come. */
static int finish(struct daemon *daemon)
{
	int error;

	notify_send("STOPPING=1");
	error = capture_stop(daemon->session->capture);
	daemon->end_ns = clock_ns(CLOCK_MONOTONIC);
	window_end_at(daemon->session->window, ~0ULL);
	daemon_write_window(daemon);
	return error;
}

/* No window tells of what is lost now. */
static void end_names(struct daemon *daemon)
{
	u64 losses[COUNTER_COUNT] = {0};

	daemon_names_end(daemon->names);
	daemon_names_losses(daemon->names, losses);
	for (u32 i = 0; i < COUNTER_COUNT; i++)
		if (losses[i])
			daemon_log(LOG_LEVEL_WARNING, "after the last window: %llu times: %s",
				   (unsigned long long)losses[i], counter_rows[i].sentence);
	daemon_names_close(daemon->names);
}

static void daemon_release(struct daemon *daemon)
{
	loop_close(daemon->loop);
	closep(&daemon->timer_fd);
	daemon_metrics_stop(daemon->metrics);
	daemon_push_stop(daemon->push);
	daemon_sums_close(daemon->sums);
	session_free(daemon->session);
	end_names(daemon);
	confined_stop(daemon->readers);
	confined_stop(daemon->file_reader);
	store_close(daemon->store);
	machine_release(&daemon->machine);
	cpus_watch_free(daemon->cpus);
}

/* What a window took is wanted again for the next one: to get so many pages anew each time would
 * take longer than what they are for. */
static void keep_memory(void)
{
	enum { KEPT_BYTES = 1 << 20 };

	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

/* The open window is worth more than the log. No child is surprised: those that read files ignore
 * the signal by themselves, and no other program is run. */
static void outlive_reader_of_log(void)
{
	signal(SIGPIPE, SIG_IGN);
}

/* What we make says itself who may read it: a store's files the group of its folder, which a
 * stricter mask would leave out. The rest never. The unit file has the same one. */
static void choose_mask(void)
{
	umask(S_IWGRP | S_IRWXO);
}

static int daemon_run(const void *settings, struct arguments arguments)
{
	CLEANUP(daemon_release) struct daemon daemon = {.timer_fd = -1, .cpus = cpus_watch_new()};
	int error, end_error;

	(void)settings; /* they are read again, as with SIGHUP */
	if (arguments.count)
		return fail_plain(-EINVAL, NULL, "daemon takes no arguments, only options");
	keep_memory();
	outlive_reader_of_log();
	choose_mask();
	error = start(&daemon);
	if (error)
		return error;
	error = loop_run(daemon.loop);
	if (daemon.session->settings.once && daemon.windows && !error && daemon.cannot_write)
		return fail_plain(-EIO, NULL, "no window was written");
	if (daemon.session->settings.once && daemon.windows)
		return error;
	end_error = finish(&daemon);
	return error ? error : end_error;
}

const struct command command_daemon = {
	.name = "daemon",
	.summary = "record all the time, in windows of a minute, into a store",
	.synopsis = "[options]",
	.examples = "sudo bpfprof daemon\tWindows of a minute into /var/lib/bpfprof\n"
		    "sudo bpfprof daemon --window 10s --keep-size 100M --store /tmp/store\t"
		    "Short ones, and not many\n"
		    "sudo bpfprof daemon --once --window 10s --store /tmp/store\tOne window\n"
		    "sudo systemctl enable --now bpfprof\tAs a service, from now on\n",
	.options = daemon_options,
	.settings_bytes = sizeof(struct daemon_settings),
	.defaults = &daemon_defaults,
	.stays = true,
	.run = daemon_run,
};
