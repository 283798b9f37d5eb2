/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The binaries that places are in, each read by whoever meets it first.
 */
#include "base/memory.h"
#include "base/parallel.h"
#include "lbr/kept_callers.h"
#include "lbr/places_reach.h"

#include <stdlib.h>
#include <string.h>

struct code_shelf *code_shelf_new(const struct lbr_keeper *keeper)
{
	struct code_shelf *shelf = must_alloc(sizeof(*shelf));

	parallel_mutex_init(&shelf->lock);
	shelf->keeper = keeper;
	return shelf;
}

void code_shelf_free(struct code_shelf *shelf)
{
	for (size_t i = 0; i < shelf->rows.count; i++)
		code_facts_free(shelf->rows.items[i]);
	vec_release(&shelf->rows);
	idmap_release(&shelf->of_file);
	pthread_mutex_destroy(&shelf->lock);
	free(shelf);
}

void places_keep_code(const struct places *places)
{
	const struct code_shelf *shelf = places->shelf;

	for (size_t i = 0; i < shelf->rows.count; i++)
		if (shelf->rows.items[i])
			kept_callers_keep(shelf->rows.items[i], shelf->keeper);
}

/* The dynamic linker: the only file that binds functions late. */
static bool is_loader(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strncmp(name, "/ld-linux", 9) || !strncmp(name, "/ld-2.", 6) ||
			!strncmp(name, "/ld-musl", 8));
}

/* Else it is "[vdso]", or memory as "//anon". */
static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

/* NULL: there is none, or not this one. */
static struct code_facts *read_binary(const struct places *places, const struct mapped_file *file)
{
	struct build_id id = {.length = file->build_id_bytes};
	struct code_image image = {0};

	memcpy(id.bytes, file->build_id, sizeof(id.bytes));
	if ((!places->symfs || code_image_read(places->symfs, file->path, &id, &image)) &&
	    code_image_read("", file->path, &id, &image))
		return NULL;
	return code_facts_new(&image, is_loader(file->path), places->shelf->keeper);
}

/* Reads it, unless somebody has. */
static struct code_facts *from_shelf(const struct places *places, const struct mapped_file *file)
{
	struct code_shelf *shelf = places->shelf;
	struct code_facts *facts;
	u32 *row;

	pthread_mutex_lock(&shelf->lock);
	row = idmap_place(&shelf->of_file, file->id);
	if (!*row) {
		*vec_add(&shelf->rows) = read_binary(places, file);
		*row = (u32)shelf->rows.count;
	}
	facts = shelf->rows.items[*row - 1];
	pthread_mutex_unlock(&shelf->lock);
	return facts;
}

u32 places_add_binary(struct places *places, u32 file, struct code_facts *facts)
{
	u32 row = (u32)places->binaries.count;

	*vec_add(&places->binaries) = facts;
	*vec_add(&places->files) = file;
	*idmap_place(&places->of_file, file) = row;
	return row;
}

u32 places_binary(struct places *places, const struct mapped_file *file)
{
	u32 row = idmap_get(&places->of_file, file->id);
	struct code_facts *facts;

	if (row)
		return row;
	facts = is_file(file->path) ? from_shelf(places, file) : NULL;
	places->missing += is_file(file->path) && !facts;
	return places_add_binary(places, file->id, facts);
}
