/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines that go into caches of names before their binaries are gone.
 */
#include "symbolize/confined_names.h"
#include "symbolize/finder.h"
#include "symbolize/names_cache_files.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

u64 source_file_address(const struct source_file *file, u64 key)
{
	u64 address = load_map_address(&file->map, key >> 1);

	return address - (key & 1 && address + 1 > 1);
}

static void add_found(const struct source_chains *chains, const u64 *keys, size_t count,
		      struct kept_places *places)
{
	for (size_t i = 0; i < count; i++) {
		u32 frames = chains->starts[i + 1] - chains->starts[i];

		if (frames)
			kept_places_add(places, keys[i], chains->frames + chains->starts[i],
					frames);
	}
}

int source_places_read(const int *fds, size_t fd_count, const u64 *keys, size_t count,
		       struct kept_places *places)
{
	CLEANUP(source_file_close) struct source_file file = {0};
	CLEANUP(source_chains_release) struct source_chains chains = {0};
	CLEANUP(freep) u64 *addresses = must_alloc_array(count, sizeof(*addresses));
	int error = load_map_read(fds[0], &file.map);

	error = error ? error : source_lines_open_given(fds, fd_count, &places->id, &file.lines);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		addresses[i] = source_file_address(&file, keys[i]);
	source_lines_find_all(file.lines, addresses, count, 1, &chains);
	add_found(&chains, keys, count, places);
	if (source_lines_is_damaged(file.lines))
		return -EUCLEAN;
	return source_lines_has_left_out(file.lines) ? -EXDEV : 0;
}

bool names_cache_rest_is_kept(int error)
{
	return error == -EXDEV || error == -EUCLEAN;
}

/* Those that are not kept yet. ret_keys: room for all, the caller's to free. */
static size_t choose_new(struct names_cache *cache, const struct build_id *id,
			 const struct code_places *wanted, u64 **ret_keys)
{
	CLEANUP(kept_places_release) struct kept_places kept = {0};
	u64 *keys = must_alloc_array(wanted->count, sizeof(*keys));
	size_t count = 0;

	names_cache_places(cache, id, &kept);
	for (size_t i = 0; i < wanted->count; i++)
		if (!kept_places_find(&kept, wanted->keys[i]))
			keys[count++] = wanted->keys[i];
	*ret_keys = keys;
	return count;
}

int names_cache_keep_places(struct names_cache *cache, const struct running_binary *binary,
			    const struct code_places *wanted)
{
	CLEANUP(kept_places_release) struct kept_places found = {0};
	CLEANUP(freep) u64 *keys = NULL;
	struct confined *confined = names_cache_confined(cache);
	struct build_id id = {.length = binary->build_id_bytes};
	struct code_places fresh;
	int error, write_error = 0;

	if (!confined)
		return -ENOTSUP;
	memcpy(id.bytes, binary->build_id, id.length);
	fresh.count = choose_new(cache, &id, wanted, &keys);
	fresh.keys = keys;
	if (!fresh.count)
		return 0;
	error = confined_names_read_places(confined, binary, &fresh, &found);
	if (found.places.count && (!error || names_cache_rest_is_kept(error)))
		write_error = names_cache_add_places(cache, &found);
	return write_error ? write_error : error;
}
