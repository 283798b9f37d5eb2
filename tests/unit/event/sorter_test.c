/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events in the order of their times, whatever the order in which they come.
 */
#include "base/memory.h"
#include "base/text.h"
#include "event/event.h"
#include "unit/unit.h"

#include <errno.h>
#include <string.h>

/* Writes down what comes: a letter and the time, and what it points to. */
struct writer {
	struct event_sink sink;
	struct text text;
	u64 refused_ns; /* a sample of this time is an error */
};

static struct text *text_of(struct event_sink *sink)
{
	return &((struct writer *)sink)->text;
}

static unsigned int number(u64 value)
{
	return (unsigned int)value;
}

static int write_sample(struct event_sink *sink, const struct sample *sample)
{
	text_appendf(text_of(sink), "s%u", number(sample->time_ns));
	for (u32 i = 0; i < sample->frame_count; i++)
		text_appendf(text_of(sink), "<%u", number(sample->frames[i].address));
	for (u32 i = 0; i < sample->branch_count; i++)
		text_appendf(text_of(sink), "[%u>%u", number(sample->branches[i].from),
			     number(sample->branches[i].to));
	text_append(text_of(sink), " ");
	return sample->time_ns == ((struct writer *)sink)->refused_ns ? -EPIPE : 0;
}

static int write_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	text_appendf(text_of(sink), "m%u=%s ", number(mapping->time_ns), mapping->path);
	return 0;
}

static int write_name(struct event_sink *sink, const struct thread_name *name)
{
	text_appendf(text_of(sink), "n%u=%s ", number(name->time_ns), name->name);
	return 0;
}

static int write_exit(struct event_sink *sink, const struct thread_life *life)
{
	text_appendf(text_of(sink), "x%u ", number(life->time_ns));
	return 0;
}

static int write_round(struct event_sink *sink, u64 time_ns)
{
	text_appendf(text_of(sink), "round%u ", number(time_ns));
	return 0;
}

static int write_end(struct event_sink *sink)
{
	text_append(text_of(sink), "end");
	return 0;
}

static struct writer a_writer(void)
{
	return (struct writer){.sink = {.on_sample = write_sample,
					.on_mapping = write_mapping,
					.on_name = write_name,
					.on_exit = write_exit,
					.on_round = write_round,
					.on_end = write_end}};
}

static void feed_sample(struct event_sink *sorter, u64 time_ns)
{
	struct frame frames[] = {{.address = time_ns + 1}, {.address = time_ns + 2}};
	struct branch branches[] = {{.from = time_ns + 3, .to = time_ns + 4}};
	struct sample sample = {.time_ns = time_ns,
				.frame_count = 2,
				.frames = frames,
				.branch_count = 1,
				.branches = branches};

	assert_int_equal(sorter->on_sample(sorter, &sample), 0);
	memset(frames, 0, sizeof(frames)); /* what was lent is gone */
	memset(branches, 0, sizeof(branches));
}

static void feed_name(struct event_sink *sorter, u64 time_ns)
{
	char text[] = "name";
	struct thread_name name = {.time_ns = time_ns, .name = text};

	assert_int_equal(sorter->on_name(sorter, &name), 0);
	memset(text, 'x', sizeof(text) - 1);
}

static void feed_mapping(struct event_sink *sorter, u64 time_ns)
{
	char path[] = "/file";
	struct mapping mapping = {.time_ns = time_ns, .path = path};

	assert_int_equal(sorter->on_mapping(sorter, &mapping), 0);
	memset(path, 'x', sizeof(path) - 1);
}

static void what_is_older_than_the_round_comes_by_time(void **state)
{
	struct writer writer = a_writer();
	struct event_sink *sorter = sorter_new(&writer.sink);
	struct thread_life life = {.time_ns = 40};

	feed_mapping(sorter, 0);
	feed_name(sorter, 30);
	sorter->on_exit(sorter, &life);
	feed_sample(sorter, 50);
	feed_sample(sorter, 20);
	assert_string_equal(text_view(&writer.text), "");
	assert_int_equal(sorter->on_round(sorter, 40), 0);
	assert_string_equal(text_view(&writer.text), "m0=/file s20<21<22[23>24 n30=name round40 ");
	text_truncate(&writer.text, 0);
	feed_sample(sorter, 10); /* too late for its round */
	assert_int_equal(sorter->on_round(sorter, 45), 0);
	assert_string_equal(text_view(&writer.text), "s10<11<12[13>14 x40 round45 ");
	text_truncate(&writer.text, 0);
	assert_int_equal(sorter->on_end(sorter), 0);
	assert_string_equal(text_view(&writer.text), "s50<51<52[53>54 end");
	sorter_free(sorter);
	text_release(&writer.text);
	(void)state;
}

static void equal_times_stay_in_order(void **state)
{
	struct writer writer = a_writer();
	struct event_sink *sorter = sorter_new(&writer.sink);

	feed_name(sorter, 5);
	feed_mapping(sorter, 5);
	feed_name(sorter, 5);
	assert_int_equal(sorter->on_end(sorter), 0);
	assert_string_equal(text_view(&writer.text), "n5=name m5=/file n5=name end");
	sorter_free(sorter);
	text_release(&writer.text);
	(void)state;
}

static void an_error_ends_the_round_and_nothing_is_left(void **state)
{
	struct writer writer = a_writer();
	struct event_sink *sorter = sorter_new(&writer.sink);

	writer.refused_ns = 1;
	feed_sample(sorter, 1);
	feed_name(sorter, 2);
	feed_name(sorter, 9);
	assert_int_equal(sorter->on_round(sorter, 3), -EPIPE);
	assert_string_equal(text_view(&writer.text), "s1<2<3[4>5 ");
	sorter_free(sorter); /* with what was still kept */
	sorter_free(NULL);
	text_release(&writer.text);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_older_than_the_round_comes_by_time),
		cmocka_unit_test(equal_times_stay_in_order),
		cmocka_unit_test(an_error_ends_the_round_and_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
