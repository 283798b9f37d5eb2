/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that wants few samples of a file hears them as one that wants all does.
 */
#include "unit/perfdata/foreign.h"

#include "base/file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 600, EACH = 23, FRAMES = 400, MOST_FRAMES = 7000 };

/* What a sink has heard of every so manieth sample. */
struct picker {
	struct event_sink sink;
	u64 asked, heard;
	u64 most;	   /* after so many it wants no more; 0: all */
	u64 sums[SAMPLES]; /* of times and addresses */
};

static size_t pass_most(struct event_sink *sink, const struct chain_ahead *chains, size_t count)
{
	struct picker *picker = (struct picker *)sink;

	for (size_t i = 0; i < count; i++) {
		assert_true(chains[i].key);
		assert_int_equal(chains[i].time_ns, 1 + picker->asked);
		assert_int_equal(chains[i].tid, 0); /* told of LBR call stacks only */
		if (picker->asked++ % EACH == 0)
			return i;
	}
	return count;
}

static int take(struct event_sink *sink, const struct sample *sample)
{
	struct picker *picker = (struct picker *)sink;
	u64 sum = sample->time_ns;

	for (u32 i = 0; i < sample->frame_count; i++)
		sum = sum * 31 + sample->frames[i].address;
	picker->sums[picker->heard++] = sum;
	return picker->heard == picker->most ? -ECANCELED : 0;
}

/* Records are of some thousand bytes, and now and then of nearly as many as there can be. */
static void put_recording(struct foreign *foreign)
{
	for (u64 i = 0; i < SAMPLES; i++) {
		u64 frames = i % 7 ? FRAMES : MOST_FRAMES;

		record_begin(foreign, PERF_RECORD_SAMPLE, 2);
		put64(foreign, 0x1234);
		put32(foreign, 5);
		put32(foreign, 6);
		put64(foreign, 1 + i);
		put64(foreign, frames);
		for (u64 k = 0; k < frames; k++)
			put64(foreign, i << 20 | k);
		record_end(foreign);
	}
}

static struct perfdata *open_recording(void)
{
	struct foreign foreign = foreign_begin(
		false, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		0);
	char path[] = "/tmp/picked-XXXXXX";
	int fd = mkstemp(path);
	struct perfdata *data;

	put_recording(&foreign);
	foreign_end(&foreign);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, foreign.bytes.bytes, foreign.bytes.length), 0);
	close(fd);
	assert_int_equal(perfdata_open(path, &data), 0);
	unlink(path);
	text_release(&foreign.bytes);
	return data;
}

static void a_picked_sample_says_what_it_says_among_all(void **state)
{
	struct picker all = {.sink = {.on_sample = take}};
	struct picker some = {.sink = {.on_sample = take, .passes_chains = pass_most}};
	struct perfdata *data = open_recording();

	assert_int_equal(perfdata_read(data, &all.sink), 0);
	assert_int_equal(perfdata_read(data, &some.sink), 0);
	assert_int_equal(all.heard, SAMPLES);
	assert_int_equal(some.asked, SAMPLES);
	assert_int_equal(some.heard, (SAMPLES + EACH - 1) / EACH);
	for (u64 i = 0; i < some.heard; i++)
		assert_true(some.sums[i] == all.sums[i * EACH]);
	perfdata_close(data);
	(void)state;
}

static void a_picker_can_stop_at_any_sample(void **state)
{
	for (u64 most = 1; most <= SAMPLES / EACH; most += 5) {
		struct picker some = {.sink = {.on_sample = take, .passes_chains = pass_most},
				      .most = most};
		struct perfdata *data = open_recording();

		assert_int_equal(perfdata_read(data, &some.sink), -ECANCELED);
		assert_int_equal(some.heard, most);
		perfdata_close(data);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_picked_sample_says_what_it_says_among_all),
		cmocka_unit_test(a_picker_can_stop_at_any_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
