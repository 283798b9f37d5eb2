/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What -e means: names, modifiers, raw numbers, and PMU terms from a made-up sysfs.
 */
#include "base/fail.h"
#include "capture/event_parser.h"
#include "unit/capture/sysfs.h"
#include "unit/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* A core PMU as Intel's look, and a second one whose terms are odd. */
static const struct sysfs_file sysfs_files[] = {
	{"cpu/type", "4\n"},
	{"cpu/format/event", "config:0-7\n"},
	{"cpu/format/umask", "config:8-15\n"},
	{"cpu/format/edge", "config:18\n"},
	{"cpu/format/offcore_rsp", "config1:0-63\n"},
	{"cpu/format/ldlat", "config1:0-15\n"},
	{"cpu/events/cpu-cycles", "event=0x3c\n"},
	{"cpu/events/cache-misses", "event=0x2e,umask=0x41\n"},
	{"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
	{"odd/type", "37\n"},
	{"odd/format/split", "config:0-7,32-35\n"},
	{"odd/format/strange", "config9:0-7\n"},
	{"odd/events/parted", "split=?\n"},
};

static int make_sysfs(void **state)
{
	(void)state;
	return sysfs_make(sysfs_files, ARRAY_COUNT(sysfs_files));
}

/* The single event of `text`; the caller frees it with events_free(event, 1). */
static struct parsed_event *parse_one(const char *text)
{
	struct parsed_event *events;
	size_t count;

	fail_clear();
	events_parse(text, root, &events, &count);
	assert_string_equal(fail_sentence(), "");
	assert_int_equal(count, 1);
	return events;
}

static void assert_config(const char *text, u32 type, u64 config, u64 config1)
{
	struct parsed_event *event = parse_one(text);

	assert_int_equal(event->type, type);
	assert_int_equal(event->config, config);
	assert_int_equal(event->config1, config1);
	events_free(event, 1);
}

/* Refused with `error`, and the sentence holds `words`. */
static void assert_refused(const char *text, int error, const char *words)
{
	struct parsed_event *events = NULL;
	size_t count = 7;

	assert_int_equal(events_parse(text, root, &events, &count), error);
	assert_null(events);
	assert_int_equal(count, 7);
	if (!strstr(fail_sentence(), words))
		assert_string_equal(fail_sentence(), words); /* shows both */
}

static void every_name_of_perf_stands_for_its_number(void **state)
{
	assert_config("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
	assert_config("branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	assert_config("ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 0);
	assert_config("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0);
	assert_config("cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0);
	assert_config("major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 0);
	(void)state;
}

static void commas_separate_events_but_not_terms(void **state)
{
	struct parsed_event *events;
	size_t count;

	assert_int_equal(
		events_parse("cpu-clock:u,cpu/event=0x3c,umask=1/,r1a8", root, &events, &count), 0);
	assert_int_equal(count, 3);
	assert_string_equal(events[0].name, "cpu-clock:u");
	assert_string_equal(events[1].name, "cpu/event=0x3c,umask=1/");
	assert_string_equal(events[2].name, "r1a8");
	assert_int_equal(events[1].config, 0x13c);
	assert_int_equal(events[2].type, PERF_TYPE_RAW);
	assert_int_equal(events[2].config, 0x1a8);
	events_free(events, count);
	(void)state;
}

static void modifiers_exclude_what_they_do_not_name(void **state)
{
	static const struct {
		const char *text;
		bool exclude_user, exclude_kernel;
		u8 precise;
	} rows[] = {
		{"cycles", false, false, 0},	   {"cycles:u", false, true, 0},
		{"cycles:k", true, false, 0},	   {"cycles:uk", false, false, 0},
		{"cycles:ppp", false, false, 3},   {"cycles:upp", false, true, 2},
		{"cpu/event=1/u", false, true, 0}, {"cpu/event=1/:kp", true, false, 1},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct parsed_event *event = parse_one(rows[i].text);

		assert_int_equal(event->exclude_user, rows[i].exclude_user);
		assert_int_equal(event->exclude_kernel, rows[i].exclude_kernel);
		assert_int_equal(event->precise, rows[i].precise);
		assert_string_equal(event->name, rows[i].text);
		events_free(event, 1);
	}
	(void)state;
}

static void terms_fill_the_bits_that_sysfs_names(void **state)
{
	assert_config("cpu/event=0x3c,umask=0xff/", 4, 0xff3c, 0);
	assert_config("cpu/event=0xb7,offcore_rsp=0xffffffffffffffff/", 4, 0xb7, ~0ULL);
	assert_config("cpu/event=1,edge/", 4, 0x40001, 0);
	assert_config("odd/split=0xabc/", 37, 0xa000000bc, 0);
	(void)state;
}

static void configs_can_be_given_whole(void **state)
{
	struct parsed_event *event = parse_one("cpu/config=0x1,config1=0x2,config2=3/");

	assert_int_equal(event->config, 1);
	assert_int_equal(event->config1, 2);
	assert_int_equal(event->config2, 3);
	events_free(event, 1);
	assert_config("cpu/r13c/", 4, 0x13c, 0);
	assert_config("cpu/config=0xff3c,umask=1/", 4, 0x13c, 0);
	(void)state;
}

static void ready_made_events_of_a_pmu_expand(void **state)
{
	assert_config("cpu/cache-misses/", 4, 0x412e, 0);
	assert_config("cpu/mem-loads/", 4, 0x1cd, 3);
	assert_config("cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30);
	assert_config("cpu/cycles/", 4, 0x3c, 0);
	assert_config("mem-loads", 4, 0x1cd, 3);
	(void)state;
}

static void an_event_can_bring_its_own_name_and_rate(void **state)
{
	struct parsed_event *event = parse_one("cpu/event=0x3c,name=mine,period=5000/u");

	assert_string_equal(event->name, "mine");
	assert_int_equal(event->rate, 5000);
	assert_false(event->is_frequency);
	assert_true(event->exclude_kernel);
	events_free(event, 1);
	event = parse_one("cpu/event=0x3c,freq=250/");
	assert_int_equal(event->rate, 250);
	assert_true(event->is_frequency);
	events_free(event, 1);
	(void)state;
}

static void unknown_names_are_answered_with_the_nearest(void **state)
{
	assert_refused("cyclse", -ENOENT, "did you mean 'cycles'?");
	assert_refused("cpu-clokc", -ENOENT,
		       "unknown event 'cpu-clokc'; did you mean 'cpu-clock'?");
	assert_refused("cpi/event=1/", -ENOENT, "unknown PMU 'cpi'; did you mean 'cpu'?");
	assert_refused("cpu/evnt=1/", -ENOENT,
		       "unknown term of PMU cpu 'evnt'; did you mean 'event'?");
	assert_refused("cpu/cach-misses/", -ENOENT, "did you mean 'cache-misses'?");
	assert_refused("no-such-thing-at-all", -ENOENT,
		       "unknown event 'no-such-thing-at-all'; give a hardware");
	(void)state;
}

static void what_cannot_be_sampled_says_so(void **state)
{
	assert_refused("sched:sched_switch", -ENOENT, "tracepoint 'sched:sched_switch'");
	assert_refused("{cycles,instructions}", -EINVAL, "groups");
	(void)state;
}

static void malformed_events_are_refused(void **state)
{
	assert_refused("", -EINVAL, "empty event");
	assert_refused("cycles,", -EINVAL, "empty event");
	assert_refused("cycles,,cpu-clock", -EINVAL, "empty event");
	assert_refused("cpu/event=1", -EINVAL, "second '/'");
	assert_refused("cycles:x", -EINVAL, "unknown modifier 'x'");
	assert_refused("cycles:pppp", -EINVAL, "more than three p");
	assert_refused("r12345678123456781", -ENOENT, "unknown event");
	assert_refused("cpu/event=0x100/", -EINVAL, "too large, it has 8 bits");
	assert_refused("cpu/event=abc/", -EINVAL, "not a number");
	assert_refused("cpu/config/", -EINVAL, "config needs a number");
	assert_refused("cpu/period=0/", -EINVAL, "period needs a number");
	assert_refused("odd/strange=1/", -EINVAL, "format of term 'strange'");
	assert_refused("odd/parted/", -EINVAL, "needs a value");
	assert_refused("../cpu/event=1/", -ENOENT, "unknown");
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_of_perf_stands_for_its_number),
		cmocka_unit_test(commas_separate_events_but_not_terms),
		cmocka_unit_test(modifiers_exclude_what_they_do_not_name),
		cmocka_unit_test(terms_fill_the_bits_that_sysfs_names),
		cmocka_unit_test(configs_can_be_given_whole),
		cmocka_unit_test(ready_made_events_of_a_pmu_expand),
		cmocka_unit_test(an_event_can_bring_its_own_name_and_rate),
		cmocka_unit_test(unknown_names_are_answered_with_the_nearest),
		cmocka_unit_test(what_cannot_be_sampled_says_so),
		cmocka_unit_test(malformed_events_are_refused),
	};

	return cmocka_run_group_tests(tests, make_sysfs, sysfs_remove);
}
