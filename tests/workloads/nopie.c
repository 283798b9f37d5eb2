/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -no-pie -Wl,-z,now */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stacks of nofp.c in a program at fixed addresses, bound before it starts. */
#include "nofp.c"
