/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings that are cut, damaged, or none. */
#include "base/fail.h"
#include "unit/perfdata/recording.h"

static void expect_refused(const char *bytes, size_t length, const char *sentence)
{
	struct perfdata *data = NULL;

	assert_int_equal(perfdata_open_bytes((struct bytes){(const u8 *)bytes, length}, &data),
			 -EBADMSG);
	assert_null(data);
	assert_string_equal(fail_sentence(), sentence);
}

static void what_is_no_recording_is_refused_in_one_line(void **state)
{
	expect_refused("", 0, "recording is empty: nothing was recorded; record again");
	expect_refused(
		"hello, world", 12,
		"recording is not a perf.data file; give a file recorded by perf or bpfprof");
	expect_refused("PERFILE2", 8,
		       "recording has a damaged header; give a file recorded by perf or bpfprof");
	expect_refused("PERFILE2h\0\0\0\0\0\0", 16,
		       "recording is cut inside its header; record again");
	(void)state;
}

/* The text of what can be read of the first `length` bytes; "" if it cannot be opened. */
static int read_cut(struct bytes bytes, size_t length, struct text *ret_lines)
{
	/* a copy of just that size, for the sanitizer to see what lies behind it */
	char *copy = must_copy_bytes(bytes.start, length);
	u8 *exact = must_resize_array(copy, length ? length : 1, 1);
	struct collector collector = collector_make();
	struct perfdata *data;
	int error = perfdata_open_bytes((struct bytes){exact, length}, &data);

	*ret_lines = (struct text){0};
	if (!error) {
		error = perfdata_read(data, &collector.sink);
		assert_true(collector.has_ended);
		*ret_lines = collector.lines;
		perfdata_close(data);
	}
	free(exact);
	return error;
}

/* Every length but the whole is an error with a sentence; the events are among the whole's. */
static void cut_everywhere(struct bytes bytes, size_t step)
{
	struct text whole, part;
	u64 most = 0;

	assert_int_equal(read_cut(bytes, bytes.length, &whole), 0);
	for (size_t length = 0; length < bytes.length; length += step) {
		u64 lines = 0;

		fail_clear();
		assert_int_equal(read_cut(bytes, length, &part), -EBADMSG);
		assert_true(*fail_sentence());
		for (char *next = part.bytes, *line; (line = strsep(&next, "\n"));) {
			if (!strncmp(line, "sample", 6))
				assert_non_null(strstr(whole.bytes, line));
			lines++;
		}
		assert_true(lines >= most);
		most = lines;
		text_release(&part);
	}
	text_release(&whole);
}

static void cut_file_of_ours_gives_all_whole_records(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct bytes bytes;

	settings.source_count = 2;
	recording_write(&settings);
	bytes = recording_bytes(path);
	cut_everywhere(bytes, 1);
	free((void *)bytes.start);
	recording_remove(path);
	(void)state;
}

static void cut_file_of_perf_gives_all_whole_records(void **state)
{
	static const char path[] = "../shared/perf-corpus/perf.data.group_desc-4.14";
	struct bytes bytes;

	if (access(path, R_OK)) {
		print_message("no %s\n", path);
		skip();
	}
	bytes = recording_bytes(path);
	cut_everywhere(bytes, 7);
	free((void *)bytes.start);
	(void)state;
}

static void damage_anywhere_never_crashes(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct text lines;
	struct bytes bytes;

	settings.source_count = 2;
	recording_write(&settings);
	bytes = recording_bytes(path);
	for (size_t at = 0; at < bytes.length; at++) {
		u8 *byte = (u8 *)bytes.start + at, before = *byte;

		*byte ^= 0xff;
		read_cut(bytes, bytes.length, &lines);
		text_release(&lines);
		*byte = before;
	}
	free((void *)bytes.start);
	recording_remove(path);
	(void)state;
}

/* A window of the store may be cut, or its disk fail, while it is read: the mapping of such a file
 * ends its reader. */
static void window_that_is_cut_while_open_is_still_whole(void **state)
{
	char *path = recording_path();
	struct perfdata_writer_settings settings = recording_settings(path);
	struct collector collector = collector_make();
	struct perfdata *data;

	recording_write(&settings);
	assert_int_equal(perfdata_open_window(path, &data), 0);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(perfdata_read(data, &collector.sink), 0);
	assert_int_equal(collector.samples, ROUNDS * SAMPLES_EACH_ROUND);
	text_release(&collector.lines);
	perfdata_close(data);
	recording_remove(path);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_recording_is_refused_in_one_line),
		cmocka_unit_test(cut_file_of_ours_gives_all_whole_records),
		cmocka_unit_test(cut_file_of_perf_gives_all_whole_records),
		cmocka_unit_test(damage_anywhere_never_crashes),
		cmocka_unit_test(window_that_is_cut_while_open_is_still_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
