/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -no-pie */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other program of becomes_a.c. */
#define OTHER "becomes_a"
#define LEAF  b_leaf
#define ROOM  400
#include "becomes_a.c"
