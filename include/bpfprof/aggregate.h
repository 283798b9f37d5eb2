/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting samples that are alike: what makes them so, and where in a table their count lies. Pure:
 * the BPF programs, the reader of their tables and the tests run the same text.
 *
 * The innermost frame is kept apart from the chain of its callers, which is the same for most
 * places in a function. A chain is known by 128 bits of hash; a table is probed from a slot that
 * the hash says, some slots on.
 */
#ifndef BPFPROF_AGGREGATE_H
#define BPFPROF_AGGREGATE_H

#include "bpfprof/chain_hash.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	AGGREGATE_WINDOWS = 2, /* one is being filled, the other read */
	AGGREGATE_PROBES = 16, /* slots that are looked at */
};

/* What two samples must share to be counted as one. */
struct count_key {
	union {
		struct {
			struct chain_hash chain;
			u64 address; /* where the CPU was */
			u32 pid, tid;
			u16 source;
			u16 exec; /* which exec of the process, its low bits */
			u8 mode;  /* enum cpu_mode */
			u8 end;	  /* enum user_stack_end */
			u8 walked;
			u8 has_leaf; /* `address` is the innermost frame, before the chain */
		};
		u64 words[5];
	};
};

/* A slot of a table of counts. Only its CPU writes it, and user space when no program does. */
struct count_entry {
	struct count_key key;
	u64 weight;  /* periods, added */
	u64 time_ns; /* of the last one */
	u32 count;   /* 0: the slot is free */
	u32 reserved;
};
WIRE_SIZE(struct count_entry, 64);

AGGREGATE_INLINE bool count_key_equals(const struct count_key *a, const struct count_key *b)
{
	u64 difference = 0;

	for (u32 i = 0; i < sizeof(a->words) / sizeof(a->words[0]); i++)
		difference |= a->words[i] ^ b->words[i];
	return !difference;
}

/* The slot at which a search for the key begins, of a table of any power of two. */
AGGREGATE_INLINE u32 count_key_slot(const struct count_key *key)
{
	u64 hash = key->chain.low ^ key->address * 0x9e3779b97f4a7c15ULL;

	return (u32)chain_mix(hash + ((u64)key->tid << 32 | key->words[4]));
}

/* A slot of a table that has a power of two of them; NULL: there is none. */
typedef struct count_entry *count_entry_at(void *table, u32 slot);
typedef struct chain_hash *chain_at(void *table, u32 slot);

/* The slot of a key: where it is counted, or a free one. NULL: there is no room near. */
AGGREGATE_INLINE struct count_entry *count_find(const struct count_key *key, count_entry_at *at,
						void *table)
{
	u32 slot = count_key_slot(key);

	for (u32 i = 0; i < AGGREGATE_PROBES; i++) {
		struct count_entry *entry = at(table, slot + i);

		if (!entry || !entry->count || count_key_equals(&entry->key, key))
			return entry;
	}
	return NULL;
}

/* The same for a chain in the table of those that were sent. */
AGGREGATE_INLINE struct chain_hash *chain_find(struct chain_hash hash, chain_at *at, void *table)
{
	for (u32 i = 0; i < AGGREGATE_PROBES; i++) {
		struct chain_hash *chain = at(table, (u32)hash.high + i);

		if (!chain || !chain->low || (chain->low == hash.low && chain->high == hash.high))
			return chain;
	}
	return NULL;
}

/* Counts one more in a slot that count_find() has found. */
AGGREGATE_INLINE void count_add(struct count_entry *entry, const struct count_key *key, u64 period,
				u64 time_ns)
{
	if (!entry->count) {
		entry->key = *key;
		entry->weight = 0;
	}
	entry->weight += period;
	entry->time_ns = time_ns;
	entry->count++;
}

#endif
