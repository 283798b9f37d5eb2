/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows come back, whatever happened to the index; the oldest go first. */
#include "base/fail.h"
#include "unit/continuous/windows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* What a store holds, opened for `access`. */
static void expect(const char *folder, enum store_access access, const char *windows,
		   const char *notes)
{
	struct store *store = store_opened(folder, access);
	CLEANUP(freep) char *told = windows_told(store, 0, UINT64_MAX);

	assert_string_equal(told, windows);
	if (!*notes)
		assert_string_equal(store_notes(store), "");
	else
		assert_non_null(strstr(store_notes(store), notes));
	store_close(store);
}

static void shell(const char *folder, const char *script)
{
	CLEANUP(freep) char *command = must_format("cd '%s' && %s", folder, script);

	assert_int_equal(system(command), 0);
}

static const char three[] = "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n"
			    "140100.data 14:01:00+60s 15 samples 7 lost flags 0 before 0\n"
			    "140200.data 14:02:00+60s 15 samples 7 lost flags 0 before 0\n";

static void windows_come_back(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 3);
	expect(folder, STORE_READ, three, "");
	expect(folder, STORE_WRITE, three, "");
	shell(folder, "[ -s windows/20261121/140100.data ] && [ -d names ]");
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

static void windows_are_told_by_their_files_without_an_index(void **state)
{
	static const char by_files[] =
		"140000.data 14:00:00+60s 15 samples 7 lost flags 4 before 0\n"
		"140100.data 14:01:00+60s 15 samples 7 lost flags 4 before 0\n"
		"140200.data 14:02:00+60s 15 samples 7 lost flags 4 before 0\n";
	char *folder = store_folder();

	windows_put(folder, 3);
	shell(folder, "rm windows/index");
	expect(folder, STORE_READ, by_files, "did not know 3 windows");
	expect(folder, STORE_WRITE, by_files, "did not know 3 windows");
	expect(folder, STORE_READ, by_files, ""); /* the writer put it right */
	store_folder_remove(folder);
	(void)state;
}

static void a_torn_last_row_costs_nothing(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 3);
	shell(folder, "truncate -s -5 windows/index");
	expect(folder, STORE_WRITE,
	       "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n"
	       "140100.data 14:01:00+60s 15 samples 7 lost flags 0 before 0\n"
	       "140200.data 14:02:00+60s 15 samples 7 lost flags 4 before 0\n",
	       "is cut");
	store_folder_remove(folder);
	(void)state;
}

static void a_damaged_row_is_made_again(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 3);
	shell(folder, "printf xyz | dd of=windows/index bs=1 seek=345 conv=notrunc status=none");
	expect(folder, STORE_WRITE,
	       "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n"
	       "140100.data 14:01:00+60s 15 samples 7 lost flags 4 before 0\n"
	       "140200.data 14:02:00+60s 15 samples 7 lost flags 0 before 0\n",
	       "1 rows of");
	store_folder_remove(folder);
	(void)state;
}

/* As a reader meets it that opened the index before it was made anew. */
static void a_row_of_another_window_is_not_taken_for_its_own(void **state)
{
	char *folder = store_folder();
	struct store *store;
	CLEANUP(freep) char *told = NULL;

	windows_put(folder, 3);
	store = store_opened(folder, STORE_READ);
	shell(folder, "{ tail -c 640 windows/index; head -c 320 windows/index; } >turned && "
		      "head -c 640 turned >windows/index");
	told = windows_told(store, 0, UINT64_MAX);
	assert_string_equal(told, "140000.data 14:00:00+60s 15 samples 7 lost flags 4 before 0\n"
				  "140100.data 14:01:00+60s 15 samples 7 lost flags 4 before 0\n"
				  "140200.data 14:02:00+60s 15 samples 7 lost flags 4 before 0\n");
	store_close(store);
	store_folder_remove(folder);
	(void)state;
}

static void a_window_that_somebody_removed_is_told(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 3);
	shell(folder, "rm windows/20261121/140100.data");
	expect(folder, STORE_WRITE,
	       "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n"
	       "140200.data 14:02:00+60s 15 samples 7 lost flags 0 before 0\n",
	       "removed by hand");
	store_folder_remove(folder);
	(void)state;
}

static void a_window_that_cannot_be_read_is_told_and_kept(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 1);
	shell(folder, "echo no >windows/20261121/150000.data");
	expect(folder, STORE_WRITE,
	       "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n"
	       "150000.data 15:00:00+0s 0 samples 0 lost flags 6 before 0\n",
	       "150000.data cannot be read");
	store_folder_remove(folder);
	(void)state;
}

static void what_a_killed_writer_left_is_kept_if_it_can_be_read(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 3);
	shell(folder, "cd windows/20261121 && cp 140200.data 140300.open && head -c 200 "
		      "140200.data >140400.open && cd .. && rm 20261121/140200.data");
	expect(folder, STORE_WRITE,
	       "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n"
	       "140100.data 14:01:00+60s 15 samples 7 lost flags 0 before 0\n"
	       "140300.data 14:03:00+60s 15 samples 7 lost flags 6 before 0\n",
	       "a window was lost, its writer was killed");
	store_folder_remove(folder);
	(void)state;
}

