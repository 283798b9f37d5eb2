/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What became of samples, by the keys of what they were recorded with: one that comes again need
 * not even be decoded. At most 32 MiB; when that is full, the newest take the place of others.
 * Private to lbr/.
 */
#ifndef LBR_OUTCOMES_H
#define LBR_OUTCOMES_H

#include "lbr/memo.h"

struct outcome {
	u16 count, entry_count; /* calls of the stack, branches of the sample */
	u32 rest;		/* as struct memo_stack has it */
	u8 end;			/* enum lbr_end */
	bool by_hardware;
	bool is_stack;	/* else nothing was found, but handed on as it was */
	bool is_likely; /* has frames that are not certain */
	u8 cut;
	u16 walked; /* of the sample that was handed on */
};

struct outcomes;

/* An empty one. */
struct outcomes *outcomes_new(void);
/* Frees; NULL is fine. */
void outcomes_free(struct outcomes *outcomes);

/*
 * The outcome of a sample, NULL if none is known. Borrowed until the next outcomes_keep().
 *
 * chain_key  of the sample
 * key        of all that the outcome depends on, the chain_key among it; not 0
 */
const struct outcome *outcomes_find(struct outcomes *outcomes, u64 chain_key, u64 key);
/* Keeps an outcome that was not known. */
void outcomes_keep(struct outcomes *outcomes, u64 chain_key, u64 key,
		   const struct outcome *outcome);

/* Asked for soon: lets it come from memory. */
void outcomes_expect(const struct outcomes *outcomes, u64 chain_key);
/* Some key that is kept of this chain_key, 0 if there is none. */
u64 outcomes_key(const struct outcomes *outcomes, u64 chain_key);

#endif
