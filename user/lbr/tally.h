/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What became of a stack, counted. Private to lbr/.
 */
#ifndef LBR_TALLY_H
#define LBR_TALLY_H

#include "lbr/memo.h"

/* Counts a stack; `entry_count`: how many calls the registers held. */
void lbr_tally_add(struct lbr_tally *tally, const struct memo_stack *stack, u32 entry_count);

/* The enum stack_cut of an enum lbr_end. */
u8 lbr_cut_of(u8 end);

#endif
