/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the call chain of a sample to its row in the stack table of a profile. Private to the
 * folder.
 */
#ifndef PROFILE_CHAIN_ROWS_H
#define PROFILE_CHAIN_ROWS_H

#include "profile/builder.h"
#include "profile/locator.h"

struct chain_rows;

/* What is mapped for a process and for the kernel, as numbers: see locator_generation(). */
struct mapping_states {
	u64 user, kernel;
};

/* A chain that was seen before in the same state of the mappings. */
struct known_chain {
	u64 key;
	u32 user_state, kernel_state;
	stack_id stack;
	/* For the user of the table: where the last sample with this chain was counted, and what it
	 * was. Zeroed at first. */
	u32 count;
	u64 address;
};

/* Begin before anything else. What settings->names points to is borrowed. Free with
 * chain_rows_free(). */
struct chain_rows *chain_rows_new(const struct builder_settings *settings);
/* Frees; NULL is fine. */
void chain_rows_free(struct chain_rows *rows);

/* From now on `locator` finds the addresses, rows are those of `profile` (both borrowed), and what
 * was known is forgotten. */
void chain_rows_begin(struct chain_rows *rows, struct locator *locator, struct profile *profile);

/* The chain with this key will be asked for soon. */
void chain_rows_expect(const struct chain_rows *rows, u64 key);
/* The chain with this key if it is known, else NULL. Valid until the next call of
 * chain_rows_learn(). */
struct known_chain *chain_rows_known(const struct chain_rows *rows, u64 key,
				     struct mapping_states states);
/* Makes a chain known, which it was not, by its key; `stack` is its row, not 0. Valid as above. */
struct known_chain *chain_rows_learn(struct chain_rows *rows, u64 key, stack_id stack,
				     struct mapping_states states);
/* The row of a sample's chain, of which the innermost frames up to the limit count. `ret_place` is
 * the location of the innermost one's address, which locator_find() would say; 0: not known. */
stack_id chain_rows_find(struct chain_rows *rows, const struct sample *sample,
			 struct mapping_states states, location_id *ret_place);

#endif
