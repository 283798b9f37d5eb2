/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is written comes back; the file is whole at any instant. */
#include "base/fail.h"
#include "bpfprof/counters.h"
#include "unit/perfdata/recording.h"

#include <string.h>
#include <sys/stat.h>

static const char expected_one_source[] =
	"mapping 0 pid -1 tid 0 space 1 data 0 ffffffff81000000+1000000 from ffffffff81000000 "
	"device 0:0 inode 0/0 0 0 [kernel.kallsyms]_text id "
	"abcd000000000000000000000000000000000000\n"
	"fork 0 pid 100 tid 100 of 1 1 found 1\n"
	"name 0 pid 100 tid 100 exec 0 one\n"
	"mapping 0 pid 100 tid 100 space 2 data 0 400000+1000 from 2000 device 8:1 inode 77/5 5 2 "
	"/bin/one id \n"
	"mapping 2001 pid 100 tid 101 space 2 data 0 500000+1000 from 0 device 0:0 inode 0/0 5 2 "
	"/lib/two with spaces.so id 01020304000000000000000000000000\n"
	"name 2002 pid 100 tid 101 exec 1 exactly15bytes!\n"
	"symbol 2003 ffffffffc0000000+4d type 1 flags 0 bpf_prog_x\n"
	"program 2004 type 1 flags 0 id 9 0100\n"
	"cgroup 2005 33 /system.slice\n"
	"sample 3000 source 0 pid 100 tid 101 cpu 0 weight 10101010 at ffffffff81000010 space 1 "
	"data "
	"0 cut 3 walked 3: ffffffff81000010/1/0 ffffffff81000020/1/0 400010/2/0 400020/2/0\n";

/* Reads `path` and checks that all of the recording is in it. */
static void expect_whole(const char *path, u32 source_count)
{
	struct collector collector = collector_make();
	struct perfdata *data;
	u32 count;

	assert_int_equal(perfdata_open(path, &data), 0);
	perfdata_sources(data, &count);
	assert_int_equal(count, source_count);
	assert_int_equal(perfdata_read(data, &collector.sink), 0);
	assert_string_equal(perfdata_warnings(data), "");
	assert_true(collector.has_ended);
	assert_int_equal(collector.samples, ROUNDS * SAMPLES_EACH_ROUND);
	assert_int_equal(collector.others, 10);
	assert_memory_equal(collector.lines.bytes, expected_one_source,
			    strlen(expected_one_source));
	assert_non_null(strstr(text_view(&collector.lines),
			       "exit 9000 pid 100 tid 101 of 100 100 found 0\n"));
	text_release(&collector.lines);
	perfdata_close(data);
}

struct counting_sink {
	struct event_sink sink;
	u64 samples, observations, weight;
};

static int count_sample(struct event_sink *sink, const struct sample *sample)
{
	struct counting_sink *counting = (struct counting_sink *)sink;

	counting->samples++;
	counting->observations += sample_count(sample);
	counting->weight += sample->weight;
	assert_int_equal(sample->cpu, 3);
	return 0;
}

static void a_sample_keeps_for_how_many_it_stands(void **state)
{
	static const u32 counts[] = {0, 1, 2, 70000, UINT32_MAX};
	struct counting_sink counting = {.sink.on_sample = count_sample};
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct perfdata_writer *writer;
	struct event_sink *sink;
	struct perfdata *data;

	assert_int_equal(perfdata_writer_open(&settings, &writer), 0);
	sink = perfdata_writer_sink(writer);
	for (u32 i = 0; i < ARRAY_COUNT(counts); i++) {
		struct sample sample = {
			.time_ns = 100 + i, .cpu = 3, .count = counts[i], .weight = 10};

		assert_int_equal(sink->on_sample(sink, &sample), 0);
	}
	assert_int_equal(perfdata_writer_close(writer), 0);
	assert_int_equal(perfdata_open(path, &data), 0);
	assert_int_equal(perfdata_read(data, &counting.sink), 0);
	assert_int_equal(counting.samples, ARRAY_COUNT(counts));
	assert_int_equal(counting.observations, 1 + 1 + 2 + 70000 + (u64)UINT32_MAX);
	assert_int_equal(counting.weight, 10 * ARRAY_COUNT(counts));
	perfdata_close(data);
	recording_remove(path);
	(void)state;
}

