/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole files.
 */
#include "base/file.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void a_proc_file_of_unknown_size_is_read_whole(void **state)
{
	CLEANUP(freep) char *text = NULL;
	size_t length = 0;

	assert_int_equal(file_read("/proc/self/maps", 1 << 20, &text, &length), 0);
	assert_true(length > 100);
	assert_int_equal(strlen(text), length);
	(void)state;
}

static void a_file_longer_than_the_limit_is_refused(void **state)
{
	char *text = NULL;

	assert_int_equal(file_read("/proc/self/maps", 10, &text, NULL), -EFBIG);
	assert_null(text);
	(void)state;
}

static void of_a_file_only_the_beginning_is_read(void **state)
{
	CLEANUP(freep) char *whole = NULL, *start = NULL;
	size_t whole_bytes, start_bytes;

	(void)state;
	assert_int_equal(file_read("/proc/version", 1 << 20, &whole, &whole_bytes), 0);
	assert_int_equal(file_read_start("/proc/version", 10, &start, &start_bytes), 0);
	assert_int_equal(start_bytes, 10);
	assert_memory_equal(start, whole, 10);
	assert_int_equal(start[10], 0);
	freep(&start);
	assert_int_equal(file_read_start("/proc/version", 1 << 20, &start, &start_bytes), 0);
	assert_string_equal(start, whole);
	assert_int_equal(file_read_start("/nonexistent", 10, &start, NULL), -ENOENT);
}

static void a_long_file_is_refused_before_it_is_read(void **state)
{
	CLEANUP(closep) int fd = memfd_create("sparse", 0);
	CLEANUP(freep) char *path = must_format("/proc/self/fd/%d", fd);
	char *text = NULL;

	/* Reading it up to this limit would take all memory. */
	assert_int_equal(ftruncate(fd, (off_t)1 << 50), 0);
	assert_int_equal(file_read(path, (size_t)1 << 48, &text, NULL), -EFBIG);
	assert_null(text);
	(void)state;
}

static void a_pipe_or_folder_is_not_mapped(void **state)
{
	CLEANUP(closep) int folder = open("/", O_RDONLY | O_CLOEXEC);
	struct bytes bytes = {0};
	int ends[2];

	assert_int_equal(file_map_fd(folder, &bytes), -EISDIR);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(file_map_fd(ends[0], &bytes), -EINVAL);
	close(ends[0]);
	close(ends[1]);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_file_only_the_beginning_is_read),
		cmocka_unit_test(a_proc_file_of_unknown_size_is_read_whole),
		cmocka_unit_test(a_file_longer_than_the_limit_is_refused),
		cmocka_unit_test(a_long_file_is_refused_before_it_is_read),
		cmocka_unit_test(a_pipe_or_folder_is_not_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
