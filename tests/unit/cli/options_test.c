/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Option rows: what a person types becomes settings.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "cli/options.h"
#include "unit/unit.h"

#include <errno.h>
#include <string.h>

struct settings {
	bool all_cpus, children, no_inherit;
	u32 frequency_hz;
	u64 ring_bytes, duration_ns;
	double percent_limit;
	const char *output;
	struct text_list events;
	const char *graph;
	u32 graph_count;
	const char *level;
};

static int parse_graph(void *settings, const char *argument)
{
	struct settings *target = settings;

	if (argument && !strcmp(argument, "wrong"))
		return fail_plain(-ERANGE, "give fp", "no such call graph");
	target->graph = argument;
	target->graph_count++;
	return 0;
}

static int parse_level(void *settings, const char *argument)
{
	((struct settings *)settings)->level = argument ? argument : "usual";
	return 0;
}

#define FIELD(field) .offset = offsetof(struct settings, field)

static const struct option_row rows[] = {
	{OPTION_HEADING, .help = "What to record"},
	{OPTION_FLAG, 'a', "all-cpus", FIELD(all_cpus), .help = "all CPUs"},
	{OPTION_U32, 'F', "freq", FIELD(frequency_hz), .argument = "HZ",
	 .help = "samples a second"},
	{OPTION_BYTES, 0, "ring-size", FIELD(ring_bytes), .argument = "BYTES", .help = "ring"},
	{OPTION_DURATION, 0, "duration", FIELD(duration_ns), .argument = "TIME", .help = "end"},
	{OPTION_PERCENT, 0, "percent-limit", FIELD(percent_limit), .argument = "PERCENT",
	 .help = "leave out smaller ones", .config = "report.percent-limit"},
	{OPTION_TEXT, 'o', "output", FIELD(output), .argument = "FILE", .help = "file",
	 .config = "record.output"},
	{OPTION_LIST, 'e', "event", FIELD(events), .argument = "EVENT", .help = "event"},
	{OPTION_FLAG, 0, "children", FIELD(children), .help = "add callees",
	 .config = "report.children"},
	{OPTION_FLAG, 0, "no-inherit", FIELD(no_inherit), .help = "not the children"},
	{OPTION_CALL, 'g', "call-graph", .argument = "SPEC", .optional = ARGUMENT_MAYBE_NEXT,
	 .help = "graph", .parse = parse_graph},
	{OPTION_CALL, 'z', "compression-level", .argument = "LEVEL", .optional = ARGUMENT_ATTACHED,
	 .help = "compress", .parse = parse_level},
	{OPTION_END},
};

static const struct settings defaults = {.children = true, .frequency_hz = 4000};

static struct command command = {
	.name = "record",
	.options = rows,
	.settings_bytes = sizeof(struct settings),
	.defaults = &defaults,
};

static struct settings settings;
static struct arguments left;
static char *words[16];
static int error;

/* Parses a command line, written with blanks between the words. */
static void parse(const char *line)
{
	static char copy[256];
	char *rest = copy;
	int count = 0;

	options_release(&command, &settings, &left);
	fail_clear();
	snprintf(copy, sizeof(copy), "%s", line);
	while (*copy && rest)
		words[count++] = strsep(&rest, " ");
	left = (struct arguments){0};
	error = options_parse(&command, count, words, &settings, &left);
}

static void assert_refused(const char *line, const char *sentence)
{
	parse(line);
	assert_int_equal(error, -EINVAL);
	assert_string_equal(fail_sentence(), sentence);
}

static int set_up(void **state)
{
	setenv("PERF_CONFIG", "/dev/null", 1);
	command.stop_at_argument = false;
	(void)state;
	return 0;
}

static int tear_down(void **state)
{
	options_release(&command, &settings, &left);
	(void)state;
	return 0;
}

static void arguments_are_taken_attached_or_as_the_next_word(void **state)
{
	static const char *const lines[] = {"-F99",    "-F 99", "--freq=99", "--freq 99",
					    "--fr 99", "-aF99", "-F 1 -F 99"};

	for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
		parse(lines[i]);
		assert_int_equal(error, 0);
		assert_int_equal(settings.frequency_hz, 99);
		assert_int_equal(left.count, 0);
	}
	(void)state;
}

static void defaults_stay_where_nothing_was_typed(void **state)
{
	parse("");
	assert_int_equal(error, 0);
	assert_int_equal(settings.frequency_hz, 4000);
	assert_true(settings.children);
	assert_false(settings.all_cpus);
	(void)state;
}

