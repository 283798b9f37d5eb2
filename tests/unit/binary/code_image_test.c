/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * By what the image of a file tells it from others, and from itself when it has been changed.
 */
#include "base/file.h"
#include "base/memory.h"
#include "unit/code_image_at.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static u64 state_of(const char *path, struct build_id *ret_id)
{
	struct code_image image = code_image_at(path);
	u64 state = image.state;

	*ret_id = image.id;
	code_image_release(&image);
	return state;
}

static void an_image_has_the_build_id_of_its_file(void **state)
{
	CLEANUP(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct build_id id, found;

	assert_int_equal(build_id_of_fd(fd, &id), 0);
	state_of("/proc/self/exe", &found);
	assert_true(build_id_is(&found, id.bytes, id.length));
	(void)state;
}

/* It may be changed again within a turn of the clock. */
static void what_was_changed_just_now_has_no_state(void **state)
{
	char path[] = "/tmp/code-image-XXXXXX";
	CLEANUP(freep) char *bytes = NULL;
	CLEANUP(closep) int fd = mkstemp(path);
	struct build_id id;
	size_t length;

	assert_int_equal(file_read("/proc/self/exe", 1 << 28, &bytes, &length), 0);
	assert_int_equal(file_write_all(fd, bytes, length), 0);
	assert_int_equal(state_of(path, &id), 0);
	unlink(path);
	(void)state;
}

static void what_is_old_has_a_state_of_its_own(void **state)
{
	static const char shell[] = "/bin/sh", linker[] = "/lib64/ld-linux-x86-64.so.2";
	struct build_id id;
	u64 first;

	if (access(shell, R_OK) || access(linker, R_OK))
		skip();
	first = state_of(shell, &id);
	assert_int_not_equal(first, 0);
	assert_int_equal(state_of(shell, &id), first);
	assert_int_not_equal(state_of(linker, &id), first);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_has_the_build_id_of_its_file),
		cmocka_unit_test(what_was_changed_just_now_has_no_state),
		cmocka_unit_test(what_is_old_has_a_state_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
