/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tokens: only from files that are nobody else's business. */
#include "continuous/push_token.h"

#include "base/fail.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static char path[64];

static void write_token(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void blanks_around_a_token_do_not_count(void **state)
{
	CLEANUP(freep) char *token = NULL;

	write_token("\n  ab.c-1=\t\n", 0640);
	assert_int_equal(push_token_read(path, &token), 0);
	assert_string_equal(token, "ab.c-1=");
	(void)state;
}

static void what_others_can_read_is_refused(void **state)
{
	char *token = NULL;

	write_token("secret", 0644);
	assert_int_equal(push_token_read(path, &token), -EPERM);
	assert_null(token);
	assert_null(strstr(fail_sentence(), "secret"));
	(void)state;
}

static void what_is_no_token_is_refused(void **state)
{
	static const char *const texts[] = {"", " \n", "two words", "two\nlines", "a\rX-Other: b"};
	char *token = NULL;

	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		write_token(texts[i], 0600);
		assert_int_equal(push_token_read(path, &token), -EINVAL);
	}
	assert_int_equal(push_token_read("/tmp", &token), -EINVAL);
	assert_int_equal(push_token_read("/dev/zero", &token), -EINVAL);
	assert_int_equal(push_token_read("/none", &token), -ENOENT);
	(void)state;
}

static int make_file(void **state)
{
	strcpy(path, "/tmp/bpfprof-token-XXXXXX");
	close(mkstemp(path));
	(void)state;
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_around_a_token_do_not_count),
		cmocka_unit_test(what_others_can_read_is_refused),
		cmocka_unit_test(what_is_no_token_is_refused),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
