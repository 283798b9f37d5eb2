/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tells call chains apart without their frames. Private to the folder.
 */
#ifndef PERFDATA_CHAIN_KEY_H
#define PERFDATA_CHAIN_KEY_H

#include "perfdata/decode.h"

/* The chain_key of struct sample, of what decode_chain() returned. Pure. */
u64 chain_key(const struct decoder *decoder, struct bytes chain);

#endif
