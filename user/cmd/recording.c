/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs one recording: capture → perf.data, a loop between them, and its end.
 */
#include "cmd/recording.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/loop.h"
#include "base/memory.h"
#include "bpfprof/counters.h"
#include "cmd/command_line.h"
#include "cmd/live_stitching.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const u64 tick_ns = 250000000, flush_ns = 1000000000;

struct recording {
	struct record_plan *plan;
	struct capture *capture;
	struct live_stitching *stitching; /* NULL: what comes is written as it is */
	struct perfdata_writer *writer;
	struct loop *loop;
	struct recording_result result;
	u64 started_ns, flushed_ns;
	bool command_ended, was_told_disk_full;
};

static u64 timeval_ns(struct timeval time)
{
	return (u64)time.tv_sec * 1000000000 + (u64)time.tv_usec * 1000;
}

/* User and system time of this process so far. */
static u64 own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
}

/* --- while it runs ------------------------------------------------------------------------------
 */

static void update_result(struct recording *recording)
{
	struct recording_result *result = &recording->result;
	u64 *counters = result->totals.counters;
	u64 dropped = perfdata_writer_dropped(recording->writer);

	capture_totals(recording->capture, &result->totals);
	/* Sent by the kernel, but not in the file: lost. */
	counters[COUNTER_lost_disk_full] += dropped;
	if (counters[COUNTER_samples_sent] < dropped) {
		counters[COUNTER_samples_counted] -= dropped - counters[COUNTER_samples_sent];
		dropped = counters[COUNTER_samples_sent];
	}
	counters[COUNTER_samples_sent] -= dropped;
	result->wall_ns = clock_ns(CLOCK_MONOTONIC) - recording->started_ns;
	result->cpu_ns = own_cpu_ns();
	result->file_bytes = perfdata_writer_bytes(recording->writer);
}

static struct perfdata_extra extra_of(const struct recording *recording)
{
	const struct recording_result *result = &recording->result;
	struct perfdata_extra extra = {
		.cost_user_ns = result->cpu_ns,
		.cost_bpf_ns = result->totals.bpf_ns,
		.wall_ns = result->wall_ns,
	};

	memcpy(extra.losses, result->totals.counters, sizeof(extra.losses));
	return extra;
}

static void set_extra(struct recording *recording)
{
	struct perfdata_extra extra = extra_of(recording);

	perfdata_writer_set_extra(recording->writer, &extra);
}

/* A full disk does not end a recording, which may be that of a command worth more than its profile:
 * it is said once, and what does not fit is counted. */
static void note_write_error(struct recording *recording)
{
	if (!recording->was_told_disk_full)
		recording_say(fail_sentence());
	recording->was_told_disk_full = true;
}

static int flush(struct recording *recording, u64 now_ns)
{
	int error;

	recording->flushed_ns = now_ns;
	set_extra(recording);
	error = perfdata_writer_flush(recording->writer);
	if (error == -EPIPE)
		return error;
	if (error)
		note_write_error(recording);
	return 0;
}

static int on_readable(void *context, u64 fd)
{
	struct recording *recording = context;

	(void)fd;
	return capture_drain(recording->capture);
}

static int on_tick(void *context, u64 times)
{
	struct recording *recording = context;
	const struct record_settings *settings = recording->plan->settings;
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);
	int error = capture_drain(recording->capture);

	(void)times;
	if (error)
		return error;
	update_result(recording);
	/* A command owns the terminal: a moving line would run through its output. */
	if (!settings->quiet && !recording->result.has_command) {
		CLEANUP(freep) char *status = recording_status(&recording->result);

		progress_line(status);
	}
	if (capture_targets_ended(recording->capture))
		loop_end(recording->loop, 0);
	return now_ns - recording->flushed_ns >= flush_ns ? flush(recording, now_ns) : 0;
}

static int on_window(void *context, u64 times)
{
	struct recording *recording = context;

	(void)times;
	return capture_turn(recording->capture);
}