static int check_cgroup(struct event_sink *sink, const struct sample *sample)
{
	((struct counting_sink *)sink)->samples++;
	assert_int_equal(sample->cgroup, 4711);
	return 0;
}

static void cgroups_come_back_whether_the_call_stack_is_empty_or_not(void **state)
{
	static const struct frame frames[] = {{.address = 0x400010, .space = SPACE_USER}};
	static const struct branch branches[] = {{0x400100, 0x400000, 0}};
	static const struct event_source source = {.name = "cycles",
						   .has_chain = true,
						   .has_branches = true,
						   .branch_bits = 1 << 11 | 1 << 17,
						   .sample_bits = 1 << 21 /* CGROUP */};
	struct counting_sink counting = {.sink.on_sample = check_cgroup};
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct perfdata_writer *writer;
	struct perfdata *data;

	settings.sources = &source;
	assert_int_equal(perfdata_writer_open(&settings, &writer), 0);
	for (u16 i = 0; i < 2; i++) {
		struct event_sink *sink = perfdata_writer_sink(writer);
		struct sample sample = {.time_ns = 100 + i,
					.cgroup = 4711,
					.frames = frames,
					.frame_count = 1,
					.branches = branches,
					.branch_count = i};

		assert_int_equal(sink->on_sample(sink, &sample), 0);
	}
	assert_int_equal(perfdata_writer_close(writer), 0);
	assert_int_equal(perfdata_open(path, &data), 0);
	assert_int_equal(perfdata_read(data, &counting.sink), 0);
	assert_int_equal(counting.samples, 2);
	perfdata_close(data);
	recording_remove(path);
	(void)state;
}

static void every_kind_of_event_comes_back(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);

	recording_write(&settings);
	expect_whole(path, 1);
	recording_remove(path);
	(void)state;
}

static void compressed_events_come_back(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);

	settings.compress = true;
	recording_write(&settings);
	expect_whole(path, 1);
	recording_remove(path);
	(void)state;
}

static void several_sources_are_told_apart(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct collector collector = collector_make();
	const struct event_source *sources;
	struct perfdata *data;
	u32 count;

	settings.source_count = 2;
	recording_write(&settings);
	assert_int_equal(perfdata_open(path, &data), 0);
	sources = perfdata_sources(data, &count);
	assert_int_equal(count, 2);
	assert_string_equal(sources[0].name, "cpu-clock");
	assert_true(sources[0].is_frequency && sources[0].has_chain);
	assert_string_equal(sources[1].name, "page-faults:u");
	assert_true(sources[1].exclude_kernel && !sources[1].has_chain);
	assert_int_equal(sources[1].rate, 7);
	assert_int_equal(perfdata_read(data, &collector.sink), 0);
	assert_non_null(strstr(text_view(&collector.lines),
			       "sample 3001 source 1 pid 100 tid 101 cpu 1 weight 10101010 at "
			       "ffffffff81000010 space 1 data abc1 cut 3 walked 3:\n"));
	text_release(&collector.lines);
	perfdata_close(data);
	recording_remove(path);
	(void)state;
}

static void header_tells_where_and_how(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	const struct perfdata_header *header;
	struct perfdata *data;

	settings.idle_skipped = true;
	settings.branch_depth = 32;
	recording_write(&settings);
	assert_int_equal(perfdata_open(path, &data), 0);
	header = perfdata_header(data);
	assert_true(header->is_ours && !header->is_pipe && !header->is_swapped);
	assert_true(header->hostname && *header->hostname);
	assert_int_equal(header->command_words, 3);
	assert_string_equal(header->command_line[2], "-a");
	assert_int_equal(header->first_sample_ns, 3000);
	assert_int_equal(header->last_sample_ns, 5004);
	assert_int_equal(header->branch_depth, 32);
	assert_true(header->has_clock);
	assert_int_equal(header->clock_id, 1);
	assert_int_equal(header->wall_clock_ns, 1790000000000000000);
	assert_true(header->idle_skipped);
	perfdata_close(data);
	recording_remove(path);
	(void)state;
}

static void losses_come_back_by_reason(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct collector collector = collector_make();
	struct perfdata *data;

	recording_write(&settings);
	assert_int_equal(perfdata_open(path, &data), 0);
	assert_int_equal(perfdata_read(data, &collector.sink), 0);
	assert_int_equal(collector.losses, 3);
	assert_int_equal(perfdata_extra(data)->losses[COUNTER_lost_ring_full], 3);
	assert_int_equal(perfdata_extra(data)->wall_ns, 5);
	text_release(&collector.lines);
	perfdata_close(data);
	recording_remove(path);
	(void)state;
}

