/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of a program that only their inodes tell apart: their functions read the same.
 */
#ifndef PROFILE_ALIKE_FUNCTIONS_H
#define PROFILE_ALIKE_FUNCTIONS_H

#include "profile/tables.h"

/*
 * By function, the first one of the same name at the same place in a file of the same path, where
 * none has a build id; else itself. Owned by the caller. NULL: each stands for itself.
 */
function_id *alike_functions(const struct profile *profile);

#endif
