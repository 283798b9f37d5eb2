/* CFLAGS: -O2 -g -fomit-frame-pointer */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same work on a stack without frame pointers, as distributions compile. */
#include "work.c"
