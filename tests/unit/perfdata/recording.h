/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small recording with one event of every kind, written and read back.
 */
#ifndef TESTS_PERFDATA_RECORDING_H
#define TESTS_PERFDATA_RECORDING_H

#include "base/file.h"
#include "base/memory.h"
#include "bpfprof/counters.h"
#include "perfdata/perfdata.h"
#include "unit/perfdata/collect.h"
#include "unit/perfdata/processes.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3, SAMPLES_EACH_ROUND = 5 };

static const char *const recording_command[] = {"bpfprof", "record", "-a"};

static const struct event_source recording_sources[] = {
	{.name = "cpu-clock",
	 .type = 1,
	 .rate = 99,
	 .is_frequency = true,
	 .has_chain = true,
	 .has_time = true,
	 .has_cpu = true,
	 .has_period = true},
	{.name = "page-faults:u",
	 .type = 1,
	 .config = 2,
	 .rate = 7,
	 .exclude_kernel = true,
	 .has_time = true,
	 .has_cpu = true,
	 .has_period = true,
	 .sample_bits = 8 | 1 << 21 /* ADDR, CGROUP */},
};

static inline struct perfdata_writer_settings recording_settings(const char *path)
{
	return (struct perfdata_writer_settings){
		.path = path,
		.sources = recording_sources,
		.source_count = 1,
		.command_line = recording_command,
		.command_words = 3,
		.clock_id = 1,
		.wall_clock_ns = 1790000000000000000,
		.clock_ns = 1000000000,
		.frequency_hz = 99,
	};
}

/* Samples of round `round`, from time (round + 3) * 1000 on. */
static inline int recording_put_round(struct event_sink *sink, u32 round, u32 source_count)
{
	static const struct frame frames[] = {
		{0xffffffff81000010, SPACE_KERNEL, 0},
		{0xffffffff81000020, SPACE_KERNEL, 0},
		{0x400010, SPACE_USER, 0},
		{0x400020, SPACE_USER, 0},
	};
	int error = 0;

	for (u32 i = 0; i < SAMPLES_EACH_ROUND && !error; i++) {
		u64 time_ns = (round + 3) * 1000 + i;
		u32 source = i % source_count;
		struct sample sample = {.time_ns = time_ns,
					.weight = 10101010,
					.address = frames[0].address,
					.data_address = source ? 0xabc0 + i : 0,
					.cgroup = source ? 70 + i : 0,
					.source = source,
					.pid = 100,
					.tid = 101,
					.cpu = i % 2,
					.space = SPACE_KERNEL,
					.cut = CUT_TOO_DEEP,
					.walked = WALK_EH_FRAME | WALK_FRAME_POINTER,
					.frame_count = source ? 0 : ARRAY_COUNT(frames),
					.frames = frames};

		error = sink->on_sample(sink, &sample);
	}
	return error ? error : sink->on_round(sink, (round + 4) * 1000);
}

/* A path for a recording in a new folder; recording_remove() it. */
static inline char *recording_path(void)
{
	char folder[] = "/tmp/perfdata-test-XXXXXX";

	assert_non_null(mkdtemp(folder));
	return must_format("%s/perf.data", folder);
}

/* Removes the recording's folder and all in it. */
static inline void recording_remove(char *path)
{
	CLEANUP(freep)
	char *command = must_format("rm -r '%.*s'", (int)(strrchr(path, '/') - path), path);

	assert_int_equal(system(command), 0);
	free(path);
}

/* Writes a whole recording. */
static inline void recording_write(const struct perfdata_writer_settings *settings)
{
	struct perfdata_extra extra = {.losses = {[COUNTER_lost_ring_full] = 3}, .wall_ns = 5};
	struct perfdata_writer *writer;
	struct event_sink *sink;

	assert_int_equal(perfdata_writer_open(settings, &writer), 0);
	sink = perfdata_writer_sink(writer);
	recording_put_processes(sink);
	for (u32 round = 0; round < ROUNDS; round++) {
		assert_int_equal(recording_put_round(sink, round, settings->source_count), 0);
		assert_int_equal(perfdata_writer_flush(writer), 0);
	}
	assert_int_equal(sink->on_exit(sink, &(struct thread_life){.time_ns = 9000,
								   .pid = 100,
								   .tid = 101,
								   .parent_pid = 100,
								   .parent_tid = 100}),
			 0);
	perfdata_writer_set_extra(writer, &extra);
	assert_int_equal(perfdata_writer_close(writer), 0);
}

/* The whole file. */
static inline struct bytes recording_bytes(const char *path)
{
	struct bytes bytes = {0};
	char *text;

	assert_int_equal(file_read(path, 1 << 26, &text, &bytes.length), 0);
	bytes.start = (u8 *)text;
	return bytes;
}

#endif