static int on_duration(void *context, u64 times)
{
	struct recording *recording = context;

	(void)times;
	loop_end(recording->loop, 0);
	return 0;
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int on_signal(void *context, u64 number)
{
	struct recording *recording = context;
	int status;

	if (number != SIGCHLD) {
		recording->result.signal = (int)number;
		loop_end(recording->loop, 0);
		return 0;
	}
	if (!recording->result.has_command || recording->command_ended ||
	    waitpid(capture_command(recording->capture), &status, WNOHANG) <= 0)
		return 0;
	recording->command_ended = true;
	recording->result.command_status = exit_status(status);
	loop_end(recording->loop, 0);
	return 0;
}

/* --- beginning ----------------------------------------------------------------------------------
 */

/* Signals that end a recording. One that was ignored from the start stays ignored if it is SIGHUP:
 * that is how nohup works. */
static int listen_to_signals(struct recording *recording)
{
	int signals[4] = {SIGINT, SIGTERM, SIGCHLD, SIGHUP};
	struct sigaction hangup;
	size_t count = ARRAY_COUNT(signals);

	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler == SIG_IGN)
		count--;
	return loop_on_signals(recording->loop, signals, count,
			       (struct loop_handler){on_signal, recording});
}

static int prepare_loop(struct recording *recording)
{
	const struct record_settings *settings = recording->plan->settings;
	u64 window_ns = settings->window_ns ? settings->window_ns : AGGREGATE_WINDOW_NS;
	int error = loop_open(&recording->loop);

	if (!error)
		error = listen_to_signals(recording);
	if (!error)
		error = loop_on_readable(recording->loop, capture_fd(recording->capture),
					 (struct loop_handler){on_readable, recording});
	if (!error)
		error = loop_on_timer(recording->loop, tick_ns,
				      (struct loop_handler){on_tick, recording});
	if (!error && settings->aggregate)
		error = loop_on_timer(recording->loop, window_ns,
				      (struct loop_handler){on_window, recording});
	return error;
}

/* A stream is for who reads along, mostly a program that knows perf's plain records. */
static bool wants_compression(const struct record_settings *settings)
{
	return settings->compress_level &&
	       (settings->has_compression || strcmp(settings->output, "-"));
}

static int open_writer(struct recording *recording)
{
	const struct record_settings *settings = recording->plan->settings;
	CLEANUP(command_line_release) struct command_line line = command_line_read();
	struct perfdata_writer_settings writer = {
		.path = settings->output,
		.path_remedy = "name another file with -o",
		.compress = wants_compression(settings),
		.compress_level = (int)settings->compress_level,
		.clock_id = CLOCK_MONOTONIC,
		.clock_ns = clock_ns(CLOCK_MONOTONIC),
		.wall_clock_ns = clock_ns(CLOCK_REALTIME),
		.frequency_hz = recording->plan->frequency_hz,
		.idle_skipped = !settings->wants_idle,
	};

	writer.sources = capture_sources(recording->capture, &writer.source_count);
	writer.branch_depth = capture_branch_depth(recording->capture);
	if (settings->wants_lbr && !settings->no_stitch)
		recording->stitching = live_stitching_new(&writer);
	writer.command_line = line.words;
	writer.command_words = (int)line.count;
	return perfdata_writer_open(&writer, &recording->writer);
}

/* The command could not be run, in spite of what record_plan.c saw: its interpreter is missing, or
 * it has the wrong format. Capture has buried it. */
static void note_command_error(struct recording *recording, int error)
{
	if (recording->plan->command && !capture_command(recording->capture))
		recording->plan->command_error = error == -ENOENT ? 127 : 126;
}

/* What the kernel did not give of what call stacks of branch records are best made from. */
static void print_branch_remarks(const struct recording *recording)
{
	u32 count;
	const struct event_source *sources = capture_sources(recording->capture, &count);

	if (!recording->plan->settings->wants_lbr)
		return;
	if (!(sources[0].branch_bits & PERF_SAMPLE_BRANCH_HW_INDEX))
		fprintf(stderr, "bpfprof: the kernel does not tell the register of the newest "
				"call: deep stacks are put together by their content alone\n");
	if (!capture_branch_depth(recording->capture))
		fprintf(stderr, "bpfprof: the kernel does not tell how many calls the CPU "
				"remembers: perf cannot stitch these stacks\n");
}

static void print_remarks(const struct recording *recording)
{
	const struct record_plan *plan = recording->plan;

	if (plan->settings->quiet)
		return;
	for (size_t i = 0; i < plan->remarks.count; i++)
		fprintf(stderr, "bpfprof: %s\n", plan->remarks.items[i]);
	print_branch_remarks(recording);
}

