/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tells call chains apart without their frames. Private to the folder.
 */
#ifndef PERFDATA_CHAIN_KEY_H
#define PERFDATA_CHAIN_KEY_H

#include "perfdata/decode.h"

/* Whose a whole SAMPLE record with an LBR call stack is: pid << 32 | tid. 0: not known, or it has
 * none. Pure and quick. */
u64 chain_owner(const struct decoder *decoder, struct record_header header, const u8 *at);

/* The chain_key of struct sample, of what decode_chain() returned and the record's header. Pure. */
u64 chain_key(const struct decoder *decoder, struct record_header header, struct bytes chain);

#endif
