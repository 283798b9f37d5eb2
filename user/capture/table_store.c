/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Segments of the space for unwind tables, made when they are needed, and the tables in them.
 *
 * Words are written through a mapping, not by system calls on the map: those keep our programs from
 * running meanwhile (bpf_disable_instrumentation()). The mapping goes when they are written, so
 * that the memory is not counted as ours. To put segments into the outer map takes as long as RCU
 * takes to settle, 10 to 20 ms: once for each megabyte, or for a table of several.
 */
#include "capture/table_store.h"

#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/word_space.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Chunks that are mapped at once to be read: whole pages of any size, and few of them, for the
 * kernel puts all of a mapping there at once. */
enum { PIECE_CHUNKS = 16, PIECE_BYTES = PIECE_CHUNKS * UNWIND_CHUNK_WORDS * 4 };
_Static_assert(UNWIND_SEGMENT_CHUNKS % PIECE_CHUNKS == 0, "pieces of a segment");

/* A CPU reads a table for some microseconds after it found it, or as long as a virtual CPU can be
 * taken away from its guest meanwhile. */
static const u64 rest_ns = 250000000;

struct table {
	struct elf_digest digest;
	struct unwind_place place;
	u32 word_count, row_count;
	u32 references; /* 0: the row is unused */
	u32 number;	/* as the programs know it: no other table has it, or had it */
};

struct table_store {
	struct unwind_maps maps;
	struct word_space space;
	u32 last_number;
	VEC(int) segment_fds;
	VEC(const u32 *) read; /* by piece, as far as it goes: mapped to be read, or NULL */
	VEC(struct table) tables;
	struct idmap by_digest; /* its low half → id */
};

struct table_store *table_store_new(const struct unwind_maps *maps)
{
	struct table_store *store = must_alloc(sizeof(*store));

	store->maps = *maps;
	return store;
}

void table_store_free(struct table_store *store)
{
	if (!store)
		return;
	table_store_stop_reading(store);
	for (size_t i = 0; i < store->segment_fds.count; i++)
		close(store->segment_fds.items[i]);
	vec_release(&store->segment_fds);
	vec_release(&store->tables);
	idmap_release(&store->by_digest);
	word_space_release(&store->space);
	free(store);
}

/* --- segments --- */

static int new_segment(void)
{
	struct bpf_map_create_opts options = {.sz = sizeof(options), .map_flags = BPF_F_MMAPABLE};

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_segment", sizeof(u32),
			      UNWIND_CHUNK_WORDS * sizeof(u32), UNWIND_SEGMENT_CHUNKS, &options);
}

/* Puts segments into the outer map: all at once where the kernel can do that, which waits once. */
static int show_segments(const struct table_store *store, u32 first, u32 count)
{
	struct bpf_map_batch_opts options = {.sz = sizeof(options)};
	CLEANUP(freep) u32 *keys = must_alloc_array(count, sizeof(*keys));
	const int *fds = store->segment_fds.items + first;
	int error = 0;
	u32 done = count;

	for (u32 i = 0; i < count; i++)
		keys[i] = first + i;
	if (count > 1 && !bpf_map_update_batch(store->maps.segments_fd, keys, fds, &done, &options))
		return 0;
	for (u32 i = 0; i < count && !error; i++)
		error = bpf_map_update_elem(store->maps.segments_fd, &keys[i], &fds[i], BPF_ANY);
	return error;
}

static int add_segments(struct table_store *store, u32 count)
{
	u32 first = (u32)store->segment_fds.count;
	int error = 0;

	for (u32 i = 0; i < count && !error; i++) {
		int fd = new_segment();

		if (fd < 0)
			error = fd;
		else
			*vec_add(&store->segment_fds) = fd;
	}
	if (!error)
		error = show_segments(store, first, count);
	if (!error) {
		word_space_grow(&store->space, count * UNWIND_SEGMENT_WORDS);
		return 0;
	}
	while (store->segment_fds.count > first)
		close(store->segment_fds.items[--store->segment_fds.count]);
	return error;
}

/* Adds the segments that a table needs, if there may be so many. */
static int make_space(struct table_store *store, u32 word_count)
{
	u32 missing = word_space_missing(&store->space, word_count);
	u32 segments = (missing + UNWIND_SEGMENT_WORDS - 1) / UNWIND_SEGMENT_WORDS;

	if (word_count > store->maps.segment_count * (u64)UNWIND_SEGMENT_WORDS)
		return -EFBIG;
	if (segments > store->maps.segment_count - store->segment_fds.count)
		return -ENOSPC;
	return segments ? add_segments(store, segments) : 0;
}

/* Writes words that lie in one segment. The kernel puts all pages of a mapping of a map there at
 * once, so it is only of those that are written. */
