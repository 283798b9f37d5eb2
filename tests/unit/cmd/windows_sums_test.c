/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums are there where they save something, and only there. */
#include "base/fail.h"
#include "cmd/windows_read.h"
#include "cmd/windows_sums.h"
#include "unit/continuous/windows.h"

#include <errno.h>
#include <sys/stat.h>

enum { WINDOWS = 3 };

struct fixture {
	char *folder, *path;
	struct asked_windows windows;
	struct windows_run run;
	struct profile *profile;
};

static int set_up(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));
	struct window_choice choice = {0};
	const struct windows_reading how = {
		.builder = &windows_sums_settings,
		.filter = &(struct filter_settings){0},
	};

	*state = fixture;
	fixture->folder = store_folder();
	windows_put(fixture->folder, WINDOWS);
	choice.store = fixture->folder;
	assert_int_equal(asked_windows_find(&choice, FIRST_NS + 60 * MINUTE_NS, &fixture->windows),
			 0);
	fixture->run = (struct windows_run){fixture->folder, fixture->windows.windows.items,
					    WINDOWS};
	fixture->path = store_sums_path(fixture->folder, FIRST_NS);
	return windows_read(&fixture->windows, how, &fixture->profile);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	profile_free(fixture->profile);
	asked_windows_release(&fixture->windows);
	free(fixture->path);
	store_folder_remove(fixture->folder);
	free(fixture);
	return 0;
}

/* Writes the sums as if the windows took so many bytes. Returns how large they are; 0: not there.
 */
static u64 written(struct fixture *fixture, u64 windows_bytes)
{
	struct stat status;
	bool little;

	for (size_t i = 0; i < WINDOWS; i++)
		fixture->windows.windows.items[i].facts.bytes = i ? 0 : windows_bytes;
	assert_int_equal(windows_sums_write(&fixture->run, fixture->profile, &little), 0);
	if (stat(fixture->path, &status))
		status.st_size = 0;
	assert_int_equal(little, !status.st_size);
	return (u64)status.st_size;
}

static void sums_are_kept_up_to_a_quarter_of_the_windows(void **state)
{
	struct fixture *fixture = *state;
	u64 bytes = written(fixture, 1ull << 40);
	struct profile *read = NULL;

	assert_true(bytes > 0);
	assert_int_equal(written(fixture, bytes * 4), bytes);
	assert_int_equal(windows_sums_read(&fixture->run, &read), 0);
	assert_int_equal(read->totals.samples, WINDOWS * WINDOW_SAMPLES);
	profile_free(read);
}

static void larger_sums_are_not_and_take_older_ones_with_them(void **state)
{
	struct fixture *fixture = *state;
	u64 bytes = written(fixture, 1ull << 40);
	struct profile *read = NULL;

	assert_int_equal(written(fixture, bytes * 4 - 1), 0);
	assert_int_equal(windows_sums_read(&fixture->run, &read), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_are_kept_up_to_a_quarter_of_the_windows,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(larger_sums_are_not_and_take_older_ones_with_them,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
