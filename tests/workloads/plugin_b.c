/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other library for loader.c. */
#define ENTER b_enter
#define LEAF  b_leaf
#define ROOM  400
#include "plugin_a.c"
