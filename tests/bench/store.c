/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a store of one-minute windows out of a few recordings, which come again and again, each
 * time with another moment in place of the one that it tells by both clocks.
 *
 * usage: store DIRECTORY WINDOWS FIRST FILE...
 *        store sums DIRECTORY
 *
 * The second makes what the daemon makes of windows whose time is over. FIRST is the start of the
 * first window, seconds since 1970. The recordings should be as long as a window; what they count
 * is not looked at.
 */
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "cmd/daemon_sums.h"
#include "continuous/continuous.h"
#include "perfdata/perfdata.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull
#define MINUTE_NS (60 * SECOND_NS)

struct recording {
	struct bytes bytes;
	u64 wall_clock_ns, clock_ns, first_ns;
	u64 samples;
	u32 rate_hz;
};

static void check(int error)
{
	if (!error)
		return;
	fprintf(stderr, "store: %s\n", fail_sentence());
	exit(1);
}

struct counting {
	struct event_sink sink; /* first */
	u64 samples, first_ns;
};

static int count_sample(struct event_sink *sink, const struct sample *sample)
{
	struct counting *counting = (struct counting *)sink;

	if (!counting->samples)
		counting->first_ns = sample->time_ns;
	counting->samples += sample_count(sample);
	return 0;
}

static struct recording read_recording(const char *path)
{
	struct counting counting = {.sink = {.on_sample = count_sample}};
	struct perfdata *data;
	const struct event_source *sources;
	const struct perfdata_header *header;
	struct recording recording = {0};
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	u32 count;

	check(perfdata_open(path, &data));
	check(perfdata_read(data, &counting.sink));
	check(file_map_fd(fd, &recording.bytes));
	sources = perfdata_sources(data, &count);
	header = perfdata_header(data);
	recording.wall_clock_ns = header->wall_clock_ns;
	recording.clock_ns = header->clock_ns;
	recording.first_ns = counting.first_ns;
	recording.samples = counting.samples;
	recording.rate_hz = sources[0].is_frequency ? (u32)sources[0].rate : 0;
	perfdata_close(data);
	return recording;
}

/* Writes a copy that was taken at `start_ns`. */
static void write_copy(const struct recording *recording, const char *path, u64 start_ns)
{
	CLEANUP(freep)
	char *copy = must_copy_bytes(recording->bytes.start, recording->bytes.length);
	CLEANUP(closep) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	u64 wall_ns = start_ns - (recording->first_ns - recording->clock_ns);
	char *place = memmem(copy, recording->bytes.length, &recording->wall_clock_ns, sizeof(u64));

	/* also when it was recorded on a kernel that does not tell it */
	if (place && recording->wall_clock_ns)
		memcpy(place, &wall_ns, sizeof(wall_ns));
	check(file_write_all(fd, copy, recording->bytes.length));
}

static void make_sums(const char *directory)
{
	struct daemon_sums *sums;
	struct store *store;
	u64 start_ns;

	check(store_open(directory, STORE_WRITE, &store));
	check(daemon_sums_open(directory, &sums));
	while (store_sums_wanted(store, &start_ns)) {
		daemon_sums_go_on(sums, store);
		usleep(1000);
	}
	daemon_sums_close(sums);
	printf("%llu bytes\n", (unsigned long long)store_bytes(store));
	store_close(store);
}

int main(int argc, char **argv)
{
	u32 windows = argc > 4 ? (u32)strtoul(argv[2], NULL, 10) : 0;
	u64 first_ns = argc > 4 ? strtoull(argv[3], NULL, 10) * SECOND_NS : 0;
	struct recording recordings[64];
	u32 count = 0;
	struct store *store;

	if (argc == 3 && !strcmp(argv[1], "sums")) {
		make_sums(argv[2]);
		return 0;
	}
	if (argc < 5 || argc - 4 > 64) {
		fputs("usage: store DIRECTORY WINDOWS FIRST FILE...\n"
		      "       store sums DIRECTORY\n",
		      stderr);
		return 2;
	}
	while (count < (u32)argc - 4) {
		recordings[count] = read_recording(argv[count + 4]);
		count++;
	}
	check(store_open(argv[1], STORE_WRITE, &store));
	for (u32 i = 0; i < windows; i++) {
		const struct recording *recording = &recordings[i % count];
		u64 start_ns = first_ns + i * MINUTE_NS;
		struct store_window window = {
			.start_ns = start_ns,
			.end_ns = start_ns + MINUTE_NS,
			.samples = recording->samples,
			.rate_hz = recording->rate_hz,
		};
		const char *path;

		check(store_begin(store, start_ns, &path));
		write_copy(recording, path, start_ns);
		check(store_commit(store, &window));
	}
	store_close(store);
	return 0;
}