/* All that the file has room for, in samples in turn. */
static int put_every_provenance(struct event_sink *sink)
{
	int error = 0;

	for (u32 i = 0; i < 16 * 32 && !error; i++) {
		struct sample sample = {
			.time_ns = 3000 + i,
			.space = SPACE_USER,
			.cut = (u8)(i % 16),
			.walked = (u8)(i / 16),
		};

		error = sink->on_sample(sink, &sample);
	}
	return error;
}

struct provenance_check {
	struct event_sink sink; /* first */
	u32 seen;
};

static int check_provenance(struct event_sink *self, const struct sample *sample)
{
	struct provenance_check *check = (struct provenance_check *)self;

	assert_int_equal(sample->cut, check->seen % 16);
	assert_int_equal(sample->walked, check->seen / 16);
	check->seen++;
	return 0;
}

static void every_walk_and_end_of_a_stack_comes_back(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct provenance_check check = {.sink.on_sample = check_provenance};
	struct perfdata_writer *writer;
	struct perfdata *data;

	assert_int_equal(perfdata_writer_open(&settings, &writer), 0);
	assert_int_equal(put_every_provenance(perfdata_writer_sink(writer)), 0);
	assert_int_equal(perfdata_writer_close(writer), 0);
	assert_int_equal(perfdata_open(path, &data), 0);
	assert_int_equal(perfdata_read(data, &check.sink), 0);
	assert_int_equal(check.seen, 16 * 32);
	perfdata_close(data);
	recording_remove(path);
	(void)state;
}

/* The misc of the first SAMPLE of a recording's bytes. */
static u16 first_sample_misc(struct bytes file)
{
	u64 at;

	memcpy(&at, file.start + 40, sizeof(at)); /* the data section's offset */
	for (;;) {
		struct {
			u32 type;
			u16 misc, bytes;
		} header;

		assert_true(at + sizeof(header) <= file.length);
		memcpy(&header, file.start + at, sizeof(header));
		if (header.type == 9)
			return header.misc;
		at += header.bytes;
	}
}

/* What older files hold: a walk by frame pointers alone was 1 already. perf uses bits 0 to 2 of a
 * sample's misc, and from bit 12 on. */
static void walk_and_end_stand_where_older_files_have_them(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct bytes file;

	recording_write(&settings);
	file = recording_bytes(path);
	assert_int_equal(first_sample_misc(file), 1 | 3 << 3 | 3 << 7);
	assert_int_equal(WALK_FRAME_POINTER, 1);
	free((u8 *)file.start);
	recording_remove(path);
	(void)state;
}

static void older_recording_is_kept_beside_the_new_one(void **state)
{
	char *path = recording_path();
	CLEANUP(freep) char *old = must_format("%s.old", path);
	struct perfdata_writer_settings settings = recording_settings(path);
	struct stat status;

	recording_write(&settings);
	settings.source_count = 2;
	recording_write(&settings);
	expect_whole(old, 1);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	recording_remove(path);
	(void)state;
}

static void missing_folder_is_answered_and_leaves_nothing(void **state)
{
	struct perfdata_writer_settings settings = recording_settings("/nowhere/perf.data");
	struct perfdata_writer *writer = NULL;

	settings.path_remedy = "go elsewhere";
	assert_int_equal(perfdata_writer_open(&settings, &writer), -ENOENT);
	assert_null(writer);
	assert_string_equal(fail_sentence(), "cannot create /nowhere/perf.data: No such file or "
					     "directory; go elsewhere");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups_come_back_whether_the_call_stack_is_empty_or_not),
		cmocka_unit_test(every_kind_of_event_comes_back),
		cmocka_unit_test(a_sample_keeps_for_how_many_it_stands),
		cmocka_unit_test(compressed_events_come_back),
		cmocka_unit_test(several_sources_are_told_apart),
		cmocka_unit_test(header_tells_where_and_how),
		cmocka_unit_test(losses_come_back_by_reason),
		cmocka_unit_test(every_walk_and_end_of_a_stack_comes_back),
		cmocka_unit_test(walk_and_end_stand_where_older_files_have_them),
		cmocka_unit_test(older_recording_is_kept_beside_the_new_one),
		cmocka_unit_test(missing_folder_is_answered_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
