/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One window of the daemon: its times, and its way into the store.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/daemon.h"
#include "cmd/daemon_metrics.h"
#include "cmd/daemon_names.h"
#include "cmd/daemon_push.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

enum { NS_PER_S = 1000000000 };

void daemon_log(enum log_level level, const char *format, ...)
{
	CLEANUP(text_release) struct text sentence = {0}, line = {0};
	va_list arguments;

	va_start(arguments, format);
	text_appendv(&sentence, format, arguments);
	va_end(arguments);
	/* Source: sd-daemon(3). */
	if (getenv("JOURNAL_STREAM"))
		text_appendf(&line, "<%d>", (int)level);
	else
		text_append(&line, "bpfprof: ");
	text_append_printable(&line, text_view(&sentence));
	fprintf(stderr, "%s\n", text_view(&line));
}

struct moment moment_now(void)
{
	return (struct moment){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME)};
}

u64 timeval_ns(struct timeval time)
{
	return (u64)time.tv_sec * NS_PER_S + (u64)time.tv_usec * 1000;
}

static u64 usage_ns(int whose)
{
	struct rusage usage;

	getrusage(whose, &usage);
	return timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
}

struct spending daemon_spending(struct daemon *daemon)
{
	u64 files_ns = confined_cpu_ns(daemon->file_reader);
	struct capture_totals totals;

	capture_totals(daemon->session->capture, &totals);
	return (struct spending){
		.own_ns = usage_ns(RUSAGE_SELF) + files_ns + confined_cpu_ns(daemon->readers),
		.here_ns = usage_ns(RUSAGE_THREAD) + files_ns,
		.bpf_ns = totals.bpf_ns,
	};
}

/* --- its times ----------------------------------------------------------------------------------
 */

/* When a window that begins there ends, CLOCK_REALTIME: at the next multiple of its length. */
static u64 end_after(const struct daemon_settings *settings, u64 start_ns)
{
	if (settings->once)
		return start_ns + settings->window_ns;
	return (start_ns / settings->window_ns + 1) * settings->window_ns;
}

/* Whoever sets the clock ends the window. -ECANCELED: somebody has since the timer was read last.
 */
static int set_timer(const struct daemon *daemon, u64 end_ns)
{
	struct itimerspec at = {.it_value = {
					.tv_sec = (time_t)(end_ns / NS_PER_S),
					.tv_nsec = (long)(end_ns % NS_PER_S),
				}};

	return timerfd_settime(daemon->timer_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at,
			       NULL)
		       ? -errno
		       : 0;
}

/* A moment that has passed, by the wall clock as it goes now. */
static struct moment by_clock_of_now(struct moment past)
{
	struct moment now = moment_now();

	return (struct moment){past.clock_ns, now.wall_ns - (now.clock_ns - past.clock_ns)};
}

int daemon_begin_window(struct daemon *daemon, struct moment start)
{
	const struct daemon_settings *settings = &daemon->session->settings;
	int error = set_timer(daemon, end_after(settings, start.wall_ns));

	while (error == -ECANCELED) {
		daemon_log(LOG_LEVEL_INFO, "the clock was set when a window ended");
		start = by_clock_of_now(start);
		error = set_timer(daemon, end_after(settings, start.wall_ns));
	}
	daemon->started = start;
	daemon->spent = daemon_spending(daemon);
	daemon->lowest_hz = daemon->limit.hz;
	window_end_at(daemon->session->window, ~0ULL);
	return error ? fail(error, NULL, "cannot set a timer") : 0;
}

/* --- into the store -----------------------------------------------------------------------------
 */

/* What happened since the window before, by enum counter. */
static void losses_of(struct session *session, const struct window_counts *counts, u64 *losses)
{
	struct capture_totals now;

	capture_reckon(session->capture);
	capture_totals(session->capture, &now);
	for (u32 i = 0; i < COUNTER_COUNT; i++) {
		u64 *told = &session->told.counters[i];

		/* What is reckoned by idle time may be a tick less the next time. */
		losses[i] = now.counters[i] > *told ? now.counters[i] - *told : 0;
		*told += losses[i];
	}
	/* what was sent in the last moments is in the next window */
	if (losses[COUNTER_samples_counted] > counts->samples)
		losses[COUNTER_samples_counted] = counts->samples;
	losses[COUNTER_samples_sent] = counts->samples - losses[COUNTER_samples_counted];
	losses[COUNTER_lost_memory] += counts->samples_dropped;
	losses[COUNTER_mappings_left_out] += counts->mappings_dropped;
	daemon_names_losses(session->names, losses);
}

static u64 wall_of(const struct daemon *daemon, u64 clock_ns)
{
	return daemon->started.wall_ns + (clock_ns - daemon->started.clock_ns);
}

static struct perfdata_writer_settings writer_settings(struct daemon *daemon,
						       const struct command_line *line,
						       const char *path)
{
	const struct session *session = daemon->session;
	bool is_small = window_counts(session->window).told_bytes <= SMALL_WINDOW_BYTES;
	struct perfdata_writer_settings settings = {
		.path = path,
		.path_remedy = "let the user who runs the daemon write there",
		.command_line = line->words,
		.command_words = (int)line->count,
		.compress = true,
		.compress_level = is_small ? SMALL_WINDOW_LEVEL : WINDOW_LEVEL,
		.compress_small = true,
		.clock_id = CLOCK_MONOTONIC,
		.clock_ns = daemon->started.clock_ns,
		.wall_clock_ns = daemon->started.wall_ns,
		.frequency_hz = daemon->limit.hz,
		.idle_skipped = true,
		.without_build_id_list = true,
		.machine = &daemon->machine,
	};

	machine_renew(&daemon->machine, daemon->cpus);
	settings.sources = capture_sources(session->capture, &settings.source_count);
	return settings;
}

