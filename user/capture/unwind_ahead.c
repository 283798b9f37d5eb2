/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks for tables before the BPF programs do: of what runs already, of the command, and of code
 * that only a walk on our side has met.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "capture/confined_files.h"
#include "capture/file_key.h"
#include "capture/unwind_tables_state.h"
#include "host/host.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>

enum {
	NS_PER_MS = 1000000,
	/* About: it is 0.5 for libc, 0.8 for libLLVM and 1.6 for libclang-cpp. */
	READ_NS_PER_BYTE = 1,
	OUR_MAPS_BYTES = 1 << 20,
};

/* By rule: how much CPU time reading files may take before the start. */
static const u64 prefetch_ns[] = {
	[PREFETCH_MAPPED] = 500 * (u64)NS_PER_MS,
	[PREFETCH_RUNNING] = 50 * (u64)NS_PER_MS,
};

/* The request for the file of a mapping that the programs would make. /proc does not tell the
 * generation of an inode, which is part of the key; a build id in place of an inode nothing at all.
 */
static struct request request_for(const struct mapping *mapping)
{
	return (struct request){
		.wanted = {.kind = RECORD_FILE_WANTED,
			   .pid = mapping->pid,
			   .start = mapping->start,
			   .end = mapping->start + mapping->bytes,
			   .file = file_key_of(mapping)},
		.fd = -1,
	};
}

/* Asks for the file of a mapping in the place of the programs. Where the file system does not tell
 * the generation, they must ask themselves. */
static void prefetch(struct unwind_tables *tables, const struct mapping *mapping)
{
	struct request request = request_for(mapping);
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
	unwind_tables_add_request(tables, &request);
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
	unwind_tables_serve_until(tables, ~0ULL);
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
	unwind_tables_serve_until(tables, ~0ULL);
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

struct event_sink unwind_tables_learner(void)
{
	return (struct event_sink){.on_mapping = learn_mapping, .on_fork = learn_process};
}

/* --- for walks on our side --- */

static bool has_build_id(const struct unwind_tables *tables, int fd, const struct mapping *mapping)
{
	struct id_reader reader = confined_files_ids(tables->reader);
	struct build_id id;

	return !id_reader_ask(&reader, fd, &id) &&
	       build_id_is(&id, mapping->build_id, mapping->build_id_bytes);
}

/* Opens the file of a mapping that may be told by its build id only; see mapped_file_open(). */
static int open_identified(const struct unwind_tables *tables, const struct mapping *mapping,
			   struct stat *ret_status)
{
	int fd = mapped_file_open(-1, mapping, MATCH_PLACE, ret_status);

	if (mapping->inode)
		return fd;
	if (fd < 0 && mapping->path[0] == '/' &&
	    !open_below("", mapping->path, LINKS_FOLLOWED, &fd) && fstat(fd, ret_status))
		ret_status->st_size = 0;
	if (fd < 0 || has_build_id(tables, fd, mapping))
		return fd;
	close(fd);
	return -ESTALE;
}

int unwind_tables_identify(struct unwind_tables *tables, const struct mapping *mapping,
			   struct unwind_file_key *ret_key)
{
	struct request request = request_for(mapping);
	struct unwind_file_key *key = &request.wanted.file;
	struct stat status = {0};

	if (!mapping->inode || !known_files_has(tables->files, key)) {
		if (tables->open_count >= FILES_OPEN_MAX)
			return -EAGAIN;
		request.fd = open_identified(tables, mapping, &status);
		if (request.fd < 0)
			return request.fd;
		if (!mapping->inode) {
			key->inode = status.st_ino;
			key->device = file_key_device(major(status.st_dev), minor(status.st_dev));
		}
		mapped_file_generation(request.fd, &key->generation);
	}
	*ret_key = *key;
	if (known_files_has(tables->files, key)) {
		closep(&request.fd);
		return 0;
	}
	request.is_met = true;
	request.file_bytes = (u64)status.st_size;
	known_files_row(tables->files, key);
	unwind_tables_add_request(tables, &request);
	return 0;
}
