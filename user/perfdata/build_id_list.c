/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The record of a path is made of the first mapping of it that has a build id.
 */
#include "perfdata/build_id_list.h"

#include "perfdata/features_write.h"

#include <string.h>
#include <xxhash.h>

struct listed_path {
	u64 file;	      /* hash of what tells the inode from others; 0: no mapping told */
	size_t start, length; /* of its record; 0 bytes: none */
	bool has_two;	      /* files */
};

static u64 hash_of_file(const struct mapping *mapping)
{
	const u64 facts[] = {(u64)mapping->major << 32 | mapping->minor, mapping->inode,
			     mapping->inode_generation};

	return mapping->inode ? XXH3_64bits(facts, sizeof(facts)) : 0;
}

static struct listed_path *row_of(struct build_id_list *list, const char *path)
{
	u32 id = intern_bytes(&list->paths, path, mapping_name_bytes(path));

	if (id > list->rows.count)
		*vec_add(&list->rows) = (struct listed_path){0};
	return &list->rows.items[id - 1];
}

/* Keeps the record, or sees that it differs from the one that there is. */
static void take_record(struct build_id_list *list, struct listed_path *row,
			const struct mapping *mapping)
{
	size_t start = list->records.length, length;

	feature_append_build_id(mapping, &list->records);
	length = list->records.length - start;
	if (!row->length) {
		row->start = start;
		row->length = length;
		return;
	}
	row->has_two |= length != row->length || memcmp(list->records.bytes + row->start,
							list->records.bytes + start, length) != 0;
	text_truncate(&list->records, start);
}

void build_id_list_add(struct build_id_list *list, const struct mapping *mapping)
{
	struct listed_path *row = row_of(list, mapping->path);
	u64 file = hash_of_file(mapping);

	row->has_two |= row->file && file && row->file != file;
	if (file)
		row->file = file;
	if (mapping->build_id_bytes)
		take_record(list, row, mapping);
}

void build_id_list_put(const struct build_id_list *list, struct text *payload)
{
	for (size_t i = 0; i < list->rows.count; i++) {
		const struct listed_path *row = &list->rows.items[i];

		if (row->length && !row->has_two)
			text_append_bytes(payload, list->records.bytes + row->start, row->length);
	}
}

void build_id_list_release(struct build_id_list *list)
{
	intern_release(&list->paths);
	vec_release(&list->rows);
	text_release(&list->records);
}
