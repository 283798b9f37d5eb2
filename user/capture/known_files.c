/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the map `unwind_files` and our copy of it the same.
 *
 * Each system call that changes or reads an element keeps our programs from running on that CPU
 * meanwhile, so the map is asked only for what it alone knows: when a file was used last, and that
 * only when room is needed.
 *
 * An element that is replaced or deleted may be given to another file at once, while a CPU still
 * looks at it. What it has read then is forgotten with the next sample, because the epoch is raised
 * after every change.
 */
#include "capture/known_files.h"

#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"

#include <bpf/bpf.h>
#include <string.h>
#include <xxhash.h>

enum {
	NS_PER_MS = 1000000,
	/* Above so many some are forgotten, down to the fewer: the programs must find room for
	 * files that are new. */
	FILES_MANY = UNWIND_FILES_MAX / 8 * 7,
	FILES_FEWER = UNWIND_FILES_MAX / 4 * 3,
	ROOM_SHARE = 8, /* of the words of all tables, an eighth is freed at a time */
};

static const u64 second_ns = 1000 * (u64)NS_PER_MS;
/* A table is unused if no CPU has looked for it so long. They do so about every four seconds, see
 * TURN_BITS in bpf/mapping.bpf.h. */
static const u64 unused_ns = 10 * 1000 * (u64)NS_PER_MS;
static const u64 ask_again_ns = 250 * (u64)NS_PER_MS;

struct known_files {
	struct unwind_maps maps;
	struct table_store *store;
	struct idmap by_hash; /* → row + 1 */
	VEC(struct known_file) rows;
	u64 next_look_ns, next_eviction_ns;
	u64 evicted;
};

struct known_files *known_files_new(const struct unwind_maps *maps, struct table_store *store)
{
	struct known_files *files = must_alloc(sizeof(*files));

	files->maps = *maps;
	files->store = store;
	return files;
}

void known_files_free(struct known_files *files)
{
	if (!files)
		return;
	idmap_release(&files->by_hash);
	vec_release(&files->rows);
	free(files);
}

static void raise_epoch(const struct known_files *files)
{
	__atomic_fetch_add(files->maps.epoch, 1, __ATOMIC_RELEASE);
}

static u64 hash_of(const struct unwind_file_key *key)
{
	return XXH3_64bits(key, sizeof(*key));
}

static struct known_file *find(const struct known_files *files, const struct unwind_file_key *key)
{
	u32 row = idmap_get(&files->by_hash, hash_of(key));

	if (!row || memcmp(&files->rows.items[row - 1].key, key, sizeof(*key)) != 0)
		return NULL;
	return &files->rows.items[row - 1];
}

/* --- forgetting --- */

/* The programs know nothing of the file any more. */
static void delete_key(struct known_files *files, const struct unwind_file_key *key)
{
	bpf_map_delete_elem(files->maps.files_fd, key);
	raise_epoch(files);
}

/* Forgets a row, into whose place the last one moves. Returns how many words that frees. */
static u32 forget(struct known_files *files, size_t row, u64 now_ns)
{
	struct known_file *file = &files->rows.items[row];
	const struct known_file *last = &files->rows.items[files->rows.count - 1];
	u32 words = 0;

	delete_key(files, &file->key);
	if (file->table)
		words = table_store_drop(files->store, file->table, now_ns);
	idmap_remove(&files->by_hash, hash_of(&file->key));
	if (file != last) {
		*file = *last;
		*idmap_place(&files->by_hash, hash_of(&file->key)) = (u32)row + 1;
	}
	files->rows.count--;
	return words;
}

/* --- answers --- */

bool known_files_has(const struct known_files *files, const struct unwind_file_key *key)
{
	return find(files, key) != NULL;
}

struct known_file *known_files_row(struct known_files *files, const struct unwind_file_key *key)
{
	struct known_file *file = find(files, key);
	u32 row;

	if (file)
		return file;
	/* Another file with the same hash: whoever made those two shall have a table for one. */
	row = idmap_get(&files->by_hash, hash_of(key));
	if (row)
		forget(files, row - 1, 0);
	file = vec_add(&files->rows);
	*file = (struct known_file){.key = *key, .state = FILE_WANTED};
	*idmap_place(&files->by_hash, hash_of(key)) = (u32)files->rows.count;
	return file;
}

