/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deep40(turns): a chain of 40 calls that does nothing but go deep, and work at the end.
 */
#ifndef TESTS_WORKLOADS_LBR_DEEP_H
#define TESTS_WORKLOADS_LBR_DEEP_H

#include "lbr.h"

FRAME static void deep0(unsigned long turns)
{
	burn(turns);
}

#define DEEP(number, next)                                  \
	FRAME static void deep##number(unsigned long turns) \
	{                                                   \
		deep##next(turns);                          \
		AFTER_CALL();                               \
	}
DEEP40()

#endif
