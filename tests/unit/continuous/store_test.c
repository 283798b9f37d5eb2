/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows come back, whatever happened to the index; the oldest go first. */
#include "base/fail.h"
#include "unit/continuous/windows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char three[] = "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n"
			    "140100.data 14:01:00+60s 15 samples 7 lost flags 0 before 0\n"
			    "140200.data 14:02:00+60s 15 samples 7 lost flags 0 before 0\n";

static void windows_come_back(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 3);
	store_expect(folder, STORE_READ, three, "");
	store_expect(folder, STORE_WRITE, three, "");
	shell_in(folder, "[ -s windows/20261121/140100.data ] && [ -d names ]");
	store_folder_remove(folder);
	(void)state;
}

static void only_windows_of_the_time_asked_for_are_told(void **state)
{
	char *folder = store_folder();
	struct store *store;
	CLEANUP(freep) char *told = NULL;

	windows_put(folder, 3);
	store = store_opened(folder, STORE_READ);
	told = windows_told(store, FIRST_NS + MINUTE_NS, FIRST_NS + 2 * MINUTE_NS);
	assert_string_equal(told, "140100.data 14:01:00+60s 15 samples 7 lost flags 0 before 0\n");
	store_close(store);
	store_folder_remove(folder);
	(void)state;
}

static void a_reader_leaves_what_is_being_written_alone(void **state)
{
	char *folder = store_folder();
	struct store *store = store_opened(folder, STORE_WRITE);
	const char *path;

	assert_int_equal(store_begin(store, FIRST_NS, &path), 0);
	assert_int_equal(window_write(path), 0);
	store_expect(folder, STORE_READ, "", "");
	assert_int_equal(access(path, F_OK), 0);
	store_close(store);
	store_folder_remove(folder);
	(void)state;
}

static void windows_may_overlap_and_go_back_in_time(void **state)
{
	char *folder = store_folder();
	struct store *store = store_opened(folder, STORE_WRITE);

	assert_int_equal(window_put(store, FIRST_NS + MINUTE_NS), 0);
	assert_int_equal(window_put(store, FIRST_NS), 0);
	assert_int_equal(window_put(store, FIRST_NS), 0);
	store_close(store);
	store_expect(folder, STORE_READ,
		     "140000.data 14:00:00+60s 15 samples 7 lost flags 0 before 0\n"
		     "140000-1.data 14:00:00+60s 15 samples 7 lost flags 0 before 0\n"
		     "140100.data 14:01:00+60s 15 samples 7 lost flags 1 before 0\n",
		     "");
	store_folder_remove(folder);
	(void)state;
}

static void the_newest_is_the_one_written_last(void **state)
{
	char *folder = store_folder();
	struct store *store;
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) char *expected = must_format("%s/windows/20261121/140100-1.data", folder);

	windows_put(folder, 3);
	store = store_opened(folder, STORE_WRITE);
	assert_null(store_newest_path(store));
	assert_int_equal(window_put(store, FIRST_NS + MINUTE_NS), 0);
	path = store_newest_path(store);
	assert_string_equal(path, expected);
	store_close(store);
	store_folder_remove(folder);
	(void)state;
}

static void lost_windows_are_counted_and_told_with_the_next(void **state)
{
	char *folder = store_folder();
	struct store *store = store_opened(folder, STORE_WRITE);
	const char *path;

	assert_int_equal(store_begin(store, FIRST_NS, &path), 0);
	assert_int_equal(window_write(path), 0);
	store_abandon(store);
	assert_int_equal(store_begin(store, FIRST_NS + MINUTE_NS, &path), 0);
	assert_int_equal(store_commit(store, &(struct store_window){0}), -ENOENT);
	assert_int_equal(store_lost_windows(store), 2);
	assert_int_equal(window_put(store, FIRST_NS + 2 * MINUTE_NS), 0);
	store_close(store);
	store_expect(folder, STORE_READ,
		     "140200.data 14:02:00+60s 15 samples 7 lost flags 1 before 2\n", "");
	store_folder_remove(folder);
	(void)state;
}

/* --- limits --- */

static void the_oldest_go_when_there_are_too_many_bytes(void **state)
{
	char *folder = store_folder();
	struct store *store;
	u64 bytes;

	windows_put(folder, 3);
	store = store_opened(folder, STORE_WRITE);
	bytes = store_bytes(store);
	store_limit(store, (struct store_limits){.keep_bytes = bytes});
	assert_int_equal(store_count(store), 3);
	assert_int_equal(window_put(store, FIRST_NS + 3 * MINUTE_NS), 0);
	assert_int_equal(store_count(store), 3);
	assert_int_equal(store_bytes(store), bytes);
	store_limit(store, (struct store_limits){.keep_bytes = 1});
	assert_int_equal(store_count(store), 1);
	store_close(store);
	store_expect(folder, STORE_WRITE,
		     "140300.data 14:03:00+60s 15 samples 7 lost flags 1 before 0\n", "");
	store_folder_remove(folder);
	(void)state;
}

