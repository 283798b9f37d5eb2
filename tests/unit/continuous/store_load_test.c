/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the index says and what the files say are put together when a store is opened. */
#include "unit/continuous/windows.h"

#include <sys/stat.h>

static void windows_are_told_by_their_files_without_an_index(void **state)
{
	static const char by_files[] =
		"140000.data 14:00:00+60s 15 samples 7 lost flags 4 before 0\n"
		"140100.data 14:01:00+60s 15 samples 7 lost flags 4 before 0\n"
		"140200.data 14:02:00+60s 15 samples 7 lost flags 4 before 0\n";
	char *folder = store_folder();

	windows_put(folder, 3);
	shell_in(folder, "rm windows/index");
	store_expect(folder, STORE_READ, by_files, "did not know 3 windows");
	store_expect(folder, STORE_WRITE, by_files, "did not know 3 windows");
	store_expect(folder, STORE_READ, by_files, ""); /* the writer put it right */
	store_folder_remove(folder);
	(void)state;
}

static void a_torn_last_row_costs_nothing(void **state)
{
	char *folder = store_folder();

	windows_put(folder, 3);
	shell_in(folder, "truncate -s -5 windows/index");
	store_expect(folder, STORE_WRITE,
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
	shell_in(folder, "printf xyz | dd of=windows/index bs=1 seek=345 conv=notrunc status=none");
	store_expect(folder, STORE_WRITE,
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
	shell_in(folder, "{ tail -c 640 windows/index; head -c 320 windows/index; } >turned && "
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
	shell_in(folder, "rm windows/20261121/140100.data");
	store_expect(folder, STORE_WRITE,
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
	shell_in(folder, "echo no >windows/20261121/150000.data");
	store_expect(folder, STORE_WRITE,
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
	shell_in(folder, "cd windows/20261121 && cp 140200.data 140300.open && head -c 200 "
			 "140200.data >140400.open && cd .. && rm 20261121/140200.data");
	store_expect(folder, STORE_WRITE,
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
	shell_in(folder,
		 "cd windows/20261121 && touch 140100.open.k3Fx0a 140000.sums-new 140100.notes "
		 "&& mkdir ../20261120 && touch ../20261120/235900-1.open.k3Fx0a");
	store_close(store_opened(folder, STORE_READ));
	shell_in(folder, "[ -e windows/20261121/140100.open.k3Fx0a ]");
	store_expect(folder, STORE_WRITE,
		     "140000.data 14:00:00+60s 15 samples 7 lost flags 1 before 0\n", "");
	shell_in(folder, "[ \"$(ls windows/20261121 | xargs)\" = '140000.data 140100.notes' ] && "
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
	shell_in(folder,
		 "cd windows/20261121 && mv 140000.data 140000.open && chmod 604 140000.open");
	store_close(store_opened(folder, STORE_WRITE));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, store_file_mode(folder));
	store_folder_remove(folder);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_told_by_their_files_without_an_index),
		cmocka_unit_test(a_torn_last_row_costs_nothing),
		cmocka_unit_test(a_damaged_row_is_made_again),
		cmocka_unit_test(a_row_of_another_window_is_not_taken_for_its_own),
		cmocka_unit_test(a_window_that_somebody_removed_is_told),
		cmocka_unit_test(a_window_that_cannot_be_read_is_told_and_kept),
		cmocka_unit_test(what_a_killed_writer_left_is_kept_if_it_can_be_read),
		cmocka_unit_test(what_a_killed_writer_had_not_named_goes),
		cmocka_unit_test(what_is_kept_of_a_killed_writer_has_the_rights_of_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