static int write_piece(const struct table_store *store, u32 first, const u32 *words, u32 count)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t from = first % UNWIND_SEGMENT_WORDS * sizeof(u32);
	size_t in_page = from % page_bytes, bytes = count * sizeof(u32);
	u8 *start = mmap(NULL, in_page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			 store->segment_fds.items[first / UNWIND_SEGMENT_WORDS],
			 (off_t)(from - in_page));

	if (start == MAP_FAILED)
		return -errno;
	memcpy(start + in_page, words, bytes);
	munmap(start, in_page + bytes);
	return 0;
}

static int write_words(const struct table_store *store, u32 first, const u32 *words, u32 count)
{
	int error = 0;

	while (count && !error) {
		u32 piece = UNWIND_SEGMENT_WORDS - first % UNWIND_SEGMENT_WORDS;

		if (piece > count)
			piece = count;
		error = write_piece(store, first, words, piece);
		first += piece;
		words += piece;
		count -= piece;
	}
	return error;
}

/* --- reading --- */

const u32 *table_store_read_chunk(void *context, u32 chunk)
{
	struct table_store *store = context;
	u32 segment = chunk / UNWIND_SEGMENT_CHUNKS, piece = chunk / PIECE_CHUNKS;
	u32 in_segment = piece % (UNWIND_SEGMENT_CHUNKS / PIECE_CHUNKS);
	void *start;

	if (segment >= store->segment_fds.count)
		return NULL;
	while (store->read.count <= piece)
		*vec_add(&store->read) = NULL;
	if (!store->read.items[piece]) {
		start = mmap(NULL, PIECE_BYTES, PROT_READ, MAP_SHARED,
			     store->segment_fds.items[segment], (off_t)in_segment * PIECE_BYTES);
		if (start == MAP_FAILED)
			return NULL;
		store->read.items[piece] = start;
	}
	return store->read.items[piece] + (size_t)(chunk % PIECE_CHUNKS) * UNWIND_CHUNK_WORDS;
}

void table_store_stop_reading(struct table_store *store)
{
	for (size_t i = 0; i < store->read.count; i++)
		if (store->read.items[i])
			munmap((void *)store->read.items[i], PIECE_BYTES);
	vec_release(&store->read);
}

/* --- tables --- */

static struct table *table_of(const struct table_store *store, table_id id)
{
	return &store->tables.items[id - 1];
}

table_id table_store_find(struct table_store *store, const struct elf_digest *digest)
{
	table_id id = idmap_get(&store->by_digest, digest->low);

	if (!id || table_of(store, id)->digest.high != digest->high)
		return 0;
	table_of(store, id)->references++;
	return id;
}

static table_id unused_row(struct table_store *store)
{
	for (size_t i = 0; i < store->tables.count; i++)
		if (!store->tables.items[i].references)
			return (table_id)i + 1;
	vec_add(&store->tables);
	return (table_id)store->tables.count;
}

int table_store_add(struct table_store *store, const struct elf_digest *digest,
		    const struct table_words *words, table_id *ret_table)
{
	int error = make_space(store, words->word_count);
	struct table table = {
		.digest = *digest,
		.place = words->place,
		.word_count = words->word_count,
		.row_count = words->row_count,
		.references = 1,
		.number = ++store->last_number,
	};
	table_id id;

	if (!error && !word_space_take(&store->space, table.word_count, &table.place.first_word))
		error = -ENOSPC;
	if (error)
		return error;
	error = write_words(store, table.place.first_word, words->words, words->word_count);
	if (error) {
		word_space_give(&store->space, table.place.first_word, table.word_count, 0);
		return error;
	}
	id = unused_row(store);
	*table_of(store, id) = table;
	*idmap_place(&store->by_digest, digest->low) = id;
	*ret_table = id;
	return 0;
}

u32 table_store_number(const struct table_store *store, table_id table)
{
	return table_of(store, table)->number;
}

struct unwind_place table_store_place(const struct table_store *store, table_id table)
{
	return table_of(store, table)->place;
}

u32 table_store_drop(struct table_store *store, table_id id, u64 now_ns)
{
	struct table *table = table_of(store, id);

	if (--table->references)
		return 0;
	/* Unless a table with half of its digest took its place. */
	if (idmap_get(&store->by_digest, table->digest.low) == id)
		idmap_remove(&store->by_digest, table->digest.low);
	word_space_give(&store->space, table->place.first_word, table->word_count, now_ns);
	return table->word_count;
}

bool table_store_wake(struct table_store *store, u64 now_ns)
{
	return now_ns >= rest_ns && word_space_wake(&store->space, now_ns - rest_ns);
}

struct table_store_counts table_store_counts(const struct table_store *store)
{
	struct table_store_counts counts = {
		.kernel_bytes = store->segment_fds.count * (u64)UNWIND_SEGMENT_BYTES,
	};

	for (size_t i = 0; i < store->tables.count; i++) {
		counts.tables += store->tables.items[i].references != 0;
		if (store->tables.items[i].references)
			counts.rows += store->tables.items[i].row_count;
	}
	return counts;
}