static void what_a_killed_writer_had_not_named_goes(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 1);
	shell(folder,
	      "cd windows/20261121 && touch 140100.open.k3Fx0a 140000.sums-new 140100.notes "
	      "&& mkdir ../20261120 && touch ../20261120/235900-1.open.k3Fx0a");
	store_close(store_opened(folder, STORE_READ));
	shell(folder, "[ -e windows/20261121/140100.open.k3Fx0a ]");
	expect(folder, STORE_WRITE, "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n",
	       "");
	shell(folder, "[ \"$(ls windows/20261121 | xargs)\" = '140000.data 140100.notes' ] && "
		      "[ ! -e windows/20261120 ]");
	store_folder_remove(folder);
	(void)state;
}

static void what_is_kept_of_a_killed_writer_has_the_rights_of_the_others(void **state)
{
	char *folder = store_folder();
	CLEANUP(freep) char *path = must_format("%s/windows/20261121/140000.data", folder);
	struct stat status;

	windows_put(folder, 1);
	shell(folder, "cd windows/20261121 && mv 140000.data 140000.open && chmod 604 140000.open");
	store_close(store_opened(folder, STORE_WRITE));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, store_file_mode(folder));
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
	expect(folder, STORE_READ, "", "");
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
	expect(folder, STORE_READ,
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
	expect(folder, STORE_READ, "140200.data 14:02:00+60s 15 samples 7 lost flags 1 before 2\n",
	       "");
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
	expect(folder, STORE_WRITE, "140300.data 14:03:00+60s 15 samples 7 lost flags 1 before 0\n",
	       "");
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
	shell(folder, "[ ! -e windows/20261121 ] && [ -e windows/20261122/140000.data ]");
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
	shell(folder, "[ -e windows/20261121/140000.data ] && [ ! -e windows/20261231 ]");
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
	shell(folder, "cd windows && [ -e 19700101/000100.data ] && [ -e 19700101/000200.data ] && "
		      "[ -e 20261121/140200.data ]");
	/* one of an hour ago is no reason to take another one than the oldest */
	assert_int_equal(window_put(store, FIRST_NS - 30 * MINUTE_NS), 0);
	store_close(store);
	shell(folder, "cd windows && [ ! -e 19700101 ] && [ -e 20261121/133000.data ] && "
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
	shell(folder, "[ -s lock ]");
	store_close(store_opened(folder, STORE_WRITE));
	store_folder_remove(folder);
	(void)state;
}

static void a_folder_of_somebody_else_is_refused(void **state)
{
	char *folder = store_folder();
	struct store *store = NULL;

	if (geteuid())
		skip();
	shell(folder, "echo precious >other && ln -s other lock && chown 12345 .");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -EPERM);
	assert_non_null(strstr(fail_sentence(), "is user 12345's"));
	shell(folder, "[ \"$(cat other)\" = precious ] && [ ! -e windows ]");
	store_folder_remove(folder);
	(void)state;
}

static void links_are_not_written_through(void **state)
{
	char *folder = store_folder();
	struct store *store = NULL;

	shell(folder, "echo precious >other && ln -s other lock");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -ELOOP);
	shell(folder, "rm lock && ln -s other format.new");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -ELOOP);
	shell(folder, "rm format.new && mkdir -p windows && ln -s ../other windows/index");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -ELOOP);
	shell(folder, "[ \"$(cat other)\" = precious ]");
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
	shell(folder, "echo bpfprof store 2 >format; rm windows/index");
	expect_refusal(folder, "is of format 2, and this version knows up to 1");
	shell(folder, "[ ! -e windows/index ]");
	shell(folder, "echo hello >format");
	expect_refusal(folder, "is not the store of a bpfprof daemon");
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
		cmocka_unit_test(windows_are_told_by_their_files_without_an_index),
		cmocka_unit_test(a_torn_last_row_costs_nothing),
		cmocka_unit_test(a_damaged_row_is_made_again),
		cmocka_unit_test(a_row_of_another_window_is_not_taken_for_its_own),
		cmocka_unit_test(a_window_that_somebody_removed_is_told),
		cmocka_unit_test(a_window_that_cannot_be_read_is_told_and_kept),
		cmocka_unit_test(what_a_killed_writer_left_is_kept_if_it_can_be_read),
		cmocka_unit_test(what_a_killed_writer_had_not_named_goes),
		cmocka_unit_test(what_is_kept_of_a_killed_writer_has_the_rights_of_the_others),
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
		cmocka_unit_test(a_folder_of_somebody_else_is_refused),
		cmocka_unit_test(links_are_not_written_through),
		cmocka_unit_test(a_newer_format_is_refused_and_left_alone),
		cmocka_unit_test(a_store_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
