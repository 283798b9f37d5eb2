/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of /proc/PID/stat, whatever a process calls itself.
 */
#include "host/process_stat.h"

#include "base/file.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>
#include <string.h>

static const char behind[] = " S 17 1 1 0 -1 4194560 10 20 30 40 50 60 70 80 20 0 3 0 99 1 2\n";

static void a_name_may_look_like_the_rest(void **state)
{
	static const char *const names[] = {"bash", "a b", ") R 1 (", "(", "))", "new\nline", ""};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		CLEANUP(freep) char *text = must_format("42 (%s)%s", names[i], behind);
		struct process_stat stat;

		assert_int_equal(process_stat_parse(text, &stat), 0);
		assert_string_equal(stat.name, names[i]);
		assert_int_equal(stat.state, 'S');
		assert_int_equal(stat.parent, 17);
		assert_int_equal(stat.threads, 3);
	}
	(void)state;
}

static void a_text_that_is_cut_is_refused(void **state)
{
	CLEANUP(freep) char *whole = must_format("42 (x)%s", behind);
	size_t needed = (size_t)(strstr(whole, " 3 ") + 2 - whole);

	for (size_t length = 0; length < needed - 1; length++) {
		CLEANUP(freep) char *text = must_copy_bytes(whole, length);
		struct process_stat stat;

		assert_int_equal(process_stat_parse(text, &stat), -EBADMSG);
	}
	(void)state;
}

static void our_own_is_told(void **state)
{
	CLEANUP(freep) char *text = NULL;
	struct process_stat stat;

	assert_int_equal(file_read("/proc/self/stat", 4096, &text, NULL), 0);
	assert_int_equal(process_stat_parse(text, &stat), 0);
	assert_int_equal(stat.parent, getppid());
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.threads, 1);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_may_look_like_the_rest),
		cmocka_unit_test(a_text_that_is_cut_is_refused),
		cmocka_unit_test(our_own_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
