/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perfconfig files.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/config_file.h"
#include "unit/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Writes down what it is given: "key=value|". */
static int write_down(void *context, const struct config_pair *pair)
{
	text_appendf(context, "%s=%s|", pair->key, pair->value);
	return 0;
}

static void write_passed(void *context, const char *sentence)
{
	text_appendf(context, "(%s)", sentence);
}

static int refuse(void *context, const struct config_pair *pair)
{
	(void)context;
	return strcmp(pair->value, "bad") ? 7 : fail_plain(-ERANGE, NULL, "no such value");
}

static int read_text(const char *text, config_take *take, void *context)
{
	struct bytes bytes = {.start = (const u8 *)text, .length = strlen(text)};

	fail_clear();
	return config_read(bytes, "the file", take, context);
}

static void assert_reads(const char *text, const char *expected)
{
	CLEANUP(text_release) struct text seen = {0};

	assert_int_equal(read_text(text, write_down, &seen), 0);
	assert_string_equal(text_view(&seen), expected);
}

static void assert_refused(const char *text, const char *sentence)
{
	CLEANUP(text_release) struct text seen = {0};

	assert_int_equal(read_text(text, write_down, &seen), -EBADMSG);
	assert_string_equal(fail_sentence(), sentence);
}

static void keys_belong_to_their_section(void **state)
{
	assert_reads(
		"[report]\nchildren = false\nsort-order = comm,dso\n[call-graph]\norder=caller\n",
		"report.children=false|report.sort-order=comm,dso|call-graph.order=caller|");
	(void)state;
}

static void indented_keys_are_keys_of_their_own(void **state)
{
	assert_reads("[report]\n\ta = 1\n\tb = 2\n    c = 3", "report.a=1|report.b=2|report.c=3|");
	(void)state;
}

static void comments_and_empty_lines_are_passed_over(void **state)
{
	assert_reads("# one\n; two\n\n  # three\n[top] # four\nchildren = true ; five\n",
		     "top.children=true|");
	(void)state;
}

static void quotes_keep_blanks_and_comment_signs(void **state)
{
	assert_reads("[a]\nb = \"  x # y ; z \" \nc = one\"  \"two\n",
		     "a.b=  x # y ; z |a.c=one  two|");
	(void)state;
}

static void escapes_and_long_lines_are_joined(void **state)
{
	assert_reads("[a]\nb = x\\\\y\\\"z\\tw\nc = one \\\ntwo\nd = 1",
		     "a.b=x\\y\"z\tw|a.c=one two|a.d=1|");
	(void)state;
}

static void a_key_without_a_value_is_true(void **state)
{
	assert_reads("[report]\nchildren\nb =\n", "report.children=true|report.b=|");
	(void)state;
}

static void a_key_may_occur_many_times(void **state)
{
	assert_reads("[annotate]\nadd = a\nadd = b\n[annotate]\nadd = c\n",
		     "annotate.add=a|annotate.add=b|annotate.add=c|");
	(void)state;
}

static void a_section_may_have_a_part(void **state)
{
	assert_reads("[tui \"browser x\"]\ncolor = red\n", "tui.browser x.color=red|");
	(void)state;
}

static void lines_may_end_like_on_windows(void **state)
{
	assert_reads("[report]\r\nchildren = false\r\nb = c\r\n",
		     "report.children=false|report.b=c|");
	(void)state;
}

static void a_wrong_line_is_named(void **state)
{
	assert_refused("children = false\n", "the file line 1: a key before the first [section]");
	assert_refused("[report]\n\n= 3\n", "the file line 3: neither a [section] nor a key");
	assert_refused("[report\n", "the file line 1: not a [section]");
	assert_refused("[]\n", "the file line 1: not a [section]");
	assert_refused("[a]\nb = \"open\nc = 1\n", "the file line 2: the quote is not closed");
	assert_refused("[a]\nb c\n", "the file line 2: no = behind the key");
	assert_refused("[a]\nb = one \\\ntwo\nc = \\q\n",
		       "the file line 4: unknown escape in the value; write \\\\ for a backslash");
	(void)state;
}

