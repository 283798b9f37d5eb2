/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What newer kernels write, and what nobody does.
 */
#include "base/memory.h"
#include "unit/perfdata/foreign.h"

#include <inttypes.h>

enum { TID = 2, READ = 16, USUAL = 1 | TID | 4 }; /* of a sample: address, thread, time */
enum { INHERIT = 2, SAMPLE_ID_ALL = 1 << 18 };	  /* of the flags */
enum { CHAIN = 32 };

#define DEFER_CHAIN (1ull << 38)

static void ever_new_records_are_not_told_for_ever(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL, SAMPLE_ID_ALL);
	CLEANUP(text_release) struct text warnings = {0};
	struct collector collector;
	u32 lines = 0;

	for (u32 type = 1000; type < 2000; type++) {
		record_begin(&foreign, type, 0);
		record_end(&foreign);
	}
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, &warnings), 0);
	for (const char *at = text_view(&warnings); *at; at++)
		lines += *at == '\n';
	assert_in_range(lines, 10, 40);
	assert_non_null(strstr(text_view(&warnings), "still more types"));
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

static void put_counted_sample(struct foreign *foreign, u32 tid, u64 value)
{
	record_begin(foreign, 9, 2);
	put64(foreign, 0x400100);
	put32(foreign, 5);
	put32(foreign, tid);
	put64(foreign, 1000 + value);
	put64(foreign, value);
	record_end(foreign);
}

static void inherited_counters_go_on_thread_by_thread(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL | READ, INHERIT);
	struct collector collector;
	u64 weights = 0, weight;

	put_counted_sample(&foreign, 5, 700);
	put_counted_sample(&foreign, 6, 300);
	put_counted_sample(&foreign, 5, 1000);
	put_counted_sample(&foreign, 6, 310);
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
	assert_int_equal(collector.samples, 4);
	for (const char *at = text_view(&collector.lines); (at = strstr(at, " weight ")); at++) {
		assert_int_equal(sscanf(at, " weight %" SCNu64, &weight), 1);
		weights += weight;
	}
	assert_int_equal(weights, 1000 + 310);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

/* One that was taken in the kernel; the user stack is to follow under this cookie. */
static void put_deferring_sample(struct foreign *foreign, u64 time_ns, u64 cookie)
{
	const u64 chain[] = {(u64)-128, 0xffffffff81000010, (u64)-640, cookie};

	record_begin(foreign, 9, 1);
	put64(foreign, 0xffffffff81000010);
	put32(foreign, 5);
	put32(foreign, 6);
	put64(foreign, time_ns);
	put64(foreign, ARRAY_COUNT(chain));
	for (size_t i = 0; i < ARRAY_COUNT(chain); i++)
		put64(foreign, chain[i]);
	record_end(foreign);
}

/* The stack of a cookie: these two callers. `count` is what it says of itself. */
static void put_deferred_stack(struct foreign *foreign, u64 cookie, u64 count, u64 inner, u64 outer)
{
	record_begin(foreign, 22, 2);
	put64(foreign, cookie);
	put64(foreign, count);
	put64(foreign, (u64)-512);
	put64(foreign, inner);
	put64(foreign, outer);
	put32(foreign, 5);
	put32(foreign, 6);
	put64(foreign, 5000);
	record_end(foreign);
}

static void a_user_stack_that_comes_later_belongs_to_all_samples_with_its_cookie(void **state)
{
	(void)state;
	for (int turned = 0; turned < 2; turned++) {
		struct foreign foreign = foreign_begin(turned, USUAL | CHAIN,
						       SAMPLE_ID_ALL | DEFER_CHAIN);
		CLEANUP(text_release) struct text warnings = {0};
		struct collector collector;
		const char *lines;

		put_deferring_sample(&foreign, 1000, 70);
		put_deferring_sample(&foreign, 1001, 70);
		put_deferred_stack(&foreign, 70, 3, 0x400100, 0x400200);
		put_deferring_sample(&foreign, 1002, 71);
		put_deferring_sample(&foreign, 1003, 72);
		put_deferred_stack(&foreign, 72, 1ull << 62, 0x400100, 0x400200);
		put_deferring_sample(&foreign, 1004, 73);
		put_deferred_stack(&foreign, 73, 3, 0x400300, 0x400400);
		foreign_end(&foreign);
		assert_int_equal(foreign_read(&foreign, &collector, &warnings), 0);
		lines = text_view(&collector.lines);
		assert_non_null(strstr(lines, "sample 1000 "));
		for (int i = 0; i < 2; i++) {
			lines = strstr(lines, ": ffffffff81000010/1/0 400100/2/0 400200/2/0\n");
			assert_non_null(lines++);
		}
		for (int i = 0; i < 2; i++) {
			lines = strstr(lines, ": ffffffff81000010/1/0\n");
			assert_non_null(lines++);
		}
		assert_non_null(strstr(lines, ": ffffffff81000010/1/0 400300/2/0 400400/2/0\n"));
		assert_string_equal(text_view(&warnings),
				    "2 of 5 deferred user stacks are missing: what was to bring "
				    "them after their samples is not in the file\n");
		text_release(&collector.lines);
		text_release(&foreign.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ever_new_records_are_not_told_for_ever),
		cmocka_unit_test(inherited_counters_go_on_thread_by_thread),
		cmocka_unit_test(
			a_user_stack_that_comes_later_belongs_to_all_samples_with_its_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
