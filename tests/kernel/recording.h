/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live recording into memory, for the tests that load BPF.
 */
#ifndef TESTS_KERNEL_RECORDING_H
#define TESTS_KERNEL_RECORDING_H

#include "base/fail.h"
#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"
#include "bpfprof/counters.h"
#include "capture/capture.h"
#include "kernel/amount.h"
#include "kernel/permission.h"
#include "unit/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* What the kernel gave us. Frames of sample i: frames.items[first_frames.items[i]] and following.
 */
struct recording {
	struct event_sink sink;
	struct capture *capture;
	VEC(struct sample) samples;
	VEC(size_t) first_frames;
	VEC(struct frame) frames;
	struct idmap exec_names; /* pids that got a name from exec */
	struct idmap forks;	 /* pids of new processes */
	struct capture_totals totals;
	u64 executable_mappings, side_band_losses;
};

static inline int keep_sample(struct event_sink *self, const struct sample *sample)
{
	struct recording *recording = (struct recording *)self;

	*vec_add(&recording->samples) = *sample;
	*vec_add(&recording->first_frames) = recording->frames.count;
	for (u32 i = 0; i < sample->frame_count; i++)
		*vec_add(&recording->frames) = sample->frames[i];
	return 0;
}

static inline int keep_name(struct event_sink *self, const struct thread_name *name)
{
	if (name->is_exec)
		*idmap_place(&((struct recording *)self)->exec_names, name->pid) = 1;
	return 0;
}

static inline int keep_fork(struct event_sink *self, const struct thread_life *life)
{
	if (life->pid == life->tid && !life->is_synthesized)
		*idmap_place(&((struct recording *)self)->forks, life->pid) = 1;
	return 0;
}

static inline int keep_mapping(struct event_sink *self, const struct mapping *mapping)
{
	if (mapping->time_ns && !mapping->is_data)
		((struct recording *)self)->executable_mappings++;
	return 0;
}

static inline int keep_loss(struct event_sink *self, const struct loss *loss)
{
	((struct recording *)self)->side_band_losses += loss->count;
	return 0;
}

static inline struct parsed_event software(u64 config, u64 rate, bool is_frequency)
{
	return (struct parsed_event){
		.name = "software event",
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.rate = rate,
		.is_frequency = is_frequency,
	};
}

/* Opens; what the settings do not say is cpu-clock at 999 Hz, 127 frames. */
static inline int recording_open(struct recording *recording, struct capture_settings *settings)
{
	static struct parsed_event clock;

	*recording = (struct recording){.sink = {.on_sample = keep_sample,
						 .on_name = keep_name,
						 .on_fork = keep_fork,
						 .on_mapping = keep_mapping,
						 .on_loss = keep_loss}};
	clock = software(PERF_COUNT_SW_CPU_CLOCK, 999, true);
	if (!settings->event_count) {
		settings->events = &clock;
		settings->event_count = 1;
	}
	if (!settings->max_stack)
		settings->max_stack = 127;
	return capture_open(settings, &recording->capture);
}

/* The same, and starts. */
static inline int recording_start(struct recording *recording, struct capture_settings *settings)
{
	int error = recording_open(recording, settings);

	return error ? error : capture_start(recording->capture, &recording->sink);
}

/* Drains as `record` does, until there are `samples` of them or the command has ended. */
static inline void recording_run(struct recording *recording, size_t samples)
{
	pid_t command = capture_command(recording->capture);
	struct pollfd ready = {.fd = capture_fd(recording->capture), .events = POLLIN};
	bool has_ended = false;

	while (!has_ended && recording->samples.count < samples) {
		poll(&ready, 1, 50);
		has_ended = command && waitpid(command, NULL, WNOHANG) == command;
		assert_int_equal(capture_drain(recording->capture), 0);
	}
	if (command && !has_ended) {
		kill(command, SIGKILL);
		waitpid(command, NULL, 0);
	}
}

/* Stops, reads the totals and closes. */
static inline void recording_stop(struct recording *recording)
{
	assert_int_equal(capture_stop(recording->capture), 0);
	capture_totals(recording->capture, &recording->totals);
	capture_close(recording->capture);
	recording->capture = NULL;
}

static inline void recording_release(struct recording *recording)
{
	capture_close(recording->capture);
	vec_release(&recording->samples);
	vec_release(&recording->first_frames);
	vec_release(&recording->frames);
	idmap_release(&recording->exec_names);
	idmap_release(&recording->forks);
}

/* Sums the counters of one kind. */
static inline u64 sum_of(const struct recording *recording, enum counter_kind kind)
{
	u64 sum = 0;

	for (u32 i = 0; i < COUNTER_COUNT; i++)
		if (counter_rows[i].kind == kind)
			sum += recording->totals.counters[i];
	return sum;
}

/* Whether everything that was seen is in exactly one of sent, skipped and lost, and is what the
 * kernel counted. */
static inline void assert_adds_up(const struct recording *recording)
{
	const u64 *counters = recording->totals.counters;

	assert_int_equal(counters[COUNTER_overflows], sum_of(recording, SENT) +
							      sum_of(recording, SKIPPED) +
							      sum_of(recording, LOST));
	assert_int_equal(counters[COUNTER_samples_sent], recording->samples.count);
	assert_int_equal(counters[COUNTER_overflows], recording->totals.overflows_expected);
}

/* The path of a workload. Owned by the caller. */
static inline char *workload(const char *name)
{
	const char *folder = getenv("WORKLOADS");

	return must_format("%s/%s", folder ? folder : "build/tests/workloads", name);
}

#endif
