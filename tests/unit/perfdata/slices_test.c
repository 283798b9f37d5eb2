/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording read in parts: together they hear what one reader hears, and each knows what was
 * before.
 */
#include "unit/perfdata/foreign.h"

#include "base/fail.h"

#include <linux/perf_event.h>

enum { SAMPLES = 90, PARTS = 4, TYPE_NAME = PERF_RECORD_COMM };

static void put_name(struct foreign *foreign, u64 time_ns)
{
	record_begin(foreign, TYPE_NAME, 0);
	put32(foreign, 5);
	put32(foreign, 6);
	put_string(foreign, time_ns % 2 ? "odd" : "even", 8);
	put32(foreign, 5); /* the trailer: TID and TIME */
	put32(foreign, 6);
	put64(foreign, time_ns);
	record_end(foreign);
}

/* Samples, and a name behind every third; in the file, later ones stand first. */
static struct foreign recording(u64 sample_type)
{
	struct foreign foreign = foreign_begin(false, sample_type, 1ull << 18); /* sample_id_all */

	for (u64 i = SAMPLES; i-- > 0;) {
		put_short_sample(&foreign, 100 + 2 * i);
		if (i % 3 == 0)
			put_name(&foreign, 101 + 2 * i);
	}
	foreign_end(&foreign);
	return foreign;
}

static const u64 short_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

static void parts_hear_what_one_reader_hears(void **state)
{
	struct foreign foreign = recording(short_type);
	struct perfdata *data = foreign_open(&foreign);
	struct collector whole = collector_make(), before[PARTS], parts[PARTS];
	struct perfdata_slice slices[PARTS];
	struct text together = {0};
	u64 names = 0;

	assert_int_equal(perfdata_read(data, &whole.sink), 0);
	for (u32 i = 0; i < PARTS; i++) {
		before[i] = collector_make();
		parts[i] = collector_make();
		slices[i] = (struct perfdata_slice){&before[i].sink, &parts[i].sink};
	}
	assert_int_equal(perfdata_read_slices(data, slices, PARTS), 0);
	for (u32 i = 0; i < PARTS; i++) {
		assert_int_equal(before[i].samples, 0);
		assert_int_equal(before[i].others, names);
		assert_true(parts[i].samples > 0);
		assert_true(parts[i].has_ended);
		names += parts[i].others;
		text_append(&together, text_view(&parts[i].lines));
		text_release(&before[i].lines);
		text_release(&parts[i].lines);
	}
	assert_int_equal(names, SAMPLES / 3);
	assert_string_equal(text_view(&together), text_view(&whole.lines));
	text_release(&together);
	text_release(&whole.lines);
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

/* Its index is given back as it goes: one that is long enough for that. */
static void parts_of_what_is_read_once_hear_all_of_it(void **state)
{
	enum { MANY = 200000 };
	struct foreign foreign = foreign_begin(false, short_type, 0);
	struct collector before[2] = {collector_make(), collector_make()};
	struct collector parts[2] = {collector_make(), collector_make()};
	const struct perfdata_slice slices[] = {{&before[0].sink, &parts[0].sink},
						{&before[1].sink, &parts[1].sink}};
	struct text wanted = {0}, together = {0};
	struct perfdata *data;

	for (u64 i = 0; i < MANY; i++)
		put_short_sample(&foreign, 1 + i);
	foreign_end(&foreign);
	data = foreign_open(&foreign);
	perfdata_read_once(data);
	assert_int_equal(perfdata_read_slices(data, slices, 2), 0);
	foreign_read(&foreign, &before[0], &wanted);
	for (u32 i = 0; i < 2; i++) {
		text_append(&together, text_view(&parts[i].lines));
		text_release(&parts[i].lines);
	}
	assert_true(!strcmp(text_view(&together), text_view(&before[0].lines)));
	text_release(&before[0].lines);
	text_release(&before[1].lines);
	text_release(&together);
	text_release(&wanted);
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

static int refuse(struct event_sink *sink, const struct sample *sample)
{
	(void)sink, (void)sample;
	return fail_plain(-ECANCELED, NULL, "no more");
}

static void a_part_that_stops_stops_the_reading(void **state)
{
	struct foreign foreign = recording(short_type);
	struct perfdata *data = foreign_open(&foreign);
	struct event_sink stops = {.on_sample = refuse}, goes_on = {0};
	const struct perfdata_slice slices[] = {{&goes_on, &goes_on}, {&goes_on, &stops}};

	assert_int_equal(perfdata_read_slices(data, slices, 2), -ECANCELED);
	assert_string_equal(fail_sentence(), "no more");
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

static void a_short_recording_is_one_part(void **state)
{
	struct foreign foreign = recording(short_type);
	struct perfdata *data = foreign_open(&foreign);

	assert_int_equal(perfdata_slices(data, 8), 1);
	perfdata_close(data);
	text_release(&foreign.bytes);
	(void)state;
}

/* Samples with so many different chains, one after the other; 0: without chains. */
static bool repeats(u64 different)
{
	enum { MANY = 3000 };
	struct foreign foreign = foreign_begin(
		false, short_type | (different ? PERF_SAMPLE_CALLCHAIN : 0), 0);
	struct perfdata *data;
	bool answer;

	for (u64 i = 0; i < MANY; i++) {
		record_begin(&foreign, PERF_RECORD_SAMPLE, 2);
		put64(&foreign, 0x1234);
		put32(&foreign, 5);
		put32(&foreign, 6);
		put64(&foreign, 1 + i);
		if (different)
			put64(&foreign, 1);
		if (different)
			put64(&foreign, 0x1000 + i % different);
		record_end(&foreign);
	}
	foreign_end(&foreign);
	data = foreign_open(&foreign);
	answer = perfdata_repeats(data);
	perfdata_close(data);
	text_release(&foreign.bytes);
	return answer;
}

static void it_is_told_whether_chains_come_again(void **state)
{
	assert_true(repeats(1));
	assert_true(repeats(700));
	assert_false(repeats(2000));
	assert_false(repeats(3000));
	assert_false(repeats(0));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_hear_what_one_reader_hears),
		cmocka_unit_test(parts_of_what_is_read_once_hear_all_of_it),
		cmocka_unit_test(a_part_that_stops_stops_the_reading),
		cmocka_unit_test(a_short_recording_is_one_part),
		cmocka_unit_test(it_is_told_whether_chains_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
