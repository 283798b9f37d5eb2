/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table by chain_key: where an outcome is can be said some samples ahead, when what else it
 * depends on is not known yet. All that is kept of a chain_key lies together.
 */
#include "lbr/outcomes.h"

#include "base/memory.h"

enum {
	FIRST_SLOTS = 1 << 10,
	MOST_SLOTS = 1 << 20,
	SLOTS_ON_TRIAL = 1 << 16, /* more are for chains that come again */
	PROBES = 8,		  /* places where an outcome may be */
};

struct outcome_slot {
	u64 chain_key, key; /* key 0: free */
	struct outcome outcome;
};
_Static_assert(sizeof(struct outcome_slot) == 32, "the bound on memory is of this");

struct outcomes {
	struct outcome_slot *slots;
	u32 count, slot_count;
	u64 kept, found; /* how often */
};

struct outcomes *outcomes_new(void)
{
	struct outcomes *outcomes = must_alloc(sizeof(*outcomes));

	outcomes->slots = must_alloc_table(FIRST_SLOTS, sizeof(*outcomes->slots));
	outcomes->slot_count = FIRST_SLOTS;
	return outcomes;
}

void outcomes_free(struct outcomes *outcomes)
{
	if (!outcomes)
		return;
	free(outcomes->slots);
	free(outcomes);
}

/* Probe `index` of a chain. Its key is a hash; the lowest bit is none of it. */
static struct outcome_slot *probed(const struct outcomes *outcomes, u64 chain_key, u32 index)
{
	return &outcomes->slots[((chain_key >> 1) + index) & (outcomes->slot_count - 1)];
}

const struct outcome *outcomes_find(struct outcomes *outcomes, u64 chain_key, u64 key)
{
	for (u32 i = 0; i < PROBES; i++) {
		const struct outcome_slot *slot = probed(outcomes, chain_key, i);

		if (slot->key == key) {
			outcomes->found++;
			return &slot->outcome;
		}
		if (!slot->key)
			break;
	}
	return NULL;
}

/* Where a chain's next outcome goes: what is there is given up if no probe is free. */
static struct outcome_slot *free_slot(const struct outcomes *outcomes, u64 chain_key)
{
	for (u32 i = 0; i < PROBES; i++)
		if (!probed(outcomes, chain_key, i)->key)
			return probed(outcomes, chain_key, i);
	return probed(outcomes, chain_key, 0);
}

static void grow(struct outcomes *outcomes)
{
	const struct outcomes old = *outcomes;

	outcomes->slot_count = old.slot_count * 2;
	outcomes->slots = must_alloc_table(outcomes->slot_count, sizeof(*outcomes->slots));
	for (u32 i = 0; i < old.slot_count; i++)
		if (old.slots[i].key)
			*free_slot(outcomes, old.slots[i].chain_key) = old.slots[i];
	free(old.slots);
}

/* Where nearly all chains are new, a large table only costs memory. */
static bool is_worth_growing(const struct outcomes *outcomes)
{
	return outcomes->slot_count < SLOTS_ON_TRIAL || 4 * outcomes->found >= outcomes->kept;
}

void outcomes_keep(struct outcomes *outcomes, u64 chain_key, u64 key, const struct outcome *outcome)
{
	const struct outcome_slot kept = {chain_key, key, *outcome};
	bool is_dense = outcomes->slot_count < MOST_SLOTS &&
			2 * outcomes->count >= outcomes->slot_count;

	outcomes->kept++;
	if (is_dense && !is_worth_growing(outcomes)) {
		/* who finds nothing finds that out by the first probe */
		*probed(outcomes, chain_key, 0) = kept;
		return;
	}
	if (is_dense)
		grow(outcomes);
	*free_slot(outcomes, chain_key) = kept;
	outcomes->count++;
}

void outcomes_expect(const struct outcomes *outcomes, u64 chain_key)
{
	__builtin_prefetch(probed(outcomes, chain_key, 0));
}

u64 outcomes_key(const struct outcomes *outcomes, u64 chain_key)
{
	for (u32 i = 0; i < PROBES; i++) {
		const struct outcome_slot *slot = probed(outcomes, chain_key, i);

		if (slot->chain_key == chain_key || !slot->key)
			return slot->key;
	}
	return 0;
}
