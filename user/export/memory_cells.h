/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What lines say of memory accesses, as perf report prints it. Private to this folder.
 */
#ifndef EXPORT_MEMORY_CELLS_H
#define EXPORT_MEMORY_CELLS_H

#include "base/json_writer.h"
#include "base/text.h"
#include "profile/profile.h"

/* Appends what an entry says of a key of memory (entry_field_is_of_memory()), without padding. */
void memory_cell_append(struct text *text, const struct entry_list *list, const struct entry *entry,
			u8 field);
/* How wide perf makes the column for it. `names_are_wide`: files without name, too. */
size_t memory_cell_width(const struct entry_list *list, const struct entry *entry, u8 field,
			 bool names_are_wide);
/* The same key as a member of an object. */
void memory_cell_write_json(struct json_writer *json, const struct entry_list *list,
			    const struct entry *entry, u8 field);

#endif
