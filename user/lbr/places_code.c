/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The binaries that places are in, each read by whoever meets it first.
 */
#include "base/memory.h"
#include "base/parallel.h"
#include "host/host.h"
#include "lbr/kept_callers.h"
#include "lbr/places_reach.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
	for (size_t i = 0; i < shelf->prepared.count; i++) {
		free(shelf->prepared.items[i].path);
		code_facts_free(shelf->prepared.items[i].facts);
	}
	vec_release(&shelf->prepared);
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

static bool take_file(void *image, const struct found_binary *found)
{
	return !code_image_read(found->fd, image);
}

/* NULL: there is none, or not this one. */
static struct code_facts *read_binary(const struct places *places, const struct mapped *mapped)
{
	const struct mapped_file *file = mapped->file;
	struct code_image image = {0};
	struct binary_search search = {
		.symfs = places->symfs,
		.path = file->path,
		.build_id = file->build_id,
		.build_id_bytes = file->build_id_bytes,
		.inode = {file->inode, file->major, file->minor, file->inode_generation},
		.cache_name = "elf",
		.owner_pid = mapped->owner_pid,
		.accept = take_file,
		.context = &image,
	};
	bool is_found = binary_search_run(&search);

	if (!is_found && places->symfs) {
		search.symfs = NULL;
		is_found = binary_search_run(&search);
	}
	return is_found ? code_facts_new(&image, is_loader(file->path), places->shelf->keeper)
			: NULL;
}

static struct prepared_code *find_prepared(struct code_shelf *shelf, const char *path,
					   const struct build_id *id)
{
	for (size_t i = 0; i < shelf->prepared.count; i++) {
		struct prepared_code *prepared = &shelf->prepared.items[i];

		if (prepared->id.length == id->length &&
		    !memcmp(prepared->id.bytes, id->bytes, id->length) &&
		    !strcmp(prepared->path, path))
			return prepared;
	}
	return NULL;
}

static bool is_large(const struct code_shelf *shelf, const char *path)
{
	struct stat status;

	return shelf->keeper && !stat(path, &status) && S_ISREG(status.st_mode) &&
	       (u64)status.st_size >= shelf->keeper->least_bytes;
}

/* What is to be found elsewhere is looked for when a mapping is met. So is what has no build id:
 * only a mapping tells which file it was. */
void places_prepare_code(const struct places *places, const char *path, const struct build_id *id)
{
	enum { PREPARED_MAX = 8 };
	struct code_shelf *shelf = places->shelf;
	struct mapped_file file = {.path = path, .build_id_bytes = id->length};
	const struct mapped mapped = {.file = &file, .owner_pid = ~0u};
	struct code_facts *facts;

	if (places->symfs || !id->length || !is_file(path) || !is_large(shelf, path))
		return;
	memcpy(file.build_id, id->bytes, sizeof(file.build_id));
	pthread_mutex_lock(&shelf->lock);
	if (shelf->prepared.count < PREPARED_MAX && !find_prepared(shelf, path, id)) {
		facts = read_binary(places, &mapped);
		if (facts)
			code_facts_list_exported(facts);
		*vec_add(&shelf->prepared) = (struct prepared_code){must_copy(path), *id, facts};
	}
	pthread_mutex_unlock(&shelf->lock);
}

/* Reads it, or takes what was read ahead. */
static struct code_facts *take_binary(const struct places *places, const struct mapped *mapped)
{
	const struct mapped_file *file = mapped->file;
	struct build_id id = {.length = file->build_id_bytes};
	struct prepared_code *prepared;
	struct code_facts *facts;

	memcpy(id.bytes, file->build_id, sizeof(id.bytes));
	prepared = find_prepared(places->shelf, file->path, &id);
	if (!prepared || !prepared->facts)
		return read_binary(places, mapped);
	facts = prepared->facts;
	prepared->facts = NULL;
	return facts;
}

/* Reads it, unless somebody has. */
static struct code_facts *from_shelf(const struct places *places, const struct mapped *mapped)
{
	struct code_shelf *shelf = places->shelf;
	struct code_facts *facts;
	u32 *row;

	pthread_mutex_lock(&shelf->lock);
	row = idmap_place(&shelf->of_file, mapped->file->id);
	if (!*row) {
		*vec_add(&shelf->rows) = take_binary(places, mapped);
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

u32 places_binary(struct places *places, const struct mapped *mapped)
{
	const struct mapped_file *file = mapped->file;
	u32 row = idmap_get(&places->of_file, file->id);
	struct code_facts *facts;

	if (row)
		return row;
	facts = is_file(file->path) ? from_shelf(places, mapped) : NULL;
	places->missing += is_file(file->path) && !facts;
	return places_add_binary(places, file->id, facts);
}
