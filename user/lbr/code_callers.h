/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who calls and who points at the functions of a binary. Private to lbr/.
 */
#ifndef LBR_CODE_CALLERS_H
#define LBR_CODE_CALLERS_H

#include "lbr/code_facts.h"

/* Looks through the whole binary, once: a byte at a time and without decoding, so it sees callers
 * that are none, but misses none. */
void code_callers_find(struct code_facts *facts);
/* Begins that on the other CPUs, as somebody is going to ask. Meanwhile functions may be read, but
 * where they begin and end stays. */
void code_callers_begin(struct code_facts *facts);
/* Gives up what was begun and nobody asked for; nothing, if there is no such thing. */
void code_callers_end(struct code_facts *facts);

#endif
