/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf report --hierarchy: one level below the other, each indented. Private to this folder.
 */
#ifndef EXPORT_TEXT_HIERARCHY_H
#define EXPORT_TEXT_HIERARCHY_H

#include "export/text_table.h"

/* Titles, unless the style is quiet, and lines, with call graphs below those of the last level. */
void text_write_hierarchy(struct table *table);

#endif
