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
/* A chain on its way to its row. */
struct wanted_chain {
	struct last_chain *last; /* of the thread; private, as what follows */
	u32 done, count;	 /* frames that are shared with it; all */
	u32 first;		 /* of the other ones */
	u32 pid;
};

/*
 * The rows of chains, of several side by side: each step waits for memory that the one before it
 * has asked for. So each step is taken for all of them, in the order of the samples; in between
 * nothing may change in the mappings.
 */
/* Of a sample's chain the innermost frames up to the limit count. */
void chain_rows_want(struct chain_rows *rows, const struct sample *sample,
		     struct mapping_states states, struct wanted_chain *ret_chain);
/* May be left out. */
void chain_rows_expect_places(const struct chain_rows *rows, const struct wanted_chain *chain);
/* Returns the location of the innermost frame's address, which locator_find() would say; 0: not
 * known. */
location_id chain_rows_find_places(struct chain_rows *rows, const struct wanted_chain *chain);
/* The row; 0: the chain has no frames. */
stack_id chain_rows_find(struct chain_rows *rows, const struct wanted_chain *chain);
/* Nothing is wanted any more. */
void chain_rows_done(struct chain_rows *rows);

#endif
