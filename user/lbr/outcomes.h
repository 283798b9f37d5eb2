/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What became of samples, by the keys of what they were recorded with: one that comes again need
 * not even be decoded. At most 48 MiB; when that is full, all is forgotten. Private to lbr/.
 */
#ifndef LBR_OUTCOMES_H
#define LBR_OUTCOMES_H

#include "lbr/memo.h"

struct outcome {
	u32 count, entry_count; /* calls of the stack, branches of the sample */
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

/* The outcome of a key, NULL if none is known. Borrowed until the next outcomes_keep(). */
const struct outcome *outcomes_find(const struct outcomes *outcomes, u64 key);
/* Keeps an outcome. */
void outcomes_keep(struct outcomes *outcomes, u64 key, const struct outcome *outcome);

#endif