/* Where events go: into the file, maybe through the stitching. */
static struct event_sink *sink_of(struct recording *recording)
{
	struct event_sink *sink = perfdata_writer_sink(recording->writer);

	return recording->stitching ? live_stitching_sink(recording->stitching, sink) : sink;
}

static int start(struct recording *recording)
{
	struct record_plan *plan = recording->plan;
	int error = features_require();

	if (!error)
		error = capture_open(&plan->capture, &recording->capture);
	if (error)
		return error;
	/* Not before the command was forked, which would inherit it. */
	signal(SIGPIPE, SIG_IGN);
	error = prepare_loop(recording);
	if (!error)
		error = open_writer(recording);
	if (error)
		return error;
	print_remarks(recording);
	error = capture_start(recording->capture, sink_of(recording));
	if (error) {
		note_command_error(recording, error);
		return error;
	}
	recording->started_ns = capture_started_ns(recording->capture);
	recording->result.start_cpu_ns = own_cpu_ns();
	recording->result.has_command = plan->command;
	error = flush(recording, recording->started_ns); /* who runs already is worth keeping */
	if (!error && plan->settings->duration_ns)
		error = loop_on_timer(recording->loop, plan->settings->duration_ns,
				      (struct loop_handler){on_duration, recording});
	return error;
}

/* --- end ----------------------------------------------------------------------------------------
 */

/* From here on a second signal ends the program at once: the file is whole at any instant. */
static void let_signals_kill(struct recording *recording)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	loop_close(TAKE(recording->loop));
}

/* As perf does: a command that outlives its recording is asked to end, and waited for. */
static void end_command(struct recording *recording)
{
	pid_t command = capture_command(recording->capture);
	int status;

	if (!recording->result.has_command || recording->command_ended)
		return;
	kill(command, SIGTERM);
	while (waitpid(command, &status, 0) < 0 && errno == EINTR)
		;
}

/* Bytes of the file as it was left; `otherwise` for a stream. */
static u64 final_bytes(const char *path, u64 otherwise)
{
	struct stat status;

	if (!strcmp(path, "-") || stat(path, &status))
		return otherwise;
	return (u64)status.st_size;
}

/* What the CPU recorded of calls becomes call chains, if all of it is there. */
static void stitch(struct recording *recording)
{
	struct perfdata_extra extra = extra_of(recording);

	if (recording->stitching && !recording->result.could_not_write &&
	    live_stitching_finish(recording->stitching, &extra))
		recording_say(fail_sentence());
}

static int finish(struct recording *recording)
{
	struct recording_result *result = &recording->result;
	int error = capture_stop(recording->capture), write_error;
	u64 wall_ns = clock_ns(CLOCK_MONOTONIC) - recording->started_ns;

	update_result(recording);
	result->wall_ns = wall_ns;
	set_extra(recording);
	write_error = perfdata_writer_end(recording->writer);
	update_result(recording); /* what the disk did not take in the end */
	result->wall_ns = wall_ns;
	if (!write_error)
		write_error = perfdata_writer_close(TAKE(recording->writer));
	result->could_not_write = write_error || result->totals.counters[COUNTER_lost_disk_full];
	stitch(recording);
	result->file_bytes = final_bytes(recording->plan->settings->output, result->file_bytes);
	if (write_error && write_error != -EPIPE)
		note_write_error(recording);
	return error;
}

/* Whoever read the stream has gone: no use in going on. */
static int name_error(int error)
{
	if (error == -EPIPE)
		return fail_plain(error, NULL, "the reader of the stream has gone");
	return error;
}

static void recording_release(struct recording *recording)
{
	progress_clear();
	loop_close(recording->loop);
	live_stitching_free(recording->stitching);
	perfdata_writer_close(recording->writer);
	capture_close(recording->capture);
	signal(SIGPIPE, SIG_DFL);
}

int recording_run(struct record_plan *plan, struct recording_result *ret_result)
{
	CLEANUP(recording_release) struct recording recording = {.plan = plan};
	int error = start(&recording), stop_error;

	if (error)
		return name_error(error);
	error = loop_run(recording.loop);
	let_signals_kill(&recording);
	progress_clear();
	stop_error = finish(&recording);
	recording.result.stitching = recording.stitching;
	recording_print_summary(plan, &recording.result);
	recording.result.stitching = NULL; /* it goes with the recording */
	end_command(&recording);
	*ret_result = recording.result;
	return name_error(error ? error : stop_error);
}
