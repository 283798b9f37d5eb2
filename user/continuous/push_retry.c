/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Times of machines that failed together must spread, so half of each wait is by chance.
 */
#include "continuous/push_retry.h"

static const u64 second_ns = 1000000000;

struct push_retry push_retry_seeded(u64 seed)
{
	return (struct push_retry){.random = seed | 1};
}

void push_retry_reset(struct push_retry *retry)
{
	retry->failures = 0;
	retry->until_ns = 0;
}

/* xorshift64: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003). */
static u64 next_random(struct push_retry *retry)
{
	u64 value = retry->random;

	value ^= value << 13;
	value ^= value >> 7;
	value ^= value << 17;
	retry->random = value;
	return value;
}

void push_retry_later(struct push_retry *retry, u64 now_ns, u64 after_s)
{
	u64 wait_s = PUSH_RETRY_FIRST_S, half_ns;

	for (u32 i = 0; i < retry->failures && wait_s < PUSH_RETRY_MAX_S; i++)
		wait_s *= 2;
	if (after_s > wait_s)
		wait_s = 2 * after_s; /* of which half is certain */
	if (wait_s > PUSH_RETRY_MAX_S)
		wait_s = PUSH_RETRY_MAX_S;
	half_ns = wait_s * second_ns / 2;
	retry->failures++;
	retry->until_ns = now_ns + half_ns + next_random(retry) % half_ns;
}
