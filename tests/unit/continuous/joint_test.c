/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows as one stream of events.
 */
#include "continuous/joint.h"

#include "unit/unit.h"

enum { BEGIN_NS = 5000000, ROUNDED_NS = 4999000, LATER_NS = 5000700 };

struct heard {
	struct passing_sink passing; /* first */
	u64 name_ns, sample_ns;
	u32 names, mappings;
};

static int hear_name(struct event_sink *sink, const struct thread_name *name)
{
	struct heard *heard = (struct heard *)sink;

	heard->name_ns = name->time_ns;
	heard->names++;
	return 0;
}

static int hear_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	((struct heard *)sink)->mappings++;
	(void)mapping;
	return 0;
}

static int hear_sample(struct event_sink *sink, const struct sample *sample)
{
	((struct heard *)sink)->sample_ns = sample->time_ns;
	return 0;
}

/* What a file has of a window that begins then, and calls a thread so before that. */
static void tell_window(struct joint *joint, u64 begin_ns, const char *name)
{
	struct thread_name named = {.pid = 7, .tid = 7, .name = name};

	joint_set_begin(joint, begin_ns);
	sink_call(joint_sink(joint), on_name, &named);
}

static void a_name_of_a_later_window_is_none_of_the_one_before(void **state)
{
	struct heard heard = {0};
	struct joint *joint;
	struct sample rounded = {.pid = 7, .tid = 7, .time_ns = ROUNDED_NS};
	struct sample later = {.pid = 7, .tid = 7, .time_ns = LATER_NS};

	(void)state;
	heard.passing.sink.on_name = hear_name;
	heard.passing.sink.on_sample = hear_sample;
	joint = joint_new(&heard.passing.sink);
	tell_window(joint, 0, "sh");
	assert_int_equal(heard.name_ns, 0);
	tell_window(joint, BEGIN_NS, "gcc");
	assert_int_equal(heard.name_ns, BEGIN_NS);
	sink_call(joint_sink(joint), on_sample, &rounded);
	assert_int_equal(heard.sample_ns, BEGIN_NS);
	sink_call(joint_sink(joint), on_sample, &later);
	assert_int_equal(heard.sample_ns, LATER_NS);
	joint_free(joint);
}

/* What a window tells of the process or thread 7, and that code of it is mapped. */
static void tell_of(struct joint *joint, u32 pid)
{
	struct thread_name named = {.pid = pid, .tid = 7, .name = "sh"};
	struct mapping mapped = {.pid = pid, .start = 0x1000, .bytes = 0x1000, .path = "/bin/sh"};

	sink_call(joint_sink(joint), on_name, &named);
	sink_call(joint_sink(joint), on_mapping, &mapped);
}

static void a_number_that_was_a_threads_meanwhile_is_another_process(void **state)
{
	struct heard heard = {0};
	struct joint *joint;
	struct thread_life born = {.pid = 5, .tid = 7, .is_synthesized = true};

	(void)state;
	heard.passing.sink.on_name = hear_name;
	heard.passing.sink.on_mapping = hear_mapping;
	joint = joint_new(&heard.passing.sink);
	tell_of(joint, 7);
	tell_of(joint, 7); /* it lives on */
	assert_int_equal(heard.names, 1);
	assert_int_equal(heard.mappings, 1);
	tell_of(joint, 5); /* of the same name */
	assert_int_equal(heard.names, 2);
	assert_int_equal(heard.mappings, 2);
	tell_of(joint, 7);
	assert_int_equal(heard.names, 3);
	assert_int_equal(heard.mappings, 3);
	sink_call(joint_sink(joint), on_fork, &born);
	tell_of(joint, 7);
	assert_int_equal(heard.names, 4);
	assert_int_equal(heard.mappings, 4);
	joint_free(joint);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_of_a_later_window_is_none_of_the_one_before),
		cmocka_unit_test(a_number_that_was_a_threads_meanwhile_is_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
