/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows found by key.
 */
#include "lbr/outcomes.h"

#include "base/idmap.h"
#include "base/vec.h"

enum { OUTCOMES_MAX = 1 << 20 }; /* of 16 bytes, in vectors and maps that may be half empty */

struct outcomes {
	struct idmap row_of; /* key → row + 1 */
	VEC(struct outcome) rows;
};

struct outcomes *outcomes_new(void)
{
	return must_alloc(sizeof(struct outcomes));
}

static void forget(struct outcomes *outcomes)
{
	idmap_release(&outcomes->row_of);
	vec_release(&outcomes->rows);
}

void outcomes_free(struct outcomes *outcomes)
{
	if (!outcomes)
		return;
	forget(outcomes);
	free(outcomes);
}

const struct outcome *outcomes_find(const struct outcomes *outcomes, u64 key)
{
	u32 row = idmap_get(&outcomes->row_of, key);

	return row ? &outcomes->rows.items[row - 1] : NULL;
}

void outcomes_keep(struct outcomes *outcomes, u64 key, const struct outcome *outcome)
{
	if (outcomes->rows.count == OUTCOMES_MAX)
		forget(outcomes);
	*vec_add(&outcomes->rows) = *outcome;
	*idmap_place(&outcomes->row_of, key) = (u32)outcomes->rows.count;
}
