/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was counted: tables linked by row number, and the views on them. This is the folder's face;
 * the parts have a header each.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "profile/block_changes.h"
#include "profile/builder.h"
#include "profile/call_graph.h"
#include "profile/call_tree.h"
#include "profile/callers.h"
#include "profile/cgroup_parts.h"
#include "profile/changes.h"
#include "profile/code_blocks.h"
#include "profile/comparison.h"
#include "profile/conditions.h"
#include "profile/details.h"
#include "profile/dispersion.h"
#include "profile/entry_layout.h"
#include "profile/entry_list.h"
#include "profile/fold.h"
#include "profile/hierarchy.h"
#include "profile/join.h"
#include "profile/leaves.h"
#include "profile/location_uses.h"
#include "profile/locator.h"
#include "profile/memory_keys.h"
#include "profile/packed.h"
#include "profile/path_changes.h"
#include "profile/significance.h"
#include "profile/source_text.h"
#include "profile/streams.h"
#include "profile/tables.h"

#endif
