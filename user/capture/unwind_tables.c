/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers what the BPF programs ask: opens files, has their call frame information read, and puts
 * the tables into the kernel.
 *
 * A file is opened as soon as it is asked for, because its process may end any moment; it is read
 * when its turn comes. The smallest comes first: reading takes the longer the larger a file is, and
 * a compiler's libraries shall not keep libc waiting.
 */
#include "capture/unwind_tables_state.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "capture/confined_files.h"
#include "capture/file_key.h"
#include "capture/read_table.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <xxhash.h>

enum {
	NS_PER_MS = 1000000,
	TRIM_BYTES = 8 << 20, /* of files; below that it is not worth the time */
};

static const u64 work_ns = 30 * (u64)NS_PER_MS;

/* --- reading a file --- */

static bool is_vdso(const struct unwind_file_key *key)
{
	return !key->device && key->inode == UNWIND_VDSO_INODE;
}

static int add_table(struct unwind_tables *tables, const struct elf_digest *digest,
		     const struct table_words *words, table_id *ret_table)
{
	tables->counters[COUNTER_unwind_dense_page] += words->dense_pages;
	/* Also if the kernel has no memory for another segment. */
	return table_store_add(tables->store, digest, words, ret_table) ? -ENOSPC : 0;
}

/* The table of an image: that of a copy of it, or a new one. */
static int put_table(struct unwind_tables *tables, struct bytes image,
		     const struct elf_digest *digest, table_id *ret_table)
{
	CLEANUP(table_words_release) struct table_words words = {0};
	int error;

	*ret_table = table_store_find(tables->store, digest);
	if (*ret_table)
		return 0;
	error = read_table(image, &words);
	return error ? error : add_table(tables, digest, &words, ret_table);
}

/* Copies of a file have the same words. Whoever read them must not choose the table that others
 * take them for: the sum has a seed that he does not know. */
static int put_foreign_words(struct unwind_tables *tables, int fd, table_id *ret_table)
{
	CLEANUP(table_words_release) struct table_words words = {0};
	int error = confined_files_table(tables->reader, fd, &words);
	u64 seed = tables->seed;
	XXH128_hash_t sum;

	if (error)
		return error;
	seed ^= (u64)words.place.rule_count << 32 | words.place.first_page;
	sum = XXH3_128bits_withSeed(words.words, words.word_count * sizeof(u32), seed);
	sum.high64 ^= words.place.page_count;
	*ret_table = table_store_find(tables->store, &(struct elf_digest){sum.low64, sum.high64});
	return *ret_table ? 0
			  : add_table(tables, &(struct elf_digest){sum.low64, sum.high64}, &words,
				      ret_table);
}

static int read_file(struct unwind_tables *tables, const struct request *request,
		     table_id *ret_table)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	struct elf_digest digest = {.low = UNWIND_VDSO_INODE};
	int error;

	if (is_vdso(&request->wanted.file))
		return put_table(tables, own_vdso(), &digest, ret_table);
	if (tables->reader)
		return put_foreign_words(tables, request->fd, ret_table);
	error = elf_image_frames(request->fd, &image, &digest);
	return error ? error : put_table(tables, image, &digest, ret_table);
}

/* --- requests --- */

/* The mapping that a file was met in, with what is known of that by now. */
static struct mapping mapping_of(const struct unwind_tables *tables,
				 const struct file_wanted *wanted)
{
	struct mapping mapping = {
		.pid = wanted->pid,
		.start = wanted->start,
		.bytes = wanted->end - wanted->start,
	};

	file_key_tell(&wanted->file, &mapping);
	file_paths_tell(&tables->paths, &mapping);
	return mapping;
}

/* Not before it is served: what the kernel told of the mapping is read by then. */
static void tell_file(struct unwind_tables *tables, const struct request *request)
{
	struct mapping mapping;

	if (!tables->on_file || !request->is_met || request->fd < 0)
		return;
	mapping = mapping_of(tables, &request->wanted);
	tables->on_file(tables->file_context, &mapping, request->fd);
}

