/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The build ids of mapped files, each file read once.
 */
#include "host/file_ids.h"

#include "base/clock.h"
#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "host/mapped_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
	FILES_MAX = 1 << 16, /* known at once: about 6 MiB */
	LOOK_AGAIN_NS = 1000000000,
	/* After a file was not found: its next process may live long enough. */
	TRY_AGAIN_NS = 20000000,
};

struct known_file {
	u32 major, minor;
	u64 inode, generation;
	u64 looked_ns; /* when we looked last, at least the time of the mapping that made us */
	struct build_id id, before; /* `before`: until `changed_ns` */
	bool is_found;		    /* so is `changed` */
	bool is_in_place;	    /* and it was so by its path */
	u64 changed_ns;		    /* 0: not since it was found; CLOCK_MONOTONIC */
	struct timespec changed;
};

struct file_ids {
	struct idmap by_hash; /* → row of `files` + 1 */
	VEC(struct known_file) files;
	struct file_ids_counts counts;
	struct id_reader reader;
	u64 now_ns; /* file_ids_tell_time() */
	bool was_in_place;
};

int id_reader_ask(const struct id_reader *reader, int fd, struct build_id *ret_id)
{
	return reader->read ? reader->read(reader->context, fd, ret_id)
			    : build_id_of_fd(fd, ret_id);
}

struct file_ids *file_ids_new(struct id_reader reader)
{
	struct file_ids *ids = must_alloc(sizeof(*ids));

	ids->reader = reader;
	return ids;
}

static void forget_all(struct file_ids *ids)
{
	idmap_release(&ids->by_hash);
	vec_release(&ids->files);
}

void file_ids_free(struct file_ids *ids)
{
	if (!ids)
		return;
	forget_all(ids);
	free(ids);
}

struct file_ids_counts file_ids_counts(const struct file_ids *ids)
{
	return ids->counts;
}

static bool is_same(const struct known_file *file, const struct mapping *mapping)
{
	return file->inode == mapping->inode && file->major == mapping->major &&
	       file->minor == mapping->minor && file->generation == mapping->inode_generation;
}

static u64 hash_of(const struct mapping *mapping)
{
	u64 hash = mapping->inode;

	/* Any odd constant without a pattern spreads them. */
	hash = hash * 0x9e3779b97f4a7c15 + ((u64)mapping->major << 32 | mapping->minor);
	return hash * 0x9e3779b97f4a7c15 + mapping->inode_generation;
}

/* The file's row; one that is new has never been looked for. */
static struct known_file *row_of(struct file_ids *ids, const struct mapping *mapping, bool *ret_new)
{
	struct known_file *file;
	u32 *place;

	if (ids->files.count >= FILES_MAX)
		forget_all(ids);
	place = idmap_place(&ids->by_hash, hash_of(mapping));
	if (*place) {
		file = &ids->files.items[*place - 1];
		if (is_same(file, mapping)) {
			*ret_new = false;
			return file;
		}
	} else {
		file = vec_add(&ids->files);
		*place = (u32)ids->files.count;
	}
	*file = (struct known_file){
		.major = mapping->major,
		.minor = mapping->minor,
		.inode = mapping->inode,
		.generation = mapping->inode_generation,
	};
	*ret_new = true;
	return file;
}

static bool is_as_read(const struct known_file *file, const struct stat *status)
{
	return file->is_found && file->changed.tv_sec == status->st_ctim.tv_sec &&
	       file->changed.tv_nsec == status->st_ctim.tv_nsec;
}

/* Whether it is under its path, in our eyes, as it was read: that is what nearly all looks find,
 * and a tenth of the work of opening what a process has mapped. */
static bool is_in_place(const struct known_file *file, const struct mapping *mapping)
{
	struct stat status;

	return file->is_found && mapping->path[0] == '/' && !stat(mapping->path, &status) &&
	       status.st_ino == file->inode && major(status.st_dev) == file->major &&
	       minor(status.st_dev) == file->minor && is_as_read(file, &status);
}

static struct build_id read_id(struct file_ids *ids, int fd)
{
	struct build_id id = {0};
	int error = id_reader_ask(&ids->reader, fd, &id);

	ids->counts.read++;
	ids->counts.died += error == -EOWNERDEAD;
	ids->counts.slow += error == -ETIME;
	if (error)
		id = (struct build_id){0};
	return id;
}

/* CLOCK_MONOTONIC at a time that a file has. */
static u64 monotonic_ns(struct timespec changed)
{
	const u64 ns_per_s = 1000000000;
	u64 changed_ns = (u64)changed.tv_sec * ns_per_s + (u64)changed.tv_nsec;
	u64 ago_ns = clock_ns(CLOCK_REALTIME) - changed_ns, now_ns = clock_ns(CLOCK_MONOTONIC);

	return ago_ns < now_ns ? now_ns - ago_ns : 0;
}

/* Looks for the file. One that cannot be found now stays what it was. */
static void look(struct file_ids *ids, struct known_file *file, int folder,
		 const struct mapping *mapping)
{
	CLEANUP(closep) int fd = -1;
	struct stat status = {0};

	ids->counts.looked++;
	file->looked_ns = mapping->time_ns > ids->now_ns ? mapping->time_ns : ids->now_ns;
	file->is_in_place = is_in_place(file, mapping);
	if (file->is_in_place)
		return;
	fd = mapped_file_open(folder, mapping, MATCH_INODE, &status);
	if (fd < 0 || is_as_read(file, &status))
		return;
	file->before = file->id;
	file->changed_ns = file->is_found ? monotonic_ns(status.st_ctim) : 0;
	file->is_found = true;
	file->changed = status.st_ctim;
	file->id = read_id(ids, fd);
}

static bool is_due(const struct known_file *file, u64 time_ns, bool is_alive)
{
	if (!file->is_found)
		return is_alive || time_ns >= file->looked_ns + TRY_AGAIN_NS;
	return time_ns >= file->looked_ns + LOOK_AGAIN_NS;
}

/* Whether the file was mapped before it was as it is now. */
static bool is_of_before(const struct known_file *file, u64 time_ns)
{
	return time_ns < file->changed_ns && time_ns < file->looked_ns;
}

void file_ids_fill(struct file_ids *ids, int folder, struct mapping *mapping)
{
	const struct build_id *id;
	struct known_file *file;
	bool is_new;

	ids->was_in_place = false;
	if (!mapping->inode || mapping->build_id_bytes)
		return;
	file = row_of(ids, mapping, &is_new);
	if (is_new || is_due(file, mapping->time_ns, folder >= 0))
		look(ids, file, folder, mapping);
	ids->was_in_place = file->is_in_place;
	id = is_of_before(file, mapping->time_ns) ? &file->before : &file->id;
	if (!id->length)
		return;
	memcpy(mapping->build_id, id->bytes, sizeof(mapping->build_id));
	mapping->build_id_bytes = id->length;
}

void file_ids_tell_time(struct file_ids *ids, u64 now_ns)
{
	ids->now_ns = now_ns;
}

bool file_ids_found_in_place(const struct file_ids *ids)
{
	return ids->was_in_place;
}
