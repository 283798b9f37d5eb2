/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who calls whom in a binary's code, as bytes that are kept: reading all of a large one takes
 * longer than reading them. Private to lbr/.
 */
#ifndef LBR_KEPT_CALLERS_H
#define LBR_KEPT_CALLERS_H

#include "lbr/code_facts.h"
#include "lbr/lbr.h"

/* Takes what is kept, if that was found in this file as it is now and of these functions. Returns
 * whether callers are known then. NULL for a keeper has nothing. */
bool kept_callers_take(struct code_facts *facts, const struct lbr_keeper *keeper);
/* Keeps what was found in the code, if that takes long and the file can be told from others. */
void kept_callers_keep(const struct code_facts *facts, const struct lbr_keeper *keeper);

#endif