/* Opens the file, if not too many are open. */
static void try_to_open(struct unwind_tables *tables, struct request *request)
{
	struct stat status = {0};
	struct mapping mapping;

	if (request->fd >= 0 || tables->open_count >= FILES_OPEN_MAX ||
	    is_vdso(&request->wanted.file))
		return;
	mapping = mapping_of(tables, &request->wanted);
	request->fd = mapped_file_open(-1, &mapping, MATCH_PLACE, &status);
	request->file_bytes = (u64)status.st_size;
	tables->open_count += request->fd >= 0;
}

static void close_file(struct unwind_tables *tables, struct request *request)
{
	if (request->fd < 0)
		return;
	close(request->fd);
	request->fd = -1;
	tables->open_count--;
}

static enum counter counter_of(int error)
{
	switch (error) {
	case -ENODATA:
	case -ENOTSUP:
		return COUNTER_unwind_no_information;
	case -EOWNERDEAD:
		return COUNTER_file_reader_died;
	case -ETIME:
		return COUNTER_file_reader_slow;
	default:
		return COUNTER_unwind_unreadable;
	}
}

static void answer(struct unwind_tables *tables, const struct request *request)
{
	struct file_answer answer = {.state = FILE_READY, .now_ns = tables->now_ns};
	int error = read_file(tables, request, &answer.table);

	if (error == -ENOSPC) {
		answer.state = FILE_NO_ROOM;
		tables->counters[COUNTER_unwind_no_room]++;
	} else if (error) {
		answer.state = FILE_NO_TABLE;
		tables->counters[counter_of(error)]++;
	}
	known_files_answer(tables->files, &request->wanted.file, &answer);
}

static void serve(struct unwind_tables *tables, struct request *request)
{
	const struct unwind_file_key *key = &request->wanted.file;

	try_to_open(tables, request);
	tell_file(tables, request);
	if (known_files_row(tables->files, key)->state != FILE_WANTED)
		return; /* asked for while it was prefetched */
	if (request->fd >= 0 || is_vdso(key)) {
		answer(tables, request);
		return;
	}
	known_files_gone(tables->files, key, tables->now_ns);
	tables->counters[COUNTER_unwind_file_gone]++;
}

static bool has_requests(const struct unwind_tables *tables)
{
	return tables->requests.count > 0;
}

/* Makes the descriptor say whether there is something to do. */
static void tell(struct unwind_tables *tables)
{
	eventfd_t value = 1;

	if (has_requests(tables) == tables->is_told)
		return;
	tables->is_told = !tables->is_told;
	if (tables->is_told)
		eventfd_write(tables->event_fd, value);
	else
		eventfd_read(tables->event_fd, &value); /* not blocking */
}

/* Takes the request for the smallest file out of the others. There is at least one. */
static struct request take_smallest(struct unwind_tables *tables)
{
	struct request *requests = tables->requests.items, smallest;
	size_t row = 0;

	for (size_t i = 1; i < tables->requests.count; i++)
		if (requests[i].file_bytes < requests[row].file_bytes)
			row = i;
	smallest = requests[row];
	requests[row] = requests[--tables->requests.count];
	return smallest;
}

void unwind_tables_serve_until(struct unwind_tables *tables, u64 end_ns)
{
	while (has_requests(tables) && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		struct request request = take_smallest(tables);

		serve(tables, &request);
		close_file(tables, &request);
		if (!tables->reader)
			tables->untrimmed_bytes += request.file_bytes;
	}
}

/* The largest binaries take some ten times what the recording takes else, for a tenth of a second,
 * where this process reads them. The C library would keep that for the next time. */
static void give_memory_back(struct unwind_tables *tables)
{
	if (has_requests(tables) || tables->untrimmed_bytes < TRIM_BYTES)
		return;
	tables->untrimmed_bytes = 0;
	malloc_trim(0);
}

void unwind_tables_add_request(struct unwind_tables *tables, const struct request *request)
{
	*vec_add(&tables->requests) = *request;
	tables->open_count += request->fd >= 0;
	tell(tables);
}

