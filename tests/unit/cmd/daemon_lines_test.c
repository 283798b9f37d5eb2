/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each place of a binary is looked for once, and again where that failed or was long ago.
 */
#include "cmd/daemon_lines.h"

#include "base/clock.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>

static const u64 far_ns = 1ULL << 62;

static const u64 places[] = {16, 33, 48};
static const struct mapping binary = {
	.path = "/one", .build_id_bytes = 4, .build_id = {1, 2, 3, 4}};
static const struct mapping another = {
	.path = "/two", .build_id_bytes = 4, .build_id = {5, 2, 3, 4}};

/* Notes so many places, and takes what is wanted then, at that time. Returns how many that are. */
static size_t take(struct daemon_lines *lines, const struct mapping *mapping, size_t count,
		   u64 now_ns, struct wanted *ret_wanted)
{
	const struct sampled_code code = {.binary = mapping, .count = count, .places = places};
	u32 id;

	daemon_lines_add(lines, &code, now_ns);
	id = intern_find(&lines->build_ids, mapping->build_id, mapping->build_id_bytes);
	if (!daemon_lines_take(lines, id, now_ns, ret_wanted))
		return 0;
	assert_int_equal(ret_wanted->build_id_bytes, mapping->build_id_bytes);
	assert_memory_equal(ret_wanted->build_id, mapping->build_id, mapping->build_id_bytes);
	assert_string_equal(ret_wanted->path, mapping->path);
	return ret_wanted->address_count;
}

static void note(struct daemon_lines *lines, struct wanted *wanted, struct lines_outcome outcome)
{
	daemon_lines_note(lines, wanted, &outcome);
	wanted_release(wanted);
}

static void a_place_is_wanted_once(void **state)
{
	struct daemon_lines lines = {.again_ns = far_ns};
	struct wanted first, other;

	(void)state;
	assert_int_equal(take(&lines, &binary, 2, 1, &first), 2);
	assert_int_equal(take(&lines, &binary, 3, 2, &other), 0); /* it waits */
	assert_int_equal(take(&lines, &another, 3, 3, &other), 3);
	assert_int_not_equal(first.id, other.id);
	wanted_release(&other);
	note(&lines, &first, (struct lines_outcome){0});
	assert_int_equal(take(&lines, &binary, 3, clock_ns(CLOCK_MONOTONIC), &first), 1);
	assert_int_equal(first.addresses[0], places[2]);
	note(&lines, &first, (struct lines_outcome){0});
	assert_int_equal(take(&lines, &binary, 3, clock_ns(CLOCK_MONOTONIC), &first), 0);
	assert_int_equal(take(&lines, &binary, 3, 2 * far_ns, &first), 3); /* long after */
	wanted_release(&first);
	daemon_lines_release(&lines);
}

static void what_was_not_there_or_not_written_is_wanted_again(void **state)
{
	struct daemon_lines lines = {.again_ns = far_ns};
	struct wanted wanted;

	(void)state;
	for (u32 i = 0; i < 5; i++) {
		u64 now_ns = clock_ns(CLOCK_MONOTONIC);

		assert_int_equal(take(&lines, &binary, 3, now_ns, &wanted), 3);
		note(&lines, &wanted, (struct lines_outcome){.error = -ENOENT});
		assert_int_equal(take(&lines, &binary, 3, clock_ns(CLOCK_MONOTONIC), &wanted), 3);
		note(&lines, &wanted, (struct lines_outcome){.error = -EIO, .is_unwritten = true});
	}
	daemon_lines_release(&lines);
}

static void a_binary_without_lines_is_left_alone_for_a_while(void **state)
{
	struct daemon_lines lines = {.again_ns = far_ns};
	struct wanted wanted;

	(void)state;
	assert_int_equal(take(&lines, &binary, 3, 1, &wanted), 3);
	note(&lines, &wanted, (struct lines_outcome){.error = -ENODATA});
	assert_int_equal(take(&lines, &binary, 3, clock_ns(CLOCK_MONOTONIC), &wanted), 0);
	assert_int_equal(lines.binaries.items[0].places.count, 0);
	assert_int_equal(take(&lines, &binary, 3, 2 * far_ns, &wanted), 3);
	wanted_release(&wanted);
	daemon_lines_release(&lines);
}

static void one_with_parts_elsewhere_is_asked_for_other_places(void **state)
{
	struct daemon_lines lines = {.again_ns = far_ns};
	struct wanted wanted;

	(void)state;
	assert_int_equal(take(&lines, &binary, 2, 1, &wanted), 2);
	note(&lines, &wanted, (struct lines_outcome){.error = -EXDEV});
	assert_int_equal(take(&lines, &binary, 3, clock_ns(CLOCK_MONOTONIC), &wanted), 1);
	wanted_release(&wanted);
	daemon_lines_release(&lines);
}

static void what_takes_long_is_done_seldom_and_nothing_is_forgotten(void **state)
{
	struct daemon_lines lines = {.again_ns = far_ns};
	struct wanted wanted;

	(void)state;
	assert_int_equal(take(&lines, &binary, 1, 1, &wanted), 1);
	note(&lines, &wanted, (struct lines_outcome){.cost_ns = 1000000000});
	assert_int_equal(take(&lines, &binary, 2, clock_ns(CLOCK_MONOTONIC), &wanted), 0);
	assert_int_equal(take(&lines, &binary, 3, clock_ns(CLOCK_MONOTONIC), &wanted), 0);
	assert_true(daemon_lines_take(&lines, 1, ~0ULL, &wanted));
	assert_int_equal(wanted.address_count, 2);
	wanted_release(&wanted);
	daemon_lines_release(&lines);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_wanted_once),
		cmocka_unit_test(what_was_not_there_or_not_written_is_wanted_again),
		cmocka_unit_test(a_binary_without_lines_is_left_alone_for_a_while),
		cmocka_unit_test(one_with_parts_elsewhere_is_asked_for_other_places),
		cmocka_unit_test(what_takes_long_is_done_seldom_and_nothing_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
