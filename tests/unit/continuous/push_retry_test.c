/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times between attempts: they double, spread, end at a limit, and heed what the server asks. */
#include "continuous/push_retry.h"

#include "unit/unit.h"

static const u64 second_ns = 1000000000;

/* How long is waited after the next failure. */
static u64 wait_of(struct push_retry *retry, u64 after_s)
{
	push_retry_later(retry, 7, after_s);
	return retry->until_ns - 7;
}

static void waits_double_up_to_five_minutes(void **state)
{
	struct push_retry retry = push_retry_seeded(1);

	for (u64 most_s = 1; most_s < 300; most_s *= 2)
		assert_in_range(wait_of(&retry, 0), most_s * second_ns / 2, most_s * second_ns);
	for (int i = 0; i < 100; i++)
		assert_in_range(wait_of(&retry, 0), 150 * second_ns, 300 * second_ns);
	(void)state;
}

static void success_begins_anew(void **state)
{
	struct push_retry retry = push_retry_seeded(1);

	for (int i = 0; i < 5; i++)
		wait_of(&retry, 0);
	push_retry_reset(&retry);
	assert_int_equal(retry.until_ns, 0);
	assert_in_range(wait_of(&retry, 0), second_ns / 2, second_ns);
	(void)state;
}

static void machines_spread(void **state)
{
	struct push_retry one = push_retry_seeded(1), other = push_retry_seeded(3);

	assert_int_not_equal(wait_of(&one, 0), wait_of(&other, 0));
	(void)state;
}

static void at_least_what_the_server_asks_for_is_waited(void **state)
{
	struct push_retry retry = push_retry_seeded(1);

	assert_in_range(wait_of(&retry, 60), 60 * second_ns, 120 * second_ns);
	assert_in_range(wait_of(&retry, UINT64_MAX / 2), 150 * second_ns, 300 * second_ns);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_double_up_to_five_minutes),
		cmocka_unit_test(success_begins_anew),
		cmocka_unit_test(machines_spread),
		cmocka_unit_test(at_least_what_the_server_asks_for_is_waited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
