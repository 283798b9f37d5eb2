/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -fcf-protection -Wl,-z,now */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stacks of nofp.c with marks for indirect branches, and stubs that follow them (.plt.sec). */
#include "nofp.c"