static void what_the_taker_refuses_is_named_with_its_line(void **state)
{
	assert_int_equal(read_text("[a]\n\nb = bad\n", refuse, NULL), -ERANGE);
	assert_string_equal(fail_sentence(), "the file line 3: no such value");
	assert_int_equal(read_text("[a]\nb = c\n", refuse, NULL), 7);
	(void)state;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void the_files_of_the_home_directory_are_read_perfs_first(void **state)
{
	CLEANUP(text_release) struct text seen = {0};
	char home[] = "/tmp/config_file_test.XXXXXX";
	CLEANUP(freep) char *perfs = NULL, *ours = NULL;

	assert_non_null(mkdtemp(home));
	perfs = must_format("%s/.perfconfig", home);
	ours = must_format("%s/.bpfprofconfig", home);
	write_file(perfs, "[report]\nchildren = false\n");
	write_file(ours, "[report]\nchildren = true\n");
	setenv("HOME", home, 1);
	unsetenv("PERF_CONFIG");
	assert_int_equal(config_read_all(write_down, write_passed, &seen), 0);
	assert_non_null(strstr(text_view(&seen), "report.children=false|report.children=true|"));
	unlink(perfs);
	unlink(ours);
	rmdir(home);
	(void)state;
}

static void a_file_of_another_user_is_passed_over_with_a_word(void **state)
{
	CLEANUP(text_release) struct text seen = {0};
	char home[] = "/tmp/config_file_test.XXXXXX";
	CLEANUP(freep) char *ours = NULL, *sentence = NULL;

	if (geteuid())
		skip(); /* needs root: gives a file away */
	assert_non_null(mkdtemp(home));
	ours = must_format("%s/.bpfprofconfig", home);
	sentence = must_format("(%s is not read: it is user 12345's; give it to who runs bpfprof, "
			       "or to root)",
			       ours);
	write_file(ours, "[report]\nchildren = true\n");
	assert_int_equal(chown(ours, 12345, 12345), 0);
	setenv("HOME", home, 1);
	unsetenv("PERF_CONFIG");
	assert_int_equal(config_read_all(write_down, write_passed, &seen), 0);
	assert_non_null(strstr(text_view(&seen), sentence));
	assert_null(strstr(text_view(&seen), "report.children=true"));
	unlink(ours);
	rmdir(home);
	(void)state;
}

static void the_file_of_perf_config_is_read_alone_and_must_exist(void **state)
{
	CLEANUP(text_release) struct text seen = {0};
	char path[] = "/tmp/config_file_test.XXXXXX";

	close(mkstemp(path));
	write_file(path, "[top]\nchildren = false\n");
	setenv("PERF_CONFIG", path, 1);
	assert_int_equal(config_read_all(write_down, write_passed, &seen), 0);
	assert_string_equal(text_view(&seen), "top.children=false|");
	unlink(path);
	assert_int_equal(config_read_all(write_down, write_passed, &seen), -ENOENT);
	assert_non_null(strstr(fail_sentence(), path));
	unsetenv("PERF_CONFIG");
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_belong_to_their_section),
		cmocka_unit_test(indented_keys_are_keys_of_their_own),
		cmocka_unit_test(comments_and_empty_lines_are_passed_over),
		cmocka_unit_test(quotes_keep_blanks_and_comment_signs),
		cmocka_unit_test(escapes_and_long_lines_are_joined),
		cmocka_unit_test(a_key_without_a_value_is_true),
		cmocka_unit_test(a_key_may_occur_many_times),
		cmocka_unit_test(a_section_may_have_a_part),
		cmocka_unit_test(lines_may_end_like_on_windows),
		cmocka_unit_test(a_wrong_line_is_named),
		cmocka_unit_test(what_the_taker_refuses_is_named_with_its_line),
		cmocka_unit_test(the_files_of_the_home_directory_are_read_perfs_first),
		cmocka_unit_test(a_file_of_another_user_is_passed_over_with_a_word),
		cmocka_unit_test(the_file_of_perf_config_is_read_alone_and_must_exist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
