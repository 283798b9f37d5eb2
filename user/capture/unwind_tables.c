/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers what the BPF programs ask: opens files, has their call frame information read, and puts
 * the tables into the kernel.
 *
 * A file is opened as soon as it is asked for, because its process may end any moment; it is read
 * when its turn comes. The smallest comes first: reading takes the longer the larger a file is, and
 * a compiler's libraries shall not keep libc waiting.
 */
#include "capture/unwind_tables.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/file_paths.h"
#include "capture/known_files.h"
#include "capture/table_store.h"
#include "host/host.h"

#include <elf.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>

enum {
	DEVICE_MINOR_BITS = 20, /* of the kernel's device number; include/linux/kdev_t.h */
	FILES_OPEN_MAX = 32,
	RULES_MAX = 1 << 16, /* of one file; real ones have some hundreds */
	NS_PER_MS = 1000000,
	/* About: it is 0.5 for libc, 0.8 for libLLVM and 1.6 for libclang-cpp. */
	READ_NS_PER_BYTE = 1,
	OUR_MAPS_BYTES = 1 << 20,
	TRIM_BYTES = 8 << 20, /* of files; below that it is not worth the time */
};

static const u64 work_ns = 30 * (u64)NS_PER_MS;
/* By rule: how much CPU time reading files may take before the start. */
static const u64 prefetch_ns[] = {
	[PREFETCH_MAPPED] = 500 * (u64)NS_PER_MS,
	[PREFETCH_RUNNING] = 50 * (u64)NS_PER_MS,
};

/* A file that was asked for. */
struct request {
	struct file_wanted wanted;
	int fd;		/* -1: not open yet */
	u64 file_bytes; /* if it is open */
};

struct unwind_tables {
	struct event_sink sink;
	struct table_store *store;
	struct known_files *files;
	struct file_paths paths;
	VEC(struct request) requests;
	size_t open_count;
	int event_fd;
	enum prefetch_rule rule;
	bool is_scanned_running; /* the process that the start-up scan tells of now */
	u64 prefetch_left_ns;	 /* 0: the start is over */
	u32 prefetch_pid;	 /* 0: nobody's */
	u64 now_ns;		 /* as of the last unwind_tables_work() */
	u64 untrimmed_bytes;	 /* of files that were read since memory was given back */
	u64 counters[COUNTER_COUNT];
};

/* --- reading a file --- */

static bool is_vdso(const struct unwind_file_key *key)
{
	return !key->device && key->inode == UNWIND_VDSO_INODE;
}

/* The vDSO is the same for all 64-bit processes; it is a whole ELF file in our memory, with its
 * section headers at the end. */
static struct bytes vdso_image(void)
{
	const Elf64_Ehdr *header = (const void *)getauxval(
		AT_SYSINFO_EHDR); /* NOLINT: an address */

	if (!header)
		return (struct bytes){0};
	return (struct bytes){(const u8 *)header,
			      header->e_shoff + (u64)header->e_shnum * header->e_shentsize};
}

static int make_words(struct bytes image, struct table_words *ret_words)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(rule_set_release) struct rule_set rules;
	int error;

	rule_set_init(&rules);
	error = unwind_table_read(image, &rules, RULES_MAX, &table);
	return error ? error : table_words_make(table, &rules, ret_words);
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
	error = make_words(image, &words);
	if (error)
		return error;
	tables->counters[COUNTER_unwind_dense_page] += words.dense_pages;
	error = table_store_add(tables->store, digest, &words, ret_table);
	/* Also if the kernel has no memory for another segment. */
	return error ? -ENOSPC : 0;
}

static int read_file(struct unwind_tables *tables, const struct request *request,
		     table_id *ret_table)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	struct elf_digest digest = {.low = UNWIND_VDSO_INODE};
	int error;

	if (is_vdso(&request->wanted.file))
		return put_table(tables, vdso_image(), &digest, ret_table);
	error = elf_image_frames(request->fd, &image, &digest);
	return error ? error : put_table(tables, image, &digest, ret_table);
}

/* --- requests --- */

