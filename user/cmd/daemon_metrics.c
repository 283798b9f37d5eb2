/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What windows tell is added up when they end; what this process takes is looked at when somebody
 * asks.
 */
#include "cmd/daemon_metrics.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/daemon_push.h"
#include "continuous/continuous.h"
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct daemon_metrics {
	pthread_mutex_t mutex; /* of `now`, which the server's thread reads */
	struct metrics now;
	struct metrics_server *server; /* NULL: none */
	char *address, *file;	       /* as the settings have them; NULL: none */
	bool cannot_write;
	const struct confined *readers[2]; /* their time is ours; borrowed */
};

static bool is_wanted(const char *text)
{
	return text && *text && strcmp(text, "none") != 0;
}

bool daemon_metrics_is_wanted(const struct daemon *daemon)
{
	return is_wanted(daemon->session->settings.metrics);
}

static void write_metrics(void *context, FILE *out)
{
	struct daemon_metrics *metrics = context;
	struct metrics now;
	struct rusage usage;

	pthread_mutex_lock(&metrics->mutex);
	now = metrics->now;
	pthread_mutex_unlock(&metrics->mutex);
	getrusage(RUSAGE_SELF, &usage);
	now.own_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	for (size_t i = 0; i < ARRAY_COUNT(metrics->readers); i++)
		now.own_ns += confined_cpu_ns(metrics->readers[i]);
	now.resident_bytes = own_resident_bytes();
	metrics_write(&now, clock_ns(CLOCK_REALTIME), out);
}

/* --- the file --- */

enum { ALL_READ = 0644 }; /* whatever the umask: who collects it is another user */

/* A new file in any case: others may write into that folder, and have put a link or a file there
 * that the number of our process gives away. One that a daemon of the same number left is in no
 * one's way. */
static FILE *open_anew(const char *path)
{
	FILE *out;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, ALL_READ);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !out)
		close(fd);
	return out;
}

/* Who reads it finds a whole one, the old or the new. */
static int write_file(struct daemon_metrics *metrics)
{
	CLEANUP(freep) char *first = must_format("%s.%d", metrics->file, (int)getpid());
	FILE *out = open_anew(first);
	int error = out ? 0 : -errno;

	if (out) {
		write_metrics(metrics, out);
		error = ferror(out) ? -EIO : 0;
		if (!error && fchmod(fileno(out), ALL_READ))
			error = -errno;
		if (fclose(out) && !error)
			error = -errno;
	}
	if (!error && rename(first, metrics->file))
		error = -errno;
	if (!error)
		return 0;
	if (out)
		unlink(first);
	return fail(error, NULL, "cannot write the metrics to %s", metrics->file);
}

static void update_file(struct daemon_metrics *metrics)
{
	int error = metrics->file ? write_file(metrics) : 0;

	if (error && !metrics->cannot_write)
		daemon_log(LOG_LEVEL_WARNING, "%s", fail_sentence());
	if (!error && metrics->cannot_write)
		daemon_log(LOG_LEVEL_INFO, "metrics can be written again");
	metrics->cannot_write = error;
}

/* --- what is told --- */

static void take_state(struct daemon *daemon)
{
	struct metrics *now = &daemon->metrics->now;

	now->windows_lost = store_lost_windows(daemon->store);
	now->store_windows = store_count(daemon->store);
	now->store_bytes = store_bytes(daemon->store);
	now->rate_hz = daemon->limit.hz;
	now->wanted_hz = daemon->limit.wanted_hz;
	now->kernel_bytes = own_bpf_bytes();
	now->pushes = daemon_push_totals(daemon, &now->push);
}

static void add_window(struct daemon *daemon, const struct store_window *window)
{
	struct metrics *now = &daemon->metrics->now;
	struct spending spent = daemon_spending(daemon);

	now->bpf_ns += spent.bpf_ns - daemon->spent.bpf_ns;
	if (!window)
		return;
	now->windows++;
	now->samples += window->samples;
	now->window_end_ns = window->end_ns;
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		now->losses[i] += window->losses[i];
}

void daemon_metrics_window(struct daemon *daemon, const struct store_window *window)
{
	struct daemon_metrics *metrics = daemon->metrics;

	if (!metrics)
		return;
	pthread_mutex_lock(&metrics->mutex);
	add_window(daemon, window);
	take_state(daemon);
	pthread_mutex_unlock(&metrics->mutex);
	update_file(metrics);
}

