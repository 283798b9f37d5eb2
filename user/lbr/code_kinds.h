/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Room for the kinds of a binary's code: see code_facts_kind(). Private to lbr/.
 */
#ifndef LBR_CODE_KINDS_H
#define LBR_CODE_KINDS_H

#include "lbr/code_facts.h"

/* Makes it, once functions are known; where text is too large there is none. */
void code_kinds_begin(struct code_facts *facts);

#endif
