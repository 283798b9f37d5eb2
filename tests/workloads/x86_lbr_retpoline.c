/* CFLAGS: -O2 -g -fomit-frame-pointer -mindirect-branch=thunk */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same states where each indirect jump is a call into a thunk whose return goes elsewhere. */
#include "lbr_tail.c"
