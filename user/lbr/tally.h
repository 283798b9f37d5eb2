/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What became of a stack, counted. Private to lbr/.
 */
#ifndef LBR_TALLY_H
#define LBR_TALLY_H

#include "lbr/outcomes.h"

/* Counts a sample's outcome. What plain stacks end with, nobody has found out. */
void lbr_tally_add(struct lbr_tally *tally, const struct outcome *outcome, bool is_plain);

/* The enum stack_cut of an enum lbr_end. */
u8 lbr_cut_of(u8 end);

#endif
