/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose a store is, and who may read what is in it. */
#include "base/fail.h"
#include "unit/continuous/windows.h"

#include <errno.h>
#include <unistd.h>

static void a_folder_of_somebody_else_is_refused(void **state)
{
	char *folder = store_folder();
	struct store *store = NULL;

	if (geteuid())
		skip();
	shell_in(folder, "echo precious >other && ln -s other lock && chown 12345 .");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -EPERM);
	assert_non_null(strstr(fail_sentence(), "is user 12345's"));
	shell_in(folder, "[ \"$(cat other)\" = precious ] && [ ! -e windows ]");
	store_folder_remove(folder);
	(void)state;
}

static void links_are_not_written_through(void **state)
{
	char *folder = store_folder();
	struct store *store = NULL;

	shell_in(folder, "echo precious >other && ln -s other lock");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -EPROTO);
	shell_in(folder, "rm lock && ln -s other format.new");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -EPROTO);
	shell_in(folder, "rm format.new && mkdir -p windows && ln -s ../other windows/index");
	assert_int_equal(store_open(folder, STORE_WRITE, &store), -EPROTO);
	shell_in(folder, "[ \"$(cat other)\" = precious ]");
	store_folder_remove(folder);
	(void)state;
}

static void what_was_in_a_store_is_given_once_to_the_group_that_its_folder_is_given_to(void **state)
{
	static const char prepare[] =
		"chmod -R go= . && chgrp -R 0 . && chgrp 64998 . && chmod 750 . && "
		"mkdir names/ab && touch names/ab/theirs names/ab/ours token && chmod 600 token && "
		"chown 12345 names/ab/theirs && ln -s ../../token names/ab/link && "
		"ln token names/ab/other_name";
	static const char given[] =
		"[ -z \"$(find format lock names/ab/ours windows ! -group 64998)\" ] && "
		"[ -z \"$(find windows names/ab/ours -type f ! -perm 640)\" ] && "
		"[ -z \"$(find windows names -type d ! -perm 2750)\" ] && "
		"[ \"$(stat -c '%u %g' names/ab/theirs)\" = '12345 0' ] && "
		"[ \"$(stat -c '%g %a' token)\" = '0 600' ]";
	char *folder;

	if (geteuid() != 0)
		skip(); /* needs root: gives files away */
	folder = store_folder();
	windows_put(folder, 2);
	shell_in(folder, prepare);
	store_close(store_opened(folder, STORE_READ));
	shell_in(folder, "[ $(stat -c %g windows) = 0 ]");
	store_close(store_opened(folder, STORE_WRITE));
	shell_in(folder, given);
	/* what somebody does then is his choice */
	shell_in(folder, "chmod 600 windows/20261121/140100.data");
	store_close(store_opened(folder, STORE_WRITE));
	shell_in(folder, "[ $(stat -c %a windows/20261121/140100.data) = 600 ]");
	store_folder_remove(folder);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_of_somebody_else_is_refused),
		cmocka_unit_test(links_are_not_written_through),
		cmocka_unit_test(
			what_was_in_a_store_is_given_once_to_the_group_that_its_folder_is_given_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
