/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -static-pie -fPIE */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stacks of nofp.c in a program without shared libraries, at any address. */
#include "nofp.c"