static void units_are_understood(void **state)
{
	parse("--ring-size 4M --duration 250ms --percent-limit 0.5 -o x");
	assert_int_equal(error, 0);
	assert_int_equal(settings.ring_bytes, 4 << 20);
	assert_int_equal(settings.duration_ns, 250000000);
	assert_true(settings.percent_limit == 0.5);
	assert_string_equal(settings.output, "x");
	(void)state;
}

static void a_flag_can_be_taken_back(void **state)
{
	parse("--no-children -a --no-all-cpus --no-inherit");
	assert_int_equal(error, 0);
	assert_false(settings.children);
	assert_false(settings.all_cpus);
	assert_true(settings.no_inherit);
	parse("--no-inherit --inherit --no-children --children");
	assert_false(settings.no_inherit);
	assert_true(settings.children);
	(void)state;
}

static void a_list_keeps_every_value_in_order(void **state)
{
	parse("-e cycles --event=faults -econtext-switches");
	assert_int_equal(settings.events.count, 3);
	assert_string_equal(settings.events.items[0], "cycles");
	assert_string_equal(settings.events.items[1], "faults");
	assert_string_equal(settings.events.items[2], "context-switches");
	(void)state;
}

static void an_optional_argument_may_be_the_next_word_unless_it_is_an_option(void **state)
{
	parse("-g caller -a");
	assert_string_equal(settings.graph, "caller");
	assert_true(settings.all_cpus);
	parse("-g -a");
	assert_null(settings.graph);
	assert_int_equal(settings.graph_count, 1);
	assert_true(settings.all_cpus);
	parse("-ggraph,0.5 file");
	assert_string_equal(settings.graph, "graph,0.5");
	assert_int_equal(left.count, 1);
	parse("--call-graph");
	assert_null(settings.graph);
	(void)state;
}

static void an_attached_argument_never_takes_the_next_word(void **state)
{
	parse("-z 3");
	assert_string_equal(settings.level, "usual");
	assert_int_equal(left.count, 1);
	parse("-z3");
	assert_string_equal(settings.level, "3");
	parse("--compression-level=7");
	assert_string_equal(settings.level, "7");
	(void)state;
}

static void options_may_follow_arguments(void **state)
{
	parse("old.data -a new.data");
	assert_true(settings.all_cpus);
	assert_int_equal(left.count, 2);
	assert_string_equal(left.items[0], "old.data");
	assert_string_equal(left.items[1], "new.data");
	assert_int_equal(left.after_dashes, 0);
	(void)state;
}

static void two_dashes_end_the_options(void **state)
{
	parse("one -a -- ls -l");
	assert_true(settings.all_cpus);
	assert_int_equal(left.count, 3);
	assert_int_equal(left.after_dashes, 2);
	assert_string_equal(left.items[0], "one");
	assert_string_equal(left.items[2], "-l");
	(void)state;
}

static void the_command_to_run_keeps_its_own_options(void **state)
{
	command.stop_at_argument = true;
	parse("-F 99 ls -a -- x");
	assert_int_equal(error, 0);
	assert_false(settings.all_cpus);
	assert_int_equal(left.count, 4);
	assert_string_equal(left.items[0], "ls");
	assert_string_equal(left.items[1], "-a");
	assert_string_equal(left.items[2], "--");
	assert_int_equal(left.after_dashes, 0);
	(void)state;
}

static void a_lone_dash_is_an_argument(void **state)
{
	parse("-o - -");
	assert_string_equal(settings.output, "-");
	assert_int_equal(left.count, 1);
	assert_string_equal(left.items[0], "-");
	(void)state;
}

static void help_is_left_to_the_caller(void **state)
{
	parse("-a --help");
	assert_int_equal(error, -ECANCELED);
	parse("-ah");
	assert_int_equal(error, -ECANCELED);
	(void)state;
}

static void an_unknown_option_is_answered_with_the_nearest(void **state)
{
	assert_refused("--frequncy 99", "unknown option --frequncy; did you mean --freq?");
	assert_refused("--all-cpu=1", "--all-cpu takes no argument");
	assert_refused("--outptu=x", "unknown option --outptu; did you mean --output?");
	assert_refused("--no-chidlren",
		       "unknown option --no-chidlren; did you mean --no-children?");
	assert_refused("--qqq", "unknown option --qqq; see bpfprof record --help");
	assert_refused("-aQ", "unknown option -Q; see bpfprof record --help");
	(void)state;
}

static void a_beginning_of_several_names_lists_them(void **state)
{
	assert_refused("--c", "option --c could be --children --call-graph --compression-level; "
			      "type more of it");
	(void)state;
}

