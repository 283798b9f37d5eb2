/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fixed-width integers and the size check that both sides of the kernel boundary share.
 */
#ifndef BPFPROF_TYPES_H
#define BPFPROF_TYPES_H

#ifdef __bpf__
#include "vmlinux.h"
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#endif

/* A struct that crosses the kernel boundary or is written to disk has exactly this size. */
#define WIRE_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has changed size")

#endif
