/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Option rows as help and as the manual's text.
 */
#include "base/memory.h"
#include "cli/options.h"
#include "unit/unit.h"

#include <string.h>

struct settings {
	u32 frequency_hz;
	u64 ring_bytes, duration_ns;
	bool children;
};

#define FIELD(field) .offset = offsetof(struct settings, field)

static const struct option_row rows[] = {
	{OPTION_HEADING, .help = "What to record"},
	{OPTION_U32, 'F', "freq", FIELD(frequency_hz), .argument = "HZ",
	 .help = "samples a second"},
	{OPTION_BYTES, 0, "ring-size", FIELD(ring_bytes), .argument = "BYTES",
	 .help = "a phrase that is so long that it can't stand on a line of eighty columns, with "
		 "a|list,of|many|more|words,than|fit|into,a|line|even|of|a,wide|terminal, and "
		 "has to be wrapped"},
	{OPTION_DURATION, 0, "duration", FIELD(duration_ns), .argument = "TIME",
	 .help = "end after this *time*"},
	{OPTION_HEADING, .help = "What to show"},
	{OPTION_FLAG, 0, "children", FIELD(children), .help = "add callees",
	 .config = "report.children"},
	{OPTION_FLAG, 0, "secret", FIELD(children), .help = "not shown", .hidden = true},
	{OPTION_END},
};

static const struct settings defaults = {
	.frequency_hz = 4000, .ring_bytes = 4 << 20, .children = true};

static const struct command command = {
	.name = "record",
	.summary = "record a profile",
	.synopsis = "[options] [-- command]",
	.examples = "bpfprof record -a\tall of it\nbpfprof record -p 7\tone process\n",
	.options = rows,
	.settings_bytes = sizeof(struct settings),
	.defaults = &defaults,
};

static char *text;
static size_t length;

static const char *help_of(unsigned int width)
{
	FILE *out;

	free(text);
	out = open_memstream(&text, &length);
	options_print_help(&command, out, width);
	fclose(out);
	return text;
}

static int tear_down(void **state)
{
	free(text);
	text = NULL;
	(void)state;
	return 0;
}

static void help_has_usage_headings_options_and_examples(void **state)
{
	const char *help = help_of(80);

	assert_non_null(strstr(help, "Usage: bpfprof record [options] [-- command]\n"));
	assert_non_null(strstr(help, "\nWhat to record:\n  -F, --freq HZ "));
	assert_non_null(strstr(help, "\nWhat to show:\n      --[no-]children    add callees\n"));
	assert_non_null(strstr(help, "\nExamples:\n  bpfprof record -a\n      All of it.\n"));
	assert_null(strstr(help, "secret"));
	(void)state;
}

static void defaults_are_told_with_their_units(void **state)
{
	const char *help = help_of(100);

	assert_non_null(strstr(help, "samples a second (default: 4000)\n"));
	assert_non_null(strstr(help, "(default: 4M)"));
	assert_non_null(strstr(help, "end after this *time*\n")); /* none: no word */
	(void)state;
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	for (unsigned int width = 60; width < 120; width += 7) {
		char *rest = (char *)help_of(width);
		char *line;

		while ((line = strsep(&rest, "\n")))
			assert_in_range(strlen(line), 0, width);
	}
	(void)state;
}

static void the_manual_has_every_option_and_no_mark_slips_through(void **state)
{
	FILE *out = open_memstream(&text, &length);

	options_print_manual(&command, out);
	fclose(out);
	assert_non_null(strstr(text, "## What to record\n"));
	assert_non_null(
		strstr(text, "\n*-F*, *--freq* _HZ_\n\tSamples a second (default: 4000).\n"));
	assert_non_null(strstr(text, "\tEnd after this \\*time\\*.\n"));
	assert_non_null(strstr(
		text, "*--[no-]children*\n\tAdd callees. Config file: *report.children*.\n"));
	assert_null(strstr(text, "secret"));
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(help_has_usage_headings_options_and_examples, tear_down),
		cmocka_unit_test_teardown(defaults_are_told_with_their_units, tear_down),
		cmocka_unit_test_teardown(no_line_is_wider_than_the_terminal, tear_down),
		cmocka_unit_test_teardown(the_manual_has_every_option_and_no_mark_slips_through,
					  tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