/* Writes the file that the store has given a name. */
static int write_file(struct daemon *daemon, const char *path, const u64 *losses)
{
	struct perfdata_writer_settings settings = writer_settings(daemon, &daemon->session->line,
								   path);
	struct spending spent = daemon_spending(daemon);
	struct perfdata_extra extra = {
		.cost_user_ns = spent.own_ns - daemon->spent.own_ns,
		.cost_bpf_ns = spent.bpf_ns - daemon->spent.bpf_ns,
		.wall_ns = daemon->end_ns - daemon->started.clock_ns,
	};
	struct perfdata_writer *writer;
	int error = perfdata_writer_open(&settings, &writer), end_error;

	if (error)
		return error;
	memcpy(extra.losses, losses, sizeof(extra.losses));
	perfdata_writer_set_extra(writer, &extra);
	error = window_hand_over(daemon->session->window, perfdata_writer_sink(writer));
	end_error = perfdata_writer_end(writer);
	if (!error)
		error = end_error;
	/* A window with holes would be taken for a quiet one. */
	if (!error && perfdata_writer_dropped(writer))
		error = fail(-ENOSPC, "free some space", "cannot write %s", path);
	end_error = perfdata_writer_close(writer);
	return error ? error : end_error;
}

static int store_window(struct daemon *daemon, const struct store_window *window)
{
	const char *path;
	int error = store_begin(daemon->store, window->start_ns, &path);

	if (error)
		return error;
	error = write_file(daemon, path, window->losses);
	if (!error)
		return store_commit(daemon->store, window);
	store_abandon(daemon->store);
	return error;
}

static u64 lost_of(const struct store_window *window)
{
	u64 lost = 0;

	for (u32 row = 0; row < COUNTER_COUNT; row++)
		lost += counter_rows[row].kind == LOST ? window->losses[row] : 0;
	return lost;
}

/* For `systemctl status`. */
static void tell_status(struct daemon *daemon, const struct store_window *window)
{
	struct spending spent = daemon_spending(daemon);
	u64 wall_ns = window->end_ns - window->start_ns;
	double percent = 100.0 *
			 (double)(spent.own_ns - daemon->spent.own_ns + spent.bpf_ns -
				  daemon->spent.bpf_ns) /
			 (double)(wall_ns ? wall_ns : 1);
	char samples[NUMBER_TEXT_BYTES], lost[NUMBER_TEXT_BYTES], bytes[NUMBER_TEXT_BYTES];
	char push[96];

	notify_send("STATUS=last window: %s samples, %s lost, %.2f%% of one CPU; %zu windows, %s%s",
		    number_format_count(window->samples, samples),
		    number_format_count(lost_of(window), lost), percent, store_count(daemon->store),
		    number_format_bytes(store_bytes(daemon->store), bytes),
		    daemon_push_status(daemon, push));
}

/* Says when writing begins to fail, and when it works again. */
static void note_outcome(struct daemon *daemon, int error)
{
	if (error && !daemon->cannot_write)
		daemon_log(LOG_LEVEL_WARNING, "a window is lost: %s; going on", fail_sentence());
	if (!error && daemon->cannot_write)
		daemon_log(LOG_LEVEL_WARNING,
			   "windows can be written again; lost since the start: %llu",
			   (unsigned long long)store_lost_windows(daemon->store));
	daemon->cannot_write = error;
}

static void note_names(struct daemon *daemon)
{
	int error = daemon_names_write_error(daemon->names);

	if (error && !daemon->cannot_keep_names)
		daemon_log(LOG_LEVEL_WARNING,
			   "names of functions cannot be written: %s; going on without",
			   strerror(-error));
	if (!error && daemon->cannot_keep_names)
		daemon_log(LOG_LEVEL_WARNING, "names of functions can be written again");
	daemon->cannot_keep_names = error;
}

static bool is_alive(u32 pid, u32 tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, tid);
	return !access(path, F_OK);
}

void daemon_write_window(struct daemon *daemon)
{
	struct window_counts counts;
	struct store_window window = {
		.start_ns = daemon->started.wall_ns,
		.end_ns = wall_of(daemon, daemon->end_ns),
		.rate_hz = daemon->lowest_hz,
	};
	int error;

	if (daemon->lowest_hz < daemon->limit.wanted_hz)
		window.flags = STORE_RATE_LOWERED;
	window_settle(daemon->session->window);
	counts = window_counts(daemon->session->window);
	window.samples = counts.samples;
	losses_of(daemon->session, &counts, window.losses);
	error = store_window(daemon, &window);
	note_outcome(daemon, error);
	if (!error) {
		daemon_push_window(daemon, &window);
		tell_status(daemon, &window);
	}
	daemon_metrics_window(daemon, error ? NULL : &window);
	if (window.losses[COUNTER_side_band_lost] || window.losses[COUNTER_cpu_unwatched])
		window_forget_dead(daemon->session->window, is_alive, daemon->end_ns);
	window_turn(daemon->session->window);
	note_names(daemon);
	daemon_names_end_window(daemon->names);
	daemon->windows++;
}
