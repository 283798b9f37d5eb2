/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is in the file when the recorder dies between any two system calls, or the disk is full.
 *
 * The calls that change the file are replaced: from a chosen one on, nothing reaches the disk, as
 * if the process had been killed; or they fail as on a full disk.
 */
#include "base/fail.h"
#include "unit/perfdata/recording.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* What the replaced calls do; there is one recording at a time. */
static struct {
	unsigned int calls, die_after; /* die_after 0: live on */
	u64 full_at_bytes;	       /* 0: space enough */
} disk;

static bool is_dead(void)
{
	return disk.die_after && ++disk.calls > disk.die_after;
}

/* Instead of libc's. */
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
	if (is_dead())
		return (ssize_t)count;
	if (disk.full_at_bytes && (u64)offset + count > disk.full_at_bytes) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

/* Instead of libc's. */
int rename(const char *from, const char *to)
{
	return is_dead() ? 0 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

/* Samples that `perf script` finds, -1 if it complains (where `complaints` sends stderr to stdout)
 * or fails. */
static int count_by_perf(const char *path, const char *complaints)
{
	const char *perf = getenv("PERF");
	CLEANUP(freep)
	char *command = must_format("%s script -i %s -G -F time %s", perf ? perf : "perf", path,
				    complaints);
	FILE *pipe = popen(command, "r");
	bool complains = false;
	char line[256];
	double time_s;
	int count = 0;

	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		if (sscanf(line, " %lf:", &time_s) == 1)
			count++;
		else if (!strstr(line, "No kallsyms or vmlinux")) /* our kernel is made up */
			complains = true;
	}
	return pclose(pipe) || complains ? -1 : count;
}

static bool has_perf(void)
{
	return !system("${PERF:-perf} --version >/dev/null 2>&1");
}

/* Reads what is there; it must be whole. */
static u64 read_samples(const char *path, struct text *ret_lines)
{
	struct collector collector = collector_make();
	struct perfdata *data;

	assert_int_equal(perfdata_open(path, &data), 0);
	assert_int_equal(perfdata_read(data, &collector.sink), 0);
	assert_string_equal(perfdata_warnings(data), "");
	assert_true(perfdata_header(data)->is_ours);
	*ret_lines = collector.lines;
	perfdata_close(data);
	return collector.samples;
}

/* Records and dies after `die_after` calls. Returns how many calls there were. */
static unsigned int record_and_die(const char *path, bool compress, unsigned int die_after)
{
	struct perfdata_writer_settings settings = recording_settings(path);

	settings.compress = compress;
	disk.calls = 0;
	disk.die_after = die_after;
	recording_write(&settings);
	disk.die_after = 0;
	return disk.calls;
}

static void kill_at_every_call(bool compress)
{
	enum { NEVER = 1000, CALLS_TO_PUBLISH = 5 };
	char *path = recording_path();
	unsigned int calls = record_and_die(path, compress, NEVER);
	struct text whole, part;
	u64 most = read_samples(path, &whole), last = 0;
	bool perf = has_perf();

	assert_true(calls > CALLS_TO_PUBLISH + 3 * ROUNDS);
	for (unsigned int n = 1; n < calls; n++) {
		unlink(path);
		record_and_die(path, compress, n);
		if (access(path, F_OK)) {
			assert_true(n < CALLS_TO_PUBLISH);
			continue;
		}
		u64 samples = read_samples(path, &part);

		assert_true(samples >= last && samples <= most);
		assert_int_equal(samples % SAMPLES_EACH_ROUND, 0);
		if (perf)
			assert_int_equal(count_by_perf(path, "2>&1"), samples);
		last = samples;
		text_release(&part);
	}
	assert_int_equal(last, most);
	text_release(&whole);
	recording_remove(path);
}

static void file_is_whole_after_every_call(void **state)
{
	kill_at_every_call(false);
	(void)state;
}

static void compressed_file_is_whole_after_every_call(void **state)
{
	kill_at_every_call(true);
	(void)state;
}

static void older_recording_stays_until_the_new_one_can_be_read(void **state)
{
	char *path = recording_path();
	struct text lines;

	record_and_die(path, false, 0);
	record_and_die(path, false, 3);
	assert_int_equal(read_samples(path, &lines), ROUNDS * SAMPLES_EACH_ROUND);
	text_release(&lines);
	recording_remove(path);
	(void)state;
}

enum { MANY_ROUNDS = 2000 };

static void fill_disk(bool compress)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct perfdata_writer *writer;
	struct event_sink *sink;
	struct text lines;
	u64 put = 0, dropped, read;

	settings.compress = compress;
	assert_int_equal(perfdata_writer_open(&settings, &writer), 0);
	sink = perfdata_writer_sink(writer);
	recording_put_processes(sink);
	assert_int_equal(recording_put_round(sink, put++, 1), 0);
	assert_int_equal(perfdata_writer_flush(writer), 0);

	disk.full_at_bytes = perfdata_writer_bytes(writer) + 100;
	for (u32 i = 0; i < MANY_ROUNDS * 2; i++)
		assert_int_equal(recording_put_round(sink, (u32)put++, 1), 0);
	assert_int_equal(perfdata_writer_flush(writer), -ENOSPC);
	assert_non_null(strstr(fail_sentence(), "No space left on device"));
	assert_int_equal(read_samples(path, &lines), SAMPLES_EACH_ROUND);
	text_release(&lines);
	dropped = perfdata_writer_dropped(writer);
	assert_true(dropped > 0);

	disk.full_at_bytes = 0;
	assert_int_equal(perfdata_writer_flush(writer), 0);
	for (u32 i = 0; i < MANY_ROUNDS; i++)
		assert_int_equal(recording_put_round(sink, (u32)put++, 1), 0);
	assert_int_equal(perfdata_writer_dropped(writer), dropped);
	assert_int_equal(perfdata_writer_close(writer), 0);

	read = read_samples(path, &lines);
	assert_int_equal(read + dropped, put * SAMPLES_EACH_ROUND);
	if (has_perf()) /* it warns of what was lost, rightly */
		assert_int_equal(count_by_perf(path, "2>/dev/null"), read);
	text_release(&lines);
	recording_remove(path);
}

static void full_disk_drops_what_does_not_fit_and_counts_it(void **state)
{
	fill_disk(false);
	(void)state;
}

static void full_disk_does_not_tear_the_compressed_stream(void **state)
{
	fill_disk(true);
	(void)state;
}

static void disk_full_at_the_end_leaves_what_was_flushed(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct perfdata_writer *writer;
	struct text lines;

	assert_int_equal(perfdata_writer_open(&settings, &writer), 0);
	assert_int_equal(recording_put_round(perfdata_writer_sink(writer), 0, 1), 0);
	assert_int_equal(perfdata_writer_flush(writer), 0);
	disk.full_at_bytes = perfdata_writer_bytes(writer);
	assert_int_equal(recording_put_round(perfdata_writer_sink(writer), 1, 1), 0);
	assert_int_equal(perfdata_writer_close(writer), -ENOSPC);
	disk.full_at_bytes = 0;
	assert_int_equal(read_samples(path, &lines), SAMPLES_EACH_ROUND);
	text_release(&lines);
	recording_remove(path);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_is_whole_after_every_call),
		cmocka_unit_test(compressed_file_is_whole_after_every_call),
		cmocka_unit_test(older_recording_stays_until_the_new_one_can_be_read),
		cmocka_unit_test(full_disk_drops_what_does_not_fit_and_counts_it),
		cmocka_unit_test(full_disk_does_not_tear_the_compressed_stream),
		cmocka_unit_test(disk_full_at_the_end_leaves_what_was_flushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
