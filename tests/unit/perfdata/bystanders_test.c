/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is left out of a recording for who only counts its samples: 5 is sampled, 7 started it, 9
 * started 7; 20 and what it started are of no matter, until they are.
 */
#include "unit/perfdata/foreign.h"

#include <linux/perf_event.h>

static const u64 short_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

enum { SAMPLE_ID_ALL = 1 << 18, USER = PERF_RECORD_MISC_USER, KERNEL = PERF_RECORD_MISC_KERNEL };

static void end_at(struct foreign *foreign, u64 time_ns)
{
	put64(foreign, 0); /* the trailer: TID and TIME */
	put64(foreign, time_ns);
	record_end(foreign);
}

static void put_life(struct foreign *foreign, u32 type, u32 id, u32 parent, u64 time_ns)
{
	record_begin(foreign, type, 0);
	put32(foreign, id);
	put32(foreign, parent);
	put32(foreign, id);
	put32(foreign, parent);
	put64(foreign, time_ns);
	end_at(foreign, time_ns);
}

static void put_name(struct foreign *foreign, u32 pid, u32 tid, u64 time_ns)
{
	record_begin(foreign, PERF_RECORD_COMM, 0);
	put32(foreign, pid);
	put32(foreign, tid);
	put_string(foreign, "name", 8);
	end_at(foreign, time_ns);
}

static void put_mapping(struct foreign *foreign, u16 misc, u32 pid, const char *path, u64 time_ns)
{
	record_begin(foreign, PERF_RECORD_MMAP2, misc);
	put32(foreign, pid);
	put32(foreign, pid);
	put64(foreign, 0x1000 * time_ns);
	put64(foreign, 0x1000);
	for (u32 i = 0; i < 5; i++)
		put64(foreign, 0);
	put_string(foreign, path, 16);
	end_at(foreign, time_ns);
}

/* --- who hears --- */

struct listener {
	struct event_sink sink; /* first: both have one address */
	struct text heard;	/* times */
};

static int hear(struct event_sink *sink, u64 time_ns)
{
	text_appendf(&((struct listener *)sink)->heard, "%" PRIu64 " ", time_ns);
	return 0;
}

static int hear_life(struct event_sink *sink, const struct thread_life *life)
{
	return hear(sink, life->time_ns);
}

static int hear_name(struct event_sink *sink, const struct thread_name *name)
{
	return hear(sink, name->time_ns);
}

static int hear_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	return hear(sink, mapping->time_ns);
}

static int hear_sample(struct event_sink *sink, const struct sample *sample)
{
	return hear(sink, sample->time_ns);
}

/* Reads what was put; the times of what is heard. Owned by the caller. */
static struct text heard_of(struct foreign *foreign)
{
	struct listener listener = {.sink = {.on_fork = hear_life,
					     .on_exit = hear_life,
					     .on_name = hear_name,
					     .on_mapping = hear_mapping,
					     .on_sample = hear_sample}};
	struct perfdata *data;

	foreign_end(foreign);
	data = foreign_open(foreign);
	perfdata_skip_bystanders(data);
	assert_int_equal(perfdata_read(data, &listener.sink), 0);
	perfdata_close(data);
	text_release(&foreign->bytes);
	return listener.heard;
}

static void assert_heard(struct foreign foreign, const char *times)
{
	struct text heard = heard_of(&foreign);

	assert_string_equal(text_view(&heard), times);
	text_release(&heard);
}

/* --- tests --- */

static void ancestors_of_what_is_sampled_are_heard(void **state)
{
	struct foreign foreign = foreign_begin(false, short_type, SAMPLE_ID_ALL);

	put_name(&foreign, 9, 9, 1);
	put_life(&foreign, PERF_RECORD_FORK, 7, 9, 2);
	put_life(&foreign, PERF_RECORD_FORK, 20, 9, 3);
	put_name(&foreign, 20, 20, 4);
	put_life(&foreign, PERF_RECORD_FORK, 21, 20, 5);
	put_life(&foreign, PERF_RECORD_FORK, 5, 7, 6);
	put_name(&foreign, 5, 6, 7);
	put_short_sample(&foreign, 8);
	put_life(&foreign, PERF_RECORD_EXIT, 21, 20, 9);
	put_life(&foreign, PERF_RECORD_EXIT, 7, 9, 10);
	assert_heard(foreign, "1 2 6 7 8 10 ");
	(void)state;
}

/* The id of a thread leads to that of its process, whose mappings it has. */
static void other_threads_of_a_process_are_heard(void **state)
{
	struct foreign foreign = foreign_begin(false, short_type, SAMPLE_ID_ALL);

	put_life(&foreign, PERF_RECORD_FORK, 30, 9, 1);
	put_name(&foreign, 5, 30, 2);
	put_life(&foreign, PERF_RECORD_FORK, 31, 30, 3);
	put_short_sample(&foreign, 4);
	assert_heard(foreign, "1 2 4 ");
	(void)state;
}

static void files_are_heard_of_when_they_are_first_mapped(void **state)
{
	struct foreign foreign = foreign_begin(false, short_type, SAMPLE_ID_ALL);

	put_mapping(&foreign, USER, 20, "/one", 1);
	put_mapping(&foreign, USER, 20, "/one", 2);
	put_mapping(&foreign, USER, 5, "/one", 3);
	put_mapping(&foreign, USER, 5, "/two", 4);
	put_mapping(&foreign, USER, 20, "/two", 5);
	put_mapping(&foreign, USER, 20, "/three", 6);
	put_mapping(&foreign, KERNEL, 20, "[module]", 7);
	put_mapping(&foreign, KERNEL, 20, "[module]", 8);
	put_short_sample(&foreign, 9);
	assert_heard(foreign, "1 3 4 6 7 8 9 ");
	(void)state;
}

/* Who forgets what ended long ago hears how late it is. */
static void exits_tell_that_time_goes_on(void **state)
{
	enum { MILLISECOND = 1000000 };
	struct foreign foreign = foreign_begin(false, short_type, SAMPLE_ID_ALL);

	put_life(&foreign, PERF_RECORD_EXIT, 20, 9, 100 * MILLISECOND);
	put_life(&foreign, PERF_RECORD_EXIT, 21, 9, 105 * MILLISECOND);
	put_life(&foreign, PERF_RECORD_EXIT, 22, 9, 300 * MILLISECOND);
	put_short_sample(&foreign, 400 * MILLISECOND);
	assert_heard(foreign, "100000000 300000000 400000000 ");
	(void)state;
}

/* Then it could be any. */
static void all_is_heard_if_samples_do_not_tell_their_process(void **state)
{
	struct foreign foreign = foreign_begin(false, PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
					       SAMPLE_ID_ALL);

	put_life(&foreign, PERF_RECORD_FORK, 20, 9, 1);
	record_begin(&foreign, PERF_RECORD_SAMPLE, USER);
	put64(&foreign, 0x1234);
	put64(&foreign, 2);
	record_end(&foreign);
	assert_heard(foreign, "1 2 ");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ancestors_of_what_is_sampled_are_heard),
		cmocka_unit_test(other_threads_of_a_process_are_heard),
		cmocka_unit_test(files_are_heard_of_when_they_are_first_mapped),
		cmocka_unit_test(exits_tell_that_time_goes_on),
		cmocka_unit_test(all_is_heard_if_samples_do_not_tell_their_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
