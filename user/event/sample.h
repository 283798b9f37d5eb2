/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What one may ask of a sample.
 */
#ifndef EVENT_SAMPLE_H
#define EVENT_SAMPLE_H

#include "event/event_sink.h"

/* Whether there are user registers, and of what: PERF_SAMPLE_REGS_ABI_*. */
enum user_abi { USER_ABI_NONE, USER_ABI_32, USER_ABI_64 };

/*
 * A user register of a sample.
 *
 * recorded  the source's user_registers
 * number    the kernel's, of its enum perf_event_*_regs
 * Returns false if it was not recorded.
 */
static inline bool sample_register(const struct sample *sample, u64 recorded, u32 number,
				   u64 *ret_value)
{
	u64 bit = 1ULL << (number & 63);

	if (sample->user_abi == USER_ABI_NONE || !(recorded & bit))
		return false;
	memcpy(ret_value,
	       sample->user_registers +
		       (size_t)__builtin_popcountll(recorded & (bit - 1)) * sizeof(*ret_value),
	       sizeof(*ret_value));
	return true;
}

/* For how many observations the sample stands. */
static inline u32 sample_count(const struct sample *sample)
{
	return sample->count ? sample->count : 1;
}

/* How many frames of the chain are not of user space: they come first. */
static inline u32 sample_kernel_frames(const struct sample *sample)
{
	u32 count = 0;

	while (count < sample->frame_count && sample->frames[count].space != SPACE_USER)
		count++;
	return count;
}

#endif
