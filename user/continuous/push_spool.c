/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spool's files. What is in it is known from its names, which are read once.
 */
#include "continuous/push_spool.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"
#include "continuous/folder_owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	BLOCK_BYTES = 4096,	   /* a file takes whole blocks */
	ENTRY_MAX_BYTES = 1 << 30, /* nothing that we wrote is longer */
	NAME_BYTES = 64,
	FOLDER_MODE = 0700,
	FILE_MODE = 0600,
};

static const char magic[] = "bpfprof push 1\n";
static const char unfinished[] = "unfinished";

struct entry {
	u64 start_ns, end_ns;
	u32 part;
	u64 bytes; /* on disk */
};

struct push_spool {
	char *directory;
	u64 max_bytes, bytes;
	VEC(struct entry) entries; /* by time */
};

static u64 blocks_of(u64 bytes)
{
	return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static const char *name_of(const struct entry *entry, char name[static NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%020" PRIu64 "-%020" PRIu64 "-%05" PRIu32 ".push",
		 entry->start_ns, entry->end_ns, entry->part);
	return name;
}

static char *path_of(const struct push_spool *spool, const struct entry *entry)
{
	char name[NAME_BYTES];

	return must_format("%s/%s", spool->directory, name_of(entry, name));
}

static bool is_before(const struct entry *one, const struct entry *other)
{
	if (one->start_ns != other->start_ns)
		return one->start_ns < other->start_ns;
	if (one->end_ns != other->end_ns)
		return one->end_ns < other->end_ns;
	return one->part < other->part;
}

/* Nearly always at the end. One of the same name has written over the other. */
static void insert(struct push_spool *spool, const struct entry *entry)
{
	size_t at = spool->entries.count;
	struct entry *items;

	while (at && is_before(entry, &spool->entries.items[at - 1]))
		at--;
	spool->bytes += entry->bytes;
	if (at && !is_before(&spool->entries.items[at - 1], entry)) {
		spool->bytes -= spool->entries.items[at - 1].bytes;
		spool->entries.items[at - 1] = *entry;
		return;
	}
	vec_add(&spool->entries);
	items = spool->entries.items;
	memmove(&items[at + 1], &items[at], (spool->entries.count - 1 - at) * sizeof(*items));
	items[at] = *entry;
}

/* --- opening --- */

/* A name is one of ours if it is what we would write. */
static bool parse_name(const char *name, struct entry *ret_entry)
{
	char again[NAME_BYTES];

	/* NOLINTNEXTLINE(cert-err34-c): what overflows does not come out again the same */
	if (sscanf(name, "%20" SCNu64 "-%20" SCNu64 "-%5" SCNu32, &ret_entry->start_ns,
		   &ret_entry->end_ns, &ret_entry->part) != 3)
		return false;
	return !strcmp(name_of(ret_entry, again), name);
}

static void take_file(struct push_spool *spool, const char *name)
{
	struct entry entry = {0};
	struct stat status;
	CLEANUP(freep) char *path = must_format("%s/%s", spool->directory, name);

	if (!parse_name(name, &entry) || lstat(path, &status) || !S_ISREG(status.st_mode))
		return;
	entry.bytes = blocks_of((u64)status.st_size);
	insert(spool, &entry);
}

static int read_folder(struct push_spool *spool)
{
	CLEANUP(closedirp) DIR *folder = opendir(spool->directory);
	const struct dirent *row;

	if (!folder)
		return fail(-errno, NULL, "cannot read the spool %s", spool->directory);
	while ((row = readdir(folder)))
		take_file(spool, row->d_name);
	return 0;
}

int push_spool_open(const char *directory, struct push_spool **ret_spool)
{
	struct push_spool *spool;
	int error;

	if (mkdir(directory, FOLDER_MODE) && errno != EEXIST)
		return fail(-errno, "name another folder with --push-spool",
			    "cannot make the spool %s", directory);
	if (access(directory, W_OK | X_OK))
		return fail(-errno, "name another folder with --push-spool",
			    "cannot write to the spool %s", directory);
	error = folder_check_owner(
		directory, "give it to the user who runs the daemon, or give another --push-spool");
	if (error)
		return error;
	spool = must_alloc(sizeof(*spool));
	spool->directory = must_copy(directory);
	spool->max_bytes = UINT64_MAX;
	error = read_folder(spool);
	if (error)
		push_spool_close(spool);
	else
		*ret_spool = spool;
	return error;
}

void push_spool_close(struct push_spool *spool)
{
	if (!spool)
		return;
	vec_release(&spool->entries);
	free(spool->directory);
	free(spool);
}

/* --- the limit --- */

size_t push_spool_count(const struct push_spool *spool)
{
	return spool->entries.count;
}

u64 push_spool_bytes(const struct push_spool *spool)
{
	return spool->bytes;
}

void push_spool_remove_oldest(struct push_spool *spool)
{
	CLEANUP(freep) char *path = NULL;

	if (!spool->entries.count)
		return;
	path = path_of(spool, &spool->entries.items[0]);
	unlink(path);
	spool->bytes -= spool->entries.items[0].bytes;
	memmove(spool->entries.items, spool->entries.items + 1,
		--spool->entries.count * sizeof(*spool->entries.items));
}

u64 push_spool_limit(struct push_spool *spool, u64 max_bytes)
{
	u64 removed = 0;

	for (spool->max_bytes = max_bytes; spool->bytes > max_bytes; removed++)
		push_spool_remove_oldest(spool);
	return removed;
}

/* --- one profile --- */

static int write_file(const struct push_spool *spool, const struct entry *entry,
		      const struct push_profile *profile, const struct text *head)
{
	CLEANUP(freep) char *path = path_of(spool, entry);
	CLEANUP(freep) char *first = must_format("%s/%s", spool->directory, unfinished);
	CLEANUP(closep)
	int fd = open(first, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	int error = fd < 0 ? -errno : file_write_all(fd, text_view(head), head->length);

	if (!error)
		error = file_write_all(fd, profile->body.start, profile->body.length);
	if (!error && rename(first, path))
		error = -errno;
	if (!error)
		return 0;
	unlink(first);
	return fail(error, NULL, "cannot write to the spool %s", spool->directory);
}

int push_spool_add(struct push_spool *spool, const struct push_profile *profile, u64 *ret_removed)
{
	CLEANUP(text_release) struct text head = {0};
	struct entry entry = {profile->start_ns, profile->end_ns, profile->part, 0};
	int error;

	text_appendf(&head, "%s%s\n%zu\n", magic, profile->name, profile->body.length);
	entry.bytes = blocks_of(head.length + profile->body.length);
	*ret_removed = 0;
	if (entry.bytes > spool->max_bytes) {
		*ret_removed = 1;
		return 0;
	}
	for (; spool->bytes + entry.bytes > spool->max_bytes; ++*ret_removed)
		push_spool_remove_oldest(spool);
	error = write_file(spool, &entry, profile, &head);
	if (!error)
		insert(spool, &entry);
	return error;
}

/* The text up to the end of the line, which becomes a NUL; NULL: there is none. */
static char *next_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = 0;
	*at = end + 1;
	return line;
}

static int decode(char *bytes, size_t length, struct push_profile *profile)
{
	char *at = bytes, *count;
	u64 body_bytes;

	if (strncmp(bytes, magic, strlen(magic)) != 0)
		return -EBADMSG;
	at += strlen(magic);
	profile->name = next_line(&at);
	count = profile->name ? next_line(&at) : NULL;
	if (!count || number_parse_u64(count, &body_bytes) ||
	    body_bytes != length - (size_t)(at - bytes))
		return -EBADMSG;
	profile->body = (struct bytes){(const u8 *)at, body_bytes};
	return 0;
}

int push_spool_oldest(struct push_spool *spool, struct text *storage,
		      struct push_profile *ret_profile)
{
	CLEANUP(freep) char *path = NULL;
	const struct entry *entry = spool->entries.items;
	char *bytes;
	size_t length;

	if (!spool->entries.count)
		return -ENOENT;
	path = path_of(spool, entry);
	if (file_read(path, ENTRY_MAX_BYTES, &bytes, &length))
		return -EBADMSG;
	text_release(storage);
	*storage = (struct text){bytes, length, length + 1};
	*ret_profile = (struct push_profile){
		.start_ns = entry->start_ns,
		.end_ns = entry->end_ns,
		.part = entry->part,
	};
	return decode(bytes, length, ret_profile);
}