static void the_oldest_go_by_age_and_their_folders_too(void **state)
{
	char *folder = store_folder();
	struct store *store;

	windows_put(folder, 3);
	store = store_opened(folder, STORE_WRITE);
	store_limit(store, (struct store_limits){.keep_ns = 3600 * SECOND_NS});
	assert_int_equal(store_count(store), 3);
	assert_int_equal(window_put(store, FIRST_NS + 24 * 3600 * SECOND_NS), 0);
	assert_int_equal(store_count(store), 1);
	store_close(store);
	shell_in(folder, "[ ! -e windows/20261121 ] && [ -e windows/20261122/140000.data ]");
	store_folder_remove(folder);
	(void)state;
}

/* A minute with a clock 40 days ahead, which is put right then. */
static void a_window_of_the_future_makes_no_others_old(void **state)
{
	static const struct store_limits month = {.keep_ns = 30 * 86400 * SECOND_NS};
	char *folder = store_folder();
	struct store *store = store_opened(folder, STORE_WRITE);
	u64 start_ns = 0, bytes;

	assert_int_equal(window_put(store, FIRST_NS + 40 * 86400 * SECOND_NS), 0);
	bytes = store_bytes(store);
	store_close(store);
	store = store_opened(folder, STORE_WRITE);
	store_limit(store, month);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(window_put(store, FIRST_NS + i * MINUTE_NS), 0);
	assert_int_equal(store_count(store), 4);
	/* nor is this quarter over */
	assert_false(store_sums_wanted(store, &start_ns));
	assert_int_equal(window_put(store, FIRST_NS + 15 * MINUTE_NS), 0);
	assert_true(store_sums_wanted(store, &start_ns));
	assert_int_equal(start_ns, FIRST_NS);
	/* it is the first to go when there is no room */
	store_limit(store, (struct store_limits){.keep_bytes = 4 * bytes});
	assert_int_equal(store_count(store), 4);
	store_close(store);
	shell_in(folder, "[ -e windows/20261121/140000.data ] && [ ! -e windows/20261231 ]");
	store_folder_remove(folder);
	(void)state;
}

/* The machine starts in 1970 and has the time from the network later. */
static void a_window_of_the_past_stays_when_it_is_written(void **state)
{
	char *folder = store_folder();
	struct store *store;

	windows_put(folder, 3);
	store = store_opened(folder, STORE_WRITE);
	store_limit(store, (struct store_limits){.keep_bytes = store_bytes(store),
						 .keep_ns = 3600 * SECOND_NS});
	assert_int_equal(window_put(store, MINUTE_NS), 0);
	assert_int_equal(window_put(store, 2 * MINUTE_NS), 0);
	assert_int_equal(store_count(store), 3);
	shell_in(folder,
		 "cd windows && [ -e 19700101/000100.data ] && [ -e 19700101/000200.data ] && "
		 "[ -e 20261121/140200.data ]");
	/* one of an hour ago is no reason to take another one than the oldest */
	assert_int_equal(window_put(store, FIRST_NS - 30 * MINUTE_NS), 0);
	store_close(store);
	shell_in(folder, "cd windows && [ ! -e 19700101 ] && [ -e 20261121/133000.data ] && "
			 "[ -e 20261121/140200.data ]");
	store_folder_remove(folder);
	(void)state;
}

static void the_index_does_not_grow_with_what_went(void **state)
{
	char *folder = store_folder();
	struct store *store = store_opened(folder, STORE_WRITE);
	CLEANUP(freep) char *index = must_format("%s/windows/index", folder);
	struct store_window window = {.start_ns = FIRST_NS, .end_ns = FIRST_NS + MINUTE_NS};
	struct stat status;
	const char *path;

	store_limit(store, (struct store_limits){.keep_bytes = 1});
	for (u32 i = 0; i < 1100; i++) {
		assert_int_equal(store_begin(store, FIRST_NS, &path), 0);
		assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
		assert_int_equal(truncate(path, 2), 0);
		assert_int_equal(store_commit(store, &window), 0);
	}
	store_close(store);
	assert_int_equal(stat(index, &status), 0);
	assert_in_range(status.st_size, 320, 100 * 320);
	store_folder_remove(folder);
	(void)state;
}

/* --- whose it is --- */

static void a_second_writer_is_refused_by_name(void **state)
{
	char *folder = store_folder();
	struct store *first = store_opened(folder, STORE_WRITE), *second = NULL;
	CLEANUP(freep)
	char *expected = must_format("process %d writes into %s already; stop it, "
				     "or give another --store",
				     (int)getpid(), folder);

	assert_int_equal(store_open(folder, STORE_WRITE, &second), -EBUSY);
	assert_string_equal(fail_sentence(), expected);
	store_close(first);
	store_close(store_opened(folder, STORE_WRITE));
	store_folder_remove(folder);
	(void)state;
}

