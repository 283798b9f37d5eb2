/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What goes into caches of names, and what is looked for in them.
 */
#include "symbolize/confined_names.h"
#include "symbolize/finder.h"
#include "symbolize/names_cache_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "host/host.h"

#include <errno.h>
#include <string.h>

bool names_kept_for(const struct symbolize_settings *settings, const struct binary_row *binary,
		    struct kept_names *ret_names)
{
	struct build_id id = {.length = binary->build_id_bytes};

	if (settings->symfs && settings->symfs[0])
		return false;
	memcpy(id.bytes, binary->build_id, sizeof(id.bytes));
	for (size_t i = 0; i < NAMES_CACHES_MAX; i++)
		if (!names_cache_find(settings->caches[i], &id, ret_names))
			return true;
	return false;
}

int names_cache_keep(struct names_cache *cache, const struct running_binary *binary)
{
	return names_keep(cache, binary, 0);
}

/* What was recorded of a binary, or what its open file has. Returns 1 if that was looked at. */
static int identify(const struct names_cache *cache, const struct running_binary *binary,
		    struct confined_identity *ret_identity)
{
	struct confined *confined = names_cache_confined(cache);
	int error;

	if (binary->build_id_bytes) {
		ret_identity->id = (struct build_id){.length = binary->build_id_bytes};
		memcpy(ret_identity->id.bytes, binary->build_id, binary->build_id_bytes);
		return 0;
	}
	if (!binary->is_open)
		return -ENODATA;
	error = confined ? confined_names_identify(confined, binary->fd, ret_identity)
			 : build_id_of_fd(binary->fd, &ret_identity->id);
	return error ? error : 1;
}

int names_keep(struct names_cache *cache, const struct running_binary *binary, u64 known_rows)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	struct confined *confined = names_cache_confined(cache);
	struct confined_identity identity = {0};
	struct running_binary known = *binary;
	int error, found = identify(cache, binary, &identity);

	if (found < 0)
		return found;
	if (names_cache_has(cache, &identity.id) &&
	    names_cache_rows(cache, &identity.id) >= known_rows)
		return 0;
	known.build_id = identity.id.bytes;
	known.build_id_bytes = identity.id.length;
	error = confined ? confined_names_read(confined, &known, found ? &identity : NULL, &names)
			 : binary_finder_read(&known, &names);
	return error ? error : names_cache_add(cache, &names);
}

/* --- the kernel --- */

/* The symbols of a table in a range, by their distance from `base`. */
static struct symbols *symbols_between(const struct symbols *all, u64 start, u64 end, u64 base)
{
	struct symbols *symbols = symbols_new();

	for (size_t i = 0; i < symbols_count(all); i++) {
		struct symbol symbol = *symbols_at(all, i);

		if (symbol.start < start || symbol.start >= end)
			continue;
		symbol.start -= base;
		symbol.end -= base;
		symbols_add(symbols, &symbol);
	}
	symbols_finish(symbols);
	return symbols;
}

/* The kernel's own: modules are groups of their own. */
static struct symbols *symbols_of_kernel(const struct symbols *all)
{
	struct symbols *symbols = symbols_new();

	for (size_t i = 0; i < symbols_count(all); i++)
		if (!symbols_at(all, i)->group)
			symbols_add(symbols, symbols_at(all, i));
	symbols_finish(symbols);
	return symbols;
}

/* What is not there yet of the kernel and its modules; kallsyms is read for the first of them. */
struct kernel_keeping {
	struct names_cache *cache;
	struct symbols *symbols;
	u64 reference;
};

/* Returns 1 if the names under this build id are wanted and `symbols` are there, 0 if not. */
static int has_to_keep(struct kernel_keeping *keeping, const struct build_id *id)
{
	int error;

	if (names_cache_has(keeping->cache, id))
		return 0;
	if (keeping->symbols)
		return 1;
	error = kernel_finder_read(&keeping->symbols, &keeping->reference);
	return error ? error : 1;
}

static int keep_kernel(struct kernel_keeping *keeping)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	int error = build_id_of_kernel(&names.id);

	error = error ? error : has_to_keep(keeping, &names.id);
	if (error <= 0)
		return error;
	names.symbols = symbols_of_kernel(keeping->symbols);
	names.reference = keeping->reference;
	return names_cache_add(keeping->cache, &names);
}

static int keep_module(struct kernel_keeping *keeping, const struct kernel_module *module)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	int error = build_id_of_module(module->name, &names.id);

	error = error ? 0 : has_to_keep(keeping, &names.id);
	if (error <= 0)
		return error;
	/* Loaded anew since it was listed, it may have another build id than these symbols. */
	if (kernel_module_instance(module->name) != module->instance)
		return 0;
	names.symbols = symbols_between(keeping->symbols, module->start,
					module->start + module->bytes, module->start);
	return names_cache_add(keeping->cache, &names);
}

static int keep_modules(struct kernel_keeping *keeping, const struct kernel_modules *modules)
{
	int error = 0;

	for (size_t i = 0; i < modules->rows.count && !error; i++)
		if (modules->rows.items[i].is_live)
			error = keep_module(keeping, &modules->rows.items[i]);
	return error;
}

/* Modules are listed before their symbols are read: see keep_module(). */
int names_cache_keep_kernel(struct names_cache *cache)
{
	CLEANUP(kernel_modules_release) struct kernel_modules modules = {0};
	struct kernel_keeping keeping = {.cache = cache};
	int error;

	(void)kernel_modules_here(&modules); /* a kernel without modules has no list */
	error = keep_kernel(&keeping);
	error = error ? error : keep_modules(&keeping, &modules);
	symbols_free(keeping.symbols);
	return error;
}
