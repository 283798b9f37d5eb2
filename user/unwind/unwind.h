/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame information into compact tables, and walks by them over copied stacks. This is the
 * folder's face; the parts have a header each.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "unwind/copied_walk.h"
#include "unwind/function_bounds.h"
#include "unwind/function_index.h"
#include "unwind/function_rules.h"
#include "unwind/rows.h"
#include "unwind/rule_set.h"
#include "unwind/sample_unwinder.h"
#include "unwind/table_bytes.h"
#include "unwind/table_words.h"

#endif