/* Its file stays, with its number, and means nothing. */
static void the_lock_of_a_dead_process_is_no_obstacle(void **state)
{
	char *folder = store_folder();
	pid_t child = fork();
	int status;

	if (!child) {
		struct store *store;

		_exit(store_open(folder, STORE_WRITE, &store) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	shell_in(folder, "[ -s lock ]");
	store_close(store_opened(folder, STORE_WRITE));
	store_folder_remove(folder);
	(void)state;
}

static void expect_refusal(const char *folder, const char *sentence)
{
	struct store *store;

	assert_int_equal(store_open(folder, STORE_READ, &store), -EPROTO);
	assert_non_null(strstr(fail_sentence(), sentence));
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -EPROTO);
	assert_non_null(strstr(fail_sentence(), sentence));
}

static void a_newer_format_is_refused_and_left_alone(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 1);
	shell_in(folder, "echo bpfprof store 2 >format; rm windows/index");
	expect_refusal(folder, "is of format 2, and this version knows up to 1");
	shell_in(folder, "[ ! -e windows/index ]");
	shell_in(folder, "echo hello >format");
	expect_refusal(folder, "is not the store of a bpfprof daemon");
	store_folder_remove(folder);
	(void)state;
}

static void what_is_no_file_in_the_place_of_one_is_to_be_removed(void **state)
{
	static const char *const others[] = {"mkdir format", "ln -s format format",
					     "mkfifo format"};
	char *folder = store_folder();
	CLEANUP(freep) char *sentence = must_format("%s/format is no file; remove it", folder);

	windows_put(folder, 1);
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		shell_in(folder, "rm -rf format");
		shell_in(folder, others[i]);
		expect_refusal(folder, sentence);
	}
	store_folder_remove(folder);
	(void)state;
}

/* A reader does not need it. */
static void what_is_no_lock_in_its_place_is_to_be_removed(void **state)
{
	static const char *const others[] = {"mkdir lock", "ln -s lock lock"};
	char *folder = store_folder();
	CLEANUP(freep) char *sentence = must_format("%s/lock is no file; remove it", folder);
	struct store *store;

	windows_put(folder, 1);
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		shell_in(folder, "rm -rf lock");
		shell_in(folder, others[i]);
		assert_int_equal(store_open(folder, STORE_WRITE, &store), -EPROTO);
		assert_string_equal(fail_sentence(), sentence);
		store_close(store_opened(folder, STORE_READ));
	}
	store_folder_remove(folder);
	(void)state;
}

/* The other days are. */
static void a_day_that_is_no_folder_is_told_and_not_written_to(void **state)
{
	static const char *const others[] = {": >windows/20261121",
					     "ln -s 20261121 windows/20261121"};
	const u64 day_ns = 24 * 60 * MINUTE_NS;
	char *folder = store_folder();
	CLEANUP(freep)
	char *note = must_format("%s/windows/20261121 is no folder: nothing of that day is read; "
				 "remove or rename it\n",
				 folder);
	CLEANUP(freep)
	char *sentence = must_format("%s/windows/20261121 is no folder; remove or rename it",
				     folder);

	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		struct store *store = store_opened(folder, STORE_WRITE);

		assert_int_equal(window_put(store, FIRST_NS + day_ns), 0);
		shell_in(folder, others[i]);
		assert_int_equal(window_put(store, FIRST_NS), -ENOTDIR);
		assert_string_equal(fail_sentence(), sentence);
		assert_int_equal(store_lost_windows(store), 1);
		store_close(store);
		store = store_opened(folder, STORE_READ);
		assert_string_equal(store_notes(store), note);
		assert_int_equal(store_count(store), i + 1);
		store_close(store);
		shell_in(folder, "rm windows/20261121");
	}
	store_folder_remove(folder);
	(void)state;
}

static void a_store_that_is_not_there_is_told(void **state)
{
	struct store *store;

	assert_int_equal(store_open("/tmp/no/such/store", STORE_READ, &store), -ENOENT);
	assert_string_equal(fail_sentence(),
			    "cannot read the store /tmp/no/such/store: No such file or directory; "
			    "start bpfprof daemon, or name its folder with --store");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_come_back),
		cmocka_unit_test(only_windows_of_the_time_asked_for_are_told),
		cmocka_unit_test(a_reader_leaves_what_is_being_written_alone),
		cmocka_unit_test(windows_may_overlap_and_go_back_in_time),
		cmocka_unit_test(the_newest_is_the_one_written_last),
		cmocka_unit_test(lost_windows_are_counted_and_told_with_the_next),
		cmocka_unit_test(the_oldest_go_when_there_are_too_many_bytes),
		cmocka_unit_test(the_oldest_go_by_age_and_their_folders_too),
		cmocka_unit_test(a_window_of_the_future_makes_no_others_old),
		cmocka_unit_test(a_window_of_the_past_stays_when_it_is_written),
		cmocka_unit_test(the_index_does_not_grow_with_what_went),
		cmocka_unit_test(a_second_writer_is_refused_by_name),
		cmocka_unit_test(the_lock_of_a_dead_process_is_no_obstacle),
		cmocka_unit_test(a_newer_format_is_refused_and_left_alone),
		cmocka_unit_test(what_is_no_file_in_the_place_of_one_is_to_be_removed),
		cmocka_unit_test(what_is_no_lock_in_its_place_is_to_be_removed),
		cmocka_unit_test(a_day_that_is_no_folder_is_told_and_not_written_to),
		cmocka_unit_test(a_store_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
