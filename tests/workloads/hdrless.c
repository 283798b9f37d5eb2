/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,--no-eh-frame-hdr */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stacks of nofp.c without the index of its call frame information. */
#include "nofp.c"
