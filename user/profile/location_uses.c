/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all stacks and counts of a profile say of its addresses, in one pass.
 */
#include "profile/location_uses.h"

#include "base/memory.h"

/* Bytes beside each other: there are many more stacks than locations. */
void location_uses_note(struct profile *profile)
{
	CLEANUP(freep) u8 *uses = must_alloc_table(profile->locations.count, sizeof(*uses));

	for (stack_id id = 1; id < profile->stacks.count; id++) {
		const struct stack_row *stack = &profile->stacks.items[id];

		if (origin_is_call(stack->origin))
			uses[stack->location] |= LOCATION_IS_CALL;
		else if (stack->origin == ORIGIN_UNKNOWN)
			uses[stack->location] |= LOCATION_IS_PLACE;
	}
	for (size_t i = 0; i < profile->counts.count; i++)
		uses[profile->counts.items[i].leaf] |= LOCATION_IS_PLACE;
	for (location_id id = 1; id < profile->locations.count; id++)
		profile->locations.items[id].uses |= uses[id];
}
