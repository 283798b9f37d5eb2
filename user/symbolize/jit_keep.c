/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of code that a process made, kept for when the process is gone.
 *
 * A map may have hundreds of thousands of functions and grows all the time; what is kept of it are
 * those that samples lie in. They stand in the cache as the names of a binary, by virtual address.
 */
#include "symbolize/confined_names.h"
#include "symbolize/finder.h"
#include "symbolize/names_cache_files.h"

#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { MAP_MAX_BYTES = 64 << 20 };

struct build_id jit_code_id(int map, u32 pid, const u64 *addresses, size_t count)
{
	u64 seed = perf_map_stamp_of(map) ^ (u64)pid << 32;
	XXH128_hash_t hash = XXH3_128bits_withSeed(addresses, count * sizeof(*addresses), seed);
	struct build_id id = {.length = sizeof(hash)};

	memcpy(id.bytes, &hash, sizeof(hash));
	return id;
}

/* The map as it is now; it may grow meanwhile. ret_text: its start is the caller's to free. */
static int read_map(int fd, struct bytes *ret_text)
{
	CLEANUP(freep) u8 *text = NULL;
	struct stat status;
	size_t length, done = 0;
	ssize_t got;

	if (fstat(fd, &status))
		return -errno;
	if (status.st_size > MAP_MAX_BYTES)
		return -EFBIG;
	length = (size_t)status.st_size;
	text = must_alloc(length + 1);
	do {
		got = pread(fd, text + done, length - done, (off_t)done);
		done += got > 0 ? (size_t)got : 0;
	} while (got > 0 && done < length);
	*ret_text = (struct bytes){TAKE(text), done};
	return 0;
}

/* Those of the symbols that hold an address. */
static struct symbols *symbols_at_addresses(const struct symbols *all, const struct jit_code *code)
{
	struct symbols *symbols = symbols_new();
	const struct symbol *last = NULL;

	for (size_t i = 0; i < code->count; i++) {
		const struct symbol *symbol = symbols_find(all, code->addresses[i]);

		if (symbol && symbol != last)
			symbols_add(symbols, symbol);
		last = symbol ? symbol : last;
	}
	symbols_finish(symbols);
	return symbols;
}

int jit_code_read(const struct jit_code *code, struct kept_names *ret_names)
{
	CLEANUP(kept_names_release) struct kept_names names = {.id = code->id};
	struct symbols *all;
	struct bytes text;
	int error = read_map(code->map, &text);

	if (error)
		return error;
	all = symbols_new();
	error = perf_map_read(text, all);
	free((void *)(uintptr_t)text.start);
	if (!error)
		names.symbols = symbols_at_addresses(all, code);
	symbols_free(all);
	if (!error && !symbols_count(names.symbols))
		error = -ENODATA;
	if (error)
		return error;
	*ret_names = names;
	names = (struct kept_names){0};
	return 0;
}

int names_cache_keep_jit(struct names_cache *cache, const struct jit_code *code)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	struct confined *confined = names_cache_confined(cache);
	int error;

	if (names_cache_has(cache, &code->id))
		return 0;
	error = confined ? confined_names_read_jit(confined, code, &names)
			 : jit_code_read(code, &names);
	return error ? error : names_cache_add(cache, &names);
}
