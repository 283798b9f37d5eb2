/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The vDSO, which the kernel gives to all processes of one kind alike.
 */
#ifndef HOST_OWN_VDSO_H
#define HOST_OWN_VDSO_H

#include "base/cursor.h"

/* The image of ours, a whole ELF file in our memory; length 0: there is none. */
struct bytes own_vdso(void);

#endif