/* --- beginning and end --- */

/* Begins to answer at another address, beside what answers already. Owned by the caller. */
static int begin_to_answer(struct daemon_metrics *metrics, const char *address,
			   struct metrics_server **ret_server)
{
	const struct metrics_server_settings settings = {address, write_metrics, metrics};
	int error = metrics_server_start(&settings, ret_server);

	if (!error)
		daemon_log(LOG_LEVEL_INFO, "metrics at %s", metrics_server_url(*ret_server));
	return error;
}

/* Whether that address has the port of what answers. */
static bool has_its_port(const struct daemon_metrics *metrics, const char *address)
{
	const char *colon = strrchr(address, ':');
	const char *wanted = colon ? colon + 1 : address;
	const char *port = strrchr(metrics_server_url(metrics->server), ':') + 1;

	return strlen(wanted) == strcspn(port, "/") && !strncmp(port, wanted, strlen(wanted));
}

/* What answers has to end before another address of the same port can be had; it comes back, with
 * the sentence of why, if that was in vain. */
static int answer_instead(struct daemon_metrics *metrics, const char *address)
{
	int error;

	metrics_server_stop(TAKE(metrics->server));
	error = begin_to_answer(metrics, address, &metrics->server);
	if (error)
		(void)begin_to_answer(metrics, metrics->address, &metrics->server);
	return error;
}

/* Whoever asks is answered in the old place until there is a new one. */
static int answer_at(struct daemon_metrics *metrics, const char *address)
{
	struct metrics_server *fresh = NULL;
	int error = begin_to_answer(metrics, address, &fresh);

	if (error == -EADDRINUSE && metrics->server && has_its_port(metrics, address))
		error = answer_instead(metrics, address);
	if (error)
		return error;
	if (fresh) {
		metrics_server_stop(metrics->server);
		metrics->server = fresh;
	}
	free(metrics->address);
	metrics->address = must_copy(address);
	return 0;
}

static void end_answering(struct daemon_metrics *metrics)
{
	metrics_server_stop(TAKE(metrics->server));
	free(TAKE(metrics->address));
}

static int take_settings(struct daemon *daemon)
{
	const struct daemon_settings *settings = &daemon->session->settings;
	struct daemon_metrics *metrics = daemon->metrics;
	const char *address = is_wanted(settings->metrics) ? settings->metrics : NULL;
	const char *file = is_wanted(settings->metrics_file) ? settings->metrics_file : NULL;
	bool is_same = address && metrics->server && !strcmp(address, metrics->address);
	int error = 0;

	free(metrics->file);
	metrics->file = must_copy(file);
	metrics->cannot_write = false;
	update_file(metrics);
	if (!address)
		end_answering(metrics);
	else if (!is_same && !daemon->may_connect)
		error = fail_plain(-EPERM, "restart the daemon",
				   "it gave up connections when it started without --push and "
				   "--metrics");
	else if (!is_same)
		error = answer_at(metrics, address);
	return error;
}

int daemon_metrics_start(struct daemon *daemon)
{
	const struct daemon_settings *settings = &daemon->session->settings;

	if (!is_wanted(settings->metrics) && !is_wanted(settings->metrics_file))
		return 0;
	daemon->metrics = must_alloc(sizeof(*daemon->metrics));
	pthread_mutex_init(&daemon->metrics->mutex, NULL);
	daemon->metrics->now.version = BPFPROF_VERSION;
	daemon->metrics->readers[0] = daemon->readers;
	daemon->metrics->readers[1] = daemon->file_reader;
	take_state(daemon);
	return take_settings(daemon);
}

void daemon_metrics_reload(struct daemon *daemon)
{
	int error = daemon->metrics ? take_settings(daemon) : daemon_metrics_start(daemon);

	if (error && daemon->metrics->server)
		daemon_log(LOG_LEVEL_WARNING, "%s; metrics are still at %s", fail_sentence(),
			   metrics_server_url(daemon->metrics->server));
	else if (error)
		daemon_log(LOG_LEVEL_WARNING, "%s", fail_sentence());
}

void daemon_metrics_stop(struct daemon_metrics *metrics)
{
	if (!metrics)
		return;
	metrics_server_stop(metrics->server);
	pthread_mutex_destroy(&metrics->mutex);
	free(metrics->address);
	free(metrics->file);
	free(metrics);
}