void known_files_answer(struct known_files *files, const struct unwind_file_key *key,
			const struct file_answer *answer)
{
	struct known_file *file = known_files_row(files, key);
	struct unwind_file value = {.state = answer->state, .last_used_ns = answer->now_ns};

	file->state = answer->state;
	file->table = answer->table;
	file->failures = 0;
	if (answer->table) {
		value.table = table_store_number(files->store, answer->table);
		value.place = table_store_place(files->store, answer->table);
		value.seal = unwind_seal(value.table, &value.place);
	}
	if (bpf_map_update_elem(files->maps.files_fd, key, &value, BPF_ANY))
		forget(files, (size_t)(file - files->rows.items), answer->now_ns);
	raise_epoch(files);
}

void known_files_gone(struct known_files *files, const struct unwind_file_key *key, u64 now_ns)
{
	struct known_file *file = known_files_row(files, key);
	struct unwind_file value = {.state = FILE_GONE, .last_used_ns = now_ns};

	if (!file->failures++) {
		delete_key(files, key);
		return;
	}
	if (!file->failures) /* more than it counts */
		file->failures--;
	file->due_ns = now_ns + (file->failures < 8 ? file->failures : 8) * ask_again_ns;
	/* Nobody shall wait for it meanwhile. */
	bpf_map_update_elem(files->maps.files_fd, key, &value, BPF_EXIST);
	raise_epoch(files);
}

/* --- time --- */

/* What could not be found may be asked for again. The row stays: it counts how often. */
static void ask_for_due(struct known_files *files, u64 now_ns)
{
	for (size_t i = 0; i < files->rows.count; i++) {
		struct known_file *file = &files->rows.items[i];

		if (!file->due_ns || file->due_ns > now_ns)
			continue;
		file->due_ns = 0;
		delete_key(files, &file->key);
	}
}

static bool has_no_room(const struct known_files *files)
{
	for (size_t i = 0; i < files->rows.count; i++)
		if (files->rows.items[i].state == FILE_NO_ROOM)
			return true;
	return false;
}

/* Words became free: whoever had found none may ask again. */
static void ask_for_roomless(struct known_files *files, u64 now_ns)
{
	for (size_t i = files->rows.count; i--;)
		if (files->rows.items[i].state == FILE_NO_ROOM)
			forget(files, i, now_ns);
}

/* A file that nobody used of late. */
struct unused {
	struct unwind_file_key key;
	u64 last_used_ns;
};

static int compare_unused(const void *left, const void *right)
{
	const struct unused *a = left, *b = right;

	return a->last_used_ns < b->last_used_ns ? -1 : a->last_used_ns > b->last_used_ns;
}

/* Forgets files that have not been used for some seconds, the longest unused first: with tables
 * until `words` of them are free, and any until there are no more than `most`. */
static void evict(struct known_files *files, u64 now_ns, u64 words, size_t most)
{
	VEC(struct unused) unused = {0};
	u64 freed = 0;

	for (size_t i = 0; i < files->rows.count; i++) {
		const struct known_file *file = &files->rows.items[i];
		struct unwind_file value = {0};

		bpf_map_lookup_elem(files->maps.files_fd, &file->key, &value);
		if (value.last_used_ns + unused_ns <= now_ns)
			*vec_add(&unused) = (struct unused){file->key, value.last_used_ns};
	}
	if (unused.count)
		qsort(unused.items, unused.count, sizeof(*unused.items), compare_unused);
	for (size_t i = 0; i < unused.count; i++) {
		const struct known_file *file = find(files, &unused.items[i].key);

		if (!file || !(files->rows.count > most || (file->table && freed < words)))
			continue;
		freed += forget(files, (size_t)(file - files->rows.items), now_ns);
		files->evicted++;
	}
	vec_release(&unused);
}

void known_files_tend(struct known_files *files, u64 now_ns)
{
	u64 space = (u64)files->maps.segment_count * UNWIND_SEGMENT_WORDS;
	bool needs_room;

	if (table_store_wake(files->store, now_ns))
		ask_for_roomless(files, now_ns);
	ask_for_due(files, now_ns);
	if (now_ns < files->next_look_ns)
		return;
	files->next_look_ns = now_ns + second_ns;
	needs_room = has_no_room(files);
	if (now_ns < files->next_eviction_ns || !(needs_room || files->rows.count > FILES_MANY))
		return;
	files->next_eviction_ns = now_ns + 5 * second_ns;
	evict(files, now_ns, needs_room ? space / ROOM_SHARE : 0,
	      files->rows.count > FILES_MANY ? FILES_FEWER : UNWIND_FILES_MAX);
}

u64 known_files_count(const struct known_files *files)
{
	return files->rows.count;
}

u64 known_files_evicted(const struct known_files *files)
{
	return files->evicted;
}