static int open_file(struct unwind_tables *tables, const struct file_wanted *wanted,
		     struct stat *ret_status)
{
	struct mapping mapping = {
		.pid = wanted->pid,
		.start = wanted->start,
		.bytes = wanted->end - wanted->start,
		.major = wanted->file.device >> DEVICE_MINOR_BITS,
		.minor = wanted->file.device & ((1 << DEVICE_MINOR_BITS) - 1),
		.inode = wanted->file.inode,
		.inode_generation = wanted->file.generation,
	};

	mapping.path = file_paths_find(&tables->paths, &mapping);
	return mapped_file_open(-1, &mapping, MATCH_PLACE, ret_status);
}

/* Opens the file, if not too many are open. */
static void try_to_open(struct unwind_tables *tables, struct request *request)
{
	struct stat status = {0};

	if (request->fd >= 0 || tables->open_count >= FILES_OPEN_MAX ||
	    is_vdso(&request->wanted.file))
		return;
	request->fd = open_file(tables, &request->wanted, &status);
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

static void answer(struct unwind_tables *tables, const struct request *request)
{
	struct file_answer answer = {.state = FILE_READY, .now_ns = tables->now_ns};
	int error = read_file(tables, request, &answer.table);

	if (error == -ENOSPC) {
		answer.state = FILE_NO_ROOM;
		tables->counters[COUNTER_unwind_no_room]++;
	} else if (error) {
		answer.state = FILE_NO_TABLE;
		if (error == -ENODATA || error == -ENOTSUP)
			tables->counters[COUNTER_unwind_no_information]++;
		else
			tables->counters[COUNTER_unwind_unreadable]++;
	}
	known_files_answer(tables->files, &request->wanted.file, &answer);
}

static void serve(struct unwind_tables *tables, struct request *request)
{
	const struct unwind_file_key *key = &request->wanted.file;

	if (known_files_row(tables->files, key)->state != FILE_WANTED)
		return; /* asked for while it was prefetched */
	try_to_open(tables, request);
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
static void tell(const struct unwind_tables *tables)
{
	eventfd_t value = 1;

	if (has_requests(tables))
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

static void serve_until(struct unwind_tables *tables, u64 end_ns)
{
	while (has_requests(tables) && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		struct request request = take_smallest(tables);

		serve(tables, &request);
		close_file(tables, &request);
		tables->untrimmed_bytes += request.file_bytes;
	}
}

/* The largest binaries take some ten times what the recording takes else, for a tenth of a second.
 * The C library would keep that for the next time. */
static void give_memory_back(struct unwind_tables *tables)
{
	if (has_requests(tables) || tables->untrimmed_bytes < TRIM_BYTES)
		return;
	tables->untrimmed_bytes = 0;
	malloc_trim(0);
}

static void add_request(struct unwind_tables *tables, const struct request *request)
{
	*vec_add(&tables->requests) = *request;
	tables->open_count += request->fd >= 0;
}

void unwind_tables_want(struct unwind_tables *tables, const struct file_wanted *wanted)
{
	/* Each key is asked for once, so that there can hardly be more than keys. */
	if (tables->requests.count >= 2 * UNWIND_FILES_MAX || wanted->end <= wanted->start)
		return;
	add_request(tables, &(struct request){.wanted = *wanted, .fd = -1});
	try_to_open(tables, &tables->requests.items[tables->requests.count - 1]);
	tell(tables);
}

void unwind_tables_work(struct unwind_tables *tables, u64 now_ns)
{
	tables->now_ns = now_ns;
	known_files_tend(tables->files, now_ns);
	serve_until(tables, clock_ns(CLOCK_MONOTONIC) + work_ns);
	give_memory_back(tables);
	tell(tables);
}

int unwind_tables_fd(const struct unwind_tables *tables)
{
	return tables->event_fd;
}

/* --- before they are asked for --- */

/* Asks for the file of a mapping in the place of the programs. /proc does not tell the generation
 * of an inode, which is part of the key; where the file system does not either, the programs must
 * ask themselves. */
static void prefetch(struct unwind_tables *tables, const struct mapping *mapping)
{
	struct request request = {
		.wanted = {.kind = RECORD_FILE_WANTED,
			   .pid = mapping->pid,
			   .start = mapping->start,
			   .end = mapping->start + mapping->bytes,
			   .file = {.inode = mapping->inode,
				    .device = mapping->major << DEVICE_MINOR_BITS |
					      mapping->minor}},
	};
	struct unwind_file_key *key = &request.wanted.file;
	struct stat status;

	if (tables->open_count >= FILES_OPEN_MAX)
		return;
	request.fd = mapped_file_open(-1, mapping, MATCH_INODE, &status);
	if (request.fd < 0)
		return;
	request.file_bytes = (u64)status.st_size;
	if (mapped_file_generation(request.fd, &key->generation) ||
	    known_files_has(tables->files, key) ||
	    (tables->prefetch_left_ns &&
	     request.file_bytes * READ_NS_PER_BYTE > tables->prefetch_left_ns)) {
		close(request.fd);
		return;
	}
	known_files_row(tables->files, key);
	add_request(tables, &request);
	tell(tables);
}

static bool is_prefetched(const struct unwind_tables *tables, const struct mapping *mapping)
{
	if (mapping->is_data || mapping->space != SPACE_USER || !mapping->inode)
		return false;
	if (!tables->prefetch_left_ns)
		return mapping->pid == tables->prefetch_pid;
	return tables->rule == PREFETCH_MAPPED || tables->is_scanned_running;
}

static int learn_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct unwind_tables *tables = (struct unwind_tables *)self;
	u64 start_ns, spent_ns;

	file_paths_note(&tables->paths, mapping);
	if (!is_prefetched(tables, mapping))
		return 0;
	/* Not the time of day: on a machine that is busy others take most of that. */
	start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	prefetch(tables, mapping);
	if (!tables->prefetch_left_ns)
		return 0; /* it runs: its samples must be drained meanwhile */
	serve_until(tables, ~0ULL);
	spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	tables->prefetch_left_ns -= spent_ns < tables->prefetch_left_ns ? spent_ns
									: tables->prefetch_left_ns;
	return 0;
}

static int learn_process(struct event_sink *self, const struct thread_life *life)
{
	struct unwind_tables *tables = (struct unwind_tables *)self;

	if (life->is_synthesized && life->pid == life->tid)
		tables->is_scanned_running = life->is_running;
	return 0;
}

/* The C library and the dynamic linker that we run with are most likely those of others, and a new
 * process is in them before it is anywhere else. */
static void prefetch_ours(struct unwind_tables *tables)
{
	CLEANUP(freep) char *maps = NULL;
	struct mapping mapping;
	struct bytes text = {0};
	char path[MAPS_PATH_BYTES];
	int found;

	if (file_read("/proc/self/maps", OUR_MAPS_BYTES, &maps, &text.length))
		return;
	text.start = (const u8 *)maps;
	while ((found = proc_maps_next(&text, (u32)getpid(), path, &mapping))) {
		if (found < 0 || !mapping.inode)
			continue;
		if ((u64)&snprintf - mapping.start < mapping.bytes ||
		    mapping.start - mapping.file_offset == getauxval(AT_BASE))
			prefetch(tables, &mapping);
	}
	serve_until(tables, ~0ULL);
}

struct event_sink *unwind_tables_sink(struct unwind_tables *tables, enum prefetch_rule rule)
{
	tables->rule = rule;
	tables->prefetch_left_ns = prefetch_ns[rule];
	prefetch_ours(tables);
	return &tables->sink;
}

void unwind_tables_started(struct unwind_tables *tables, u32 command)
{
	tables->prefetch_left_ns = 0;
	tables->prefetch_pid = command;
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

	tables->sink = (struct event_sink){.on_mapping = learn_mapping, .on_fork = learn_process};
	tables->store = table_store_new(maps);
	tables->files = known_files_new(maps, tables->store);
	tables->now_ns = clock_ns(CLOCK_MONOTONIC);
	tables->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tables->event_fd < 0)
		return fail(-errno, NULL, "cannot wait for requests of the BPF programs");
	add_request(tables, &vdso);
	serve_until(tables, ~0ULL);
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
