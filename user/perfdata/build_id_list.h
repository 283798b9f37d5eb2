/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BUILD_ID section of a file, as mappings come.
 *
 * Whoever reads it takes its build ids for all mappings of a path that have none. So a path is left
 * out of which there were two files: replaced meanwhile, or in two mount namespaces. Those of which
 * the build id is known tell it themselves.
 */
#ifndef PERFDATA_BUILD_ID_LIST_H
#define PERFDATA_BUILD_ID_LIST_H

#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"
#include "event/event.h"

struct listed_path;

/* Begin with a zeroed one. */
struct build_id_list {
	struct intern paths;
	VEC(struct listed_path) rows; /* by id of the path */
	struct text records;
};

/* Takes what a mapping tells of its file; it may have no build id. */
void build_id_list_add(struct build_id_list *list, const struct mapping *mapping);
/* Appends the section's payload. */
void build_id_list_put(const struct build_id_list *list, struct text *payload);
/* Frees the memory. */
void build_id_list_release(struct build_id_list *list);

#endif
