/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looking for opcodes and addresses at 16 places at once. Private to lbr/.
 */
#ifndef LBR_CODE_LANES_H
#define LBR_CODE_LANES_H

#include "bpfprof/types.h"

#include <string.h>

enum { LANES = 16 };

/* Bytes of text that are looked at together. */
typedef u8 lanes __attribute__((vector_size(LANES)));
typedef u16 halves __attribute__((vector_size(LANES)));
#ifdef __SSE2__
typedef char signed_lanes __attribute__((vector_size(LANES)));
#endif

/* Bytes from a place on. */
static inline lanes lanes_at(const u8 *at)
{
	lanes bytes;

	memcpy(&bytes, at, LANES);
	return bytes;
}

/* Where the two bytes from a place on are first … first + span. */
static inline lanes lanes_of_halves(const u8 *at, u16 first, u16 span)
{
	halves even, odd;

	memcpy(&even, at, LANES);
	memcpy(&odd, at + 1, LANES);
	return (lanes)(((halves)(even - first <= span) & 0x00ff) |
		       ((halves)(odd - first <= span) & 0xff00));
}

/* A bit for each of 16 lanes that is not zero: those of eight bytes are brought into the highest.
 */
static inline u64 lanes_bits(lanes found)
{
#ifdef __SSE2__
	return (u32)__builtin_ia32_pmovmskb128((signed_lanes)found);
#else
	u64 parts[2];

	memcpy(parts, &found, LANES);
	for (u32 i = 0; i < 2; i++)
		parts[i] = (parts[i] & 0x8040201008040201ULL) * 0x0101010101010101ULL >> 56;
	return parts[0] | parts[1] << 8;
#endif
}

#endif
