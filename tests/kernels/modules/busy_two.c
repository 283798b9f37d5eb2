// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * As busy_one.ko, with a function of another name in the same place.
 */
#define SPIN spin_in_two
#include "busy.h"