static void a_missing_argument_is_named(void **state)
{
	assert_refused("-F", "-F needs an argument: HZ");
	assert_refused("-a --output", "--output needs an argument: FILE");
	assert_refused("--freq=", "--freq: the HZ is empty");
	(void)state;
}

static void a_wrong_value_says_what_would_be_right(void **state)
{
	assert_refused("-F 99x", "-F 99x: not understood; give a whole number");
	assert_refused("--freq 4294967296", "--freq 4294967296: out of range; give a whole number");
	assert_refused("--percent-limit=101",
		       "--percent-limit 101: out of range; give a percentage from 0 to 100");
	assert_refused("-g wrong", "-g wrong: no such call graph; give fp");
	(void)state;
}

/* Parses `line` with a config file that holds `text`. */
static void parse_with_config(const char *text, const char *line)
{
	char path[] = "/tmp/options_test.XXXXXX";
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	setenv("PERF_CONFIG", path, 1);
	parse(line);
	unlink(path);
}

static void the_command_line_wins_over_the_config_file(void **state)
{
	static const char config[] = "[report]\n\tchildren = false\n\tpercent-limit = 3\n"
				     "[record]\n\toutput = \"from config\"\n[ui]\n\tunknown = 1\n";

	parse_with_config(config, "");
	assert_int_equal(error, 0);
	assert_false(settings.children);
	assert_true(settings.percent_limit == 3);
	assert_string_equal(settings.output, "from config");
	parse_with_config(config, "--children --percent-limit 2 -o typed");
	assert_true(settings.children);
	assert_true(settings.percent_limit == 2);
	assert_string_equal(settings.output, "typed");
	(void)state;
}

static void assert_warned(const char *text, const char *sentence)
{
	parse_with_config(text, "");
	assert_int_equal(error, 0);
	assert_int_equal(left.warnings.count, *sentence ? 1 : 0);
	if (*sentence)
		assert_non_null(strstr(left.warnings.items[0], sentence));
	options_release(&command, &settings, &left);
}

static void what_nobody_knows_in_a_config_file_is_told(void **state)
{
	assert_warned("[report]\nchildern = false\n",
		      " line 2: unknown key report.childern; did you mean report.children?");
	assert_warned("[record]\n\nzzzzzzzz = 1\n",
		      " line 3: unknown key record.zzzzzzzz; see bpfprof ");
	assert_warned("[deamon]\nfreq = 1\nwindow = 1s\n",
		      " line 2: unknown section [deamon]; did you mean [daemon]?");
	/* perf's, and other commands' */
	assert_warned("[colors]\ntop = red\n[session-x]\nrun = y\n[report]\nqueue-size = 1\n"
		      "[diff]\nalpha = 1%\nwhatever = 1\n[daemon]\nfreq = 1\n[cache]\ndir = x\n",
		      "");
	(void)state;
}

static void a_wrong_value_in_a_config_file_is_found_by_its_line(void **state)
{
	const char *sentence;

	parse_with_config("[report]\n\n\tchildren = perhaps\n", "");
	assert_int_equal(error, -EINVAL);
	sentence = fail_sentence();
	assert_non_null(
		strstr(sentence, " line 3: report.children: 'perhaps' is neither yes nor no"));
	parse_with_config("[report]\npercent-limit = 900", "");
	assert_non_null(strstr(fail_sentence(), " line 2: report.percent-limit 900: out of range"));
	(void)state;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(arguments_are_taken_attached_or_as_the_next_word),
		TEST(defaults_stay_where_nothing_was_typed),
		TEST(units_are_understood),
		TEST(a_flag_can_be_taken_back),
		TEST(a_list_keeps_every_value_in_order),
		TEST(an_optional_argument_may_be_the_next_word_unless_it_is_an_option),
		TEST(an_attached_argument_never_takes_the_next_word),
		TEST(options_may_follow_arguments),
		TEST(two_dashes_end_the_options),
		TEST(the_command_to_run_keeps_its_own_options),
		TEST(a_lone_dash_is_an_argument),
		TEST(help_is_left_to_the_caller),
		TEST(an_unknown_option_is_answered_with_the_nearest),
		TEST(a_beginning_of_several_names_lists_them),
		TEST(a_missing_argument_is_named),
		TEST(a_wrong_value_says_what_would_be_right),
		TEST(the_command_line_wins_over_the_config_file),
		TEST(what_nobody_knows_in_a_config_file_is_told),
		TEST(a_wrong_value_in_a_config_file_is_found_by_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