void unwind_tables_want(struct unwind_tables *tables, const struct file_wanted *wanted)
{
	/* Each key is asked for once, so that there can hardly be more than keys. */
	if (tables->requests.count >= 2 * UNWIND_FILES_MAX || wanted->end <= wanted->start)
		return;
	unwind_tables_add_request(tables,
				  &(struct request){.wanted = *wanted, .fd = -1, .is_met = true});
	try_to_open(tables, &tables->requests.items[tables->requests.count - 1]);
}

void unwind_tables_work(struct unwind_tables *tables, u64 now_ns)
{
	tables->now_ns = now_ns;
	known_files_tend(tables->files, now_ns);
	unwind_tables_serve_until(tables, clock_ns(CLOCK_MONOTONIC) + work_ns);
	give_memory_back(tables);
	tell(tables);
}

void unwind_tables_on_file(struct unwind_tables *tables,
			   void (*on_file)(void *context, const struct mapping *mapping, int fd),
			   void *context)
{
	tables->on_file = on_file;
	tables->file_context = context;
}

void unwind_tables_read_elsewhere(struct unwind_tables *tables, struct confined *reader)
{
	tables->reader = reader;
	if (getrandom(&tables->seed, sizeof(tables->seed), 0) != sizeof(tables->seed))
		tables->seed = clock_ns(CLOCK_MONOTONIC);
}

int unwind_tables_fd(const struct unwind_tables *tables)
{
	return tables->event_fd;
}

/* --- for walks on our side --- */

enum unwind_file_state unwind_tables_find(const struct unwind_tables *tables,
					  const struct unwind_file_key *key,
					  struct unwind_place *ret_place)
{
	const struct known_file *file;

	if (!known_files_has(tables->files, key))
		return FILE_GONE;
	file = known_files_row(tables->files, key);
	if (file->state == FILE_READY)
		*ret_place = table_store_place(tables->store, file->table);
	return file->failures ? FILE_GONE : file->state;
}

const u32 *unwind_tables_read_chunk(void *tables, u32 chunk)
{
	return table_store_read_chunk(((struct unwind_tables *)tables)->store, chunk);
}

void unwind_tables_stop_reading(struct unwind_tables *tables)
{
	table_store_stop_reading(tables->store);
}

/* --- opening --- */

static void unwind_tables_closep(struct unwind_tables **tables)
{
	unwind_tables_close(*tables);
}

int unwind_tables_open(const struct unwind_maps *maps, struct unwind_tables **ret_tables)
{
	static const struct request vdso = {.wanted.file.inode = UNWIND_VDSO_INODE, .fd = -1};
	CLEANUP(unwind_tables_closep) struct unwind_tables *tables = must_alloc(sizeof(*tables));

	tables->sink = unwind_tables_learner();
	tables->store = table_store_new(maps);
	tables->files = known_files_new(maps, tables->store);
	tables->now_ns = clock_ns(CLOCK_MONOTONIC);
	tables->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tables->event_fd < 0)
		return fail(-errno, NULL, "cannot wait for requests of the BPF programs");
	unwind_tables_add_request(tables, &vdso);
	unwind_tables_serve_until(tables, ~0ULL);
	*ret_tables = TAKE(tables);
	return 0;
}

void unwind_tables_close(struct unwind_tables *tables)
{
	if (!tables)
		return;
	for (size_t i = 0; i < tables->requests.count; i++)
		close_file(tables, &tables->requests.items[i]);
	vec_release(&tables->requests);
	known_files_free(tables->files);
	table_store_free(tables->store);
	file_paths_release(&tables->paths);
	closep(&tables->event_fd);
	free(tables);
}

struct unwind_totals unwind_tables_totals(const struct unwind_tables *tables, u64 *counters)
{
	struct table_store_counts store = table_store_counts(tables->store);

	for (u32 i = 0; i < COUNTER_COUNT; i++)
		counters[i] += tables->counters[i];
	return (struct unwind_totals){
		.tables = store.tables,
		.rows = store.rows,
		.files = known_files_count(tables->files),
		.kernel_bytes = store.kernel_bytes,
		.evicted = known_files_evicted(tables->files),
	};
}
