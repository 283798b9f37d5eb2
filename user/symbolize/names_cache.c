/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder of a cache of names: who may use it, and its files whole.
 */
#include "symbolize/names_cache_files.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	FILE_MAX_BYTES = 256 << 20,
	PATH_BYTES = BUILD_ID_TEXT_BYTES + 16,
	USED_STEP_S = 3600, /* how exactly it is known when a file was used */
	FILE_BITS = 0640,
	BLOCK_BYTES = 4096,  /* a file takes whole ones */
	TRIM_SHARE = 16,     /* of the limit, written between two looks at all files */
	WHOLE_MAX = 1 << 16, /* build ids that are remembered */
	LOCK_TURN_NS = 1000000,
	LOCK_TURNS = 5000, /* writing takes a few of them */
};

struct names_cache {
	char *directory;
	_Atomic u64 max_bytes;
	atomic_int write_error; /* of the last file */
	bool is_read_only;
	uid_t writer; /* reading: whose names are believed, beside ours and root's */
	bool is_held; /* by somebody who was stopped while he added places */
	struct confined *confined;
	int folder;
	mode_t file_bits, folder_bits;
	u64 written_bytes;   /* since the limit was looked at */
	struct intern whole; /* build ids whose names have been found to be whole */
	VEC(u64) rows;	     /* of those, by id */
	pthread_mutex_t warning;
	struct text warnings;
};

static const char *const suffixes[] = {
	[KEPT_NAMES] = "names", [KEPT_PLACES] = "places", [KEPT_CALLERS] = "callers"};

/* --- opening --- */

/* Others must not be able to tell us names. */
static bool is_trusted(const struct stat *status, const struct names_cache *cache)
{
	bool may_be_read = cache->is_read_only &&
			   (!status->st_uid || status->st_uid == cache->writer);

	return (may_be_read || status->st_uid == geteuid()) && !(status->st_mode & S_IWOTH);
}

static int open_folder(struct names_cache *cache)
{
	int error = cache->is_read_only ? 0 : names_folder_make(cache->directory);
	struct stat status = {0};

	if (error)
		return error;
	cache->folder = open(cache->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cache->folder < 0 || fstat(cache->folder, &status))
		return -errno;
	cache->folder_bits = status.st_mode & 0777;
	cache->file_bits = status.st_mode & FILE_BITS;
	return is_trusted(&status, cache) ? 0 : -EPERM;
}

int names_cache_open(const struct names_cache_settings *settings, struct names_cache **ret_cache)
{
	CLEANUP(names_cache_closep) struct names_cache *cache = must_alloc(sizeof(*cache));
	int error;

	cache->directory = must_copy(settings->directory);
	cache->max_bytes = settings->max_bytes;
	cache->is_read_only = settings->is_read_only;
	cache->writer = settings->store ? names_folder_owner(settings->store) : geteuid();
	cache->confined = settings->confined;
	cache->folder = -1;
	pthread_mutex_init(&cache->warning, NULL);
	error = open_folder(cache);
	if (error)
		return names_folder_refuse(cache->directory, cache->is_read_only, error);
	*ret_cache = TAKE(cache);
	return 0;
}

void names_cache_close(struct names_cache *cache)
{
	if (!cache)
		return;
	if (cache->written_bytes && cache->max_bytes)
		names_cache_trim(cache->folder, cache->max_bytes);
	closep(&cache->folder);
	pthread_mutex_destroy(&cache->warning);
	text_release(&cache->warnings);
	intern_release(&cache->whole);
	vec_release(&cache->rows);
	free(cache->directory);
	free(cache);
}

struct confined *names_cache_confined(const struct names_cache *cache)
{
	return cache->confined;
}

const char *names_cache_warnings(const struct names_cache *cache)
{
	return cache ? text_view(&cache->warnings) : "";
}

int names_cache_write_error(const struct names_cache *cache)
{
	return cache->write_error;
}

void names_cache_limit(struct names_cache *cache, u64 max_bytes)
{
	cache->max_bytes = max_bytes;
}

/* --- one file --- */

/* Writes its path in the folder; false if the build id is too short to be one. */
static bool path_of(enum kept_kind kind, const struct build_id *id, char path[static PATH_BYTES])
{
	char text[BUILD_ID_TEXT_BYTES];

	if (id->length < 2)
		return false;
	build_id_text(id, text);
	snprintf(path, PATH_BYTES, "%.2s/%s.%s", text, text + 2, suffixes[kind]);
	return true;
}

static int open_file(const struct names_cache *cache, const char *path, struct stat *ret_status)
{
	int fd = openat(cache->folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, ret_status) && S_ISREG(ret_status->st_mode) && is_trusted(ret_status, cache))
		return fd;
	close(fd);
	return -EPERM;
}

/* When it was used last is the time of the file. */
static void mark_used(const struct names_cache *cache, int fd, const struct stat *status)
{
	if (!cache->is_read_only && time(NULL) - status->st_mtime > USED_STEP_S)
		(void)futimens(fd, NULL);
}

static int read_all(int fd, const struct stat *status, struct bytes *ret_file)
{
	size_t length = (size_t)status->st_size, done = 0;
	CLEANUP(freep) u8 *bytes = NULL;

	if (status->st_size > FILE_MAX_BYTES)
		return -EFBIG;
	bytes = must_alloc(length);
	while (done < length) {
		ssize_t got = pread(fd, bytes + done, length - done, (off_t)done);

		if (got <= 0)
			return got ? -errno : -EBADMSG;
		done += (size_t)got;
	}
	ret_file->length = length;
	ret_file->start = TAKE(bytes);
	return 0;
}

/* One that is damaged makes room for a new one. Of another version one says nothing. */
static void give_up(struct names_cache *cache, const char *path, int error)
{
	CLEANUP(freep) char *warning = NULL;

	if (!error || error == -ENOENT || error == -ENOTSUP)
		return;
	warning = must_format("the names kept in %s/%s are damaged%s\n", cache->directory, path,
			      cache->is_read_only ? "" : " and will be made again");
	pthread_mutex_lock(&cache->warning);
	if (!strstr(text_view(&cache->warnings), warning))
		text_append(&cache->warnings, warning);
	pthread_mutex_unlock(&cache->warning);
	if (!cache->is_read_only)
		unlinkat(cache->folder, path, 0);
}

/* The whole file. ret_file: its start is the caller's to free. */
static int read_file(struct names_cache *cache, const char *path, struct bytes *ret_file)
{
	CLEANUP(closep) int fd = -1;
	struct stat status = {0};
	int error;

	fd = open_file(cache, path, &status);
	error = fd < 0 ? fd : read_all(fd, &status, ret_file);
	if (!error)
		mark_used(cache, fd, &status);
	return error;
}

static int read_block(struct names_cache *cache, enum kept_kind kind, const struct build_id *id,
		      struct bytes *ret_block)
{
	CLEANUP(freep) u8 *owned = NULL;
	char path[PATH_BYTES];
	struct bytes file = {0};
	int error;

	if (!cache || !path_of(kind, id, path))
		return -ENOENT;
	error = read_file(cache, path, &file);
	if (!error) {
		owned = (u8 *)(uintptr_t)file.start;
		error = kept_file_read(kind, file, ret_block);
	}
	give_up(cache, path, error);
	return error ? -ENOENT : 0;
}

/* As a new file that takes the place of the old one. */
static int replace_file(const struct names_cache *cache, const char *path, struct bytes file)
{
	CLEANUP(freep) char *temporary = must_format("%.2s/.%d-%s", path, (int)getpid(), path + 3);
	CLEANUP(closep) int fd = -1;
	char folder[3] = {path[0], path[1]};
	int error;

	if (mkdirat(cache->folder, folder, cache->folder_bits) && errno != EEXIST)
		return -errno;
	fd = openat(cache->folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		    cache->file_bits);
	if (fd < 0)
		return -errno;
	error = file_write_all(fd, file.start, file.length);
	if (!error && renameat(cache->folder, temporary, cache->folder, path))
		error = -errno;
	if (error)
		unlinkat(cache->folder, temporary, 0);
	return error;
}

static int write_block(struct names_cache *cache, enum kept_kind kind, const struct build_id *id,
		       u64 rows, struct bytes block)
{
	CLEANUP(text_release) struct text file = {0};
	char path[PATH_BYTES];
	int error;

	if (!path_of(kind, id, path))
		return -ENODATA;
	error = kept_file_make(kind, rows, block, &file);
	error = error ? error
		      : replace_file(cache, path, (struct bytes){(u8 *)file.bytes, file.length});
	if (error && !cache->warnings.length)
		text_appendf(&cache->warnings, "cannot keep names in %s: %s\n", cache->directory,
			     strerror(-error));
	cache->write_error = error;
	cache->written_bytes += (file.length | (BLOCK_BYTES - 1)) + 1;
	if (cache->max_bytes && cache->written_bytes > cache->max_bytes / TRIM_SHARE) {
		names_cache_trim(cache->folder, cache->max_bytes);
		cache->written_bytes = 0;
	}
	return error;
}

static struct bytes bytes_of(const struct text *block)
{
	return (struct bytes){(const u8 *)block->bytes, block->length};
}

/* --- names --- */

int names_cache_find(struct names_cache *cache, const struct build_id *id,
		     struct kept_names *ret_names)
{
	CLEANUP(kept_names_release) struct kept_names names = {0};
	CLEANUP(freep) u8 *owned = NULL;
	struct bytes block;
	char path[PATH_BYTES];
	int error = read_block(cache, KEPT_NAMES, id, &block);

	if (error)
		return error;
	owned = (u8 *)(uintptr_t)block.start;
	error = kept_names_take(block, &names);
	if (!error && !build_id_is(&names.id, id->bytes, id->length))
		error = -EBADMSG;
	if (error) {
		path_of(KEPT_NAMES, id, path);
		give_up(cache, path, error);
		return -ENOENT;
	}
	*ret_names = names;
	names = (struct kept_names){0};
	return 0;
}

/* Notes that the names under a build id are whole. Code made at run time has ever new ones. */
static void note_whole(struct names_cache *cache, const struct build_id *id, u64 rows)
{
	u32 row;

	if (cache->rows.count > WHOLE_MAX) {
		intern_release(&cache->whole);
		vec_release(&cache->rows);
	}
	row = intern_bytes(&cache->whole, id->bytes, id->length);
	while (cache->rows.count <= row)
		*vec_add(&cache->rows) = 0;
	cache->rows.items[row] = rows;
}

u64 names_cache_rows(const struct names_cache *cache, const struct build_id *id)
{
	u32 row = intern_find(&cache->whole, id->bytes, id->length);

	return row ? cache->rows.items[row] : 0;
}

/* Whether the file is there still, as used now. */
static bool is_there(const struct names_cache *cache, const char *path)
{
	struct stat status = {0};

	if (fstatat(cache->folder, path, &status, AT_SYMLINK_NOFOLLOW))
		return false;
	if (!cache->is_read_only && time(NULL) - status.st_mtime > USED_STEP_S)
		(void)utimensat(cache->folder, path, NULL, AT_SYMLINK_NOFOLLOW);
	return true;
}

bool names_cache_has(struct names_cache *cache, const struct build_id *id)
{
	CLEANUP(freep) u8 *owned = NULL;
	char path[PATH_BYTES];
	struct bytes file = {0};
	u64 rows;
	int error;

	if (!path_of(KEPT_NAMES, id, path))
		return false;
	if (intern_find(&cache->whole, id->bytes, id->length))
		return is_there(cache, path);
	error = read_file(cache, path, &file);
	if (!error) {
		owned = (u8 *)(uintptr_t)file.start;
		error = kept_file_check(KEPT_NAMES, file, &rows);
	}
	if (!error)
		note_whole(cache, id, rows);
	give_up(cache, path, error);
	return !error;
}

int names_cache_add(struct names_cache *cache, const struct kept_names *names)
{
	CLEANUP(text_release) struct text block = {0};
	u64 rows = kept_names_rows(names);
	int error;

	if (cache->is_read_only)
		return -EROFS;
	if (names_cache_has(cache, &names->id) && rows <= names_cache_rows(cache, &names->id))
		return 0;
	kept_names_put(names, &block);
	error = write_block(cache, KEPT_NAMES, &names->id, rows, bytes_of(&block));
	if (!error)
		note_whole(cache, &names->id, rows);
	return error;
}

/* --- places --- */

void names_cache_places(struct names_cache *cache, const struct build_id *id,
			struct kept_places *places)
{
	CLEANUP(freep) u8 *owned = NULL;
	struct bytes block;
	char path[PATH_BYTES];
	bool is_whole;

	if (!read_block(cache, KEPT_PLACES, id, &block)) {
		owned = (u8 *)(uintptr_t)block.start;
		is_whole = !kept_places_take(block, places) &&
			   build_id_is(&places->id, id->bytes, id->length);
		if (!is_whole) {
			path_of(KEPT_PLACES, id, path);
			give_up(cache, path, -EBADMSG);
			kept_places_release(places);
		}
	}
	places->id = *id;
}

/* Nobody else adds places until it is closed, so that none are lost; -1 if somebody does who does
 * not end: he was stopped, and nobody is waited for again. */
static int lock_folder(struct names_cache *cache)
{
	const struct timespec turn = {.tv_nsec = LOCK_TURN_NS};
	u32 turns = cache->is_held ? 0 : LOCK_TURNS;
	int fd = openat(cache->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			cache->file_bits);

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		if (!turns--) {
			cache->is_held = true;
			close(fd);
			return -1;
		}
		nanosleep(&turn, NULL);
	}
	return fd;
}

static int join_places(struct names_cache *cache, const struct kept_places *places)
{
	CLEANUP(kept_places_release) struct kept_places all = {0};
	CLEANUP(text_release) struct text block = {0};

	names_cache_places(cache, &places->id, &all);
	kept_places_join(&all, places);
	kept_places_put(&all, &block);
	return write_block(cache, KEPT_PLACES, &all.id, all.places.count, bytes_of(&block));
}

int names_cache_add_places(struct names_cache *cache, const struct kept_places *places)
{
	int lock, error = -EBUSY;

	if (cache->is_read_only)
		return -EROFS;
	lock = lock_folder(cache);
	if (lock < 0) {
		cache->write_error = error;
		return error;
	}
	error = join_places(cache, places);
	closep(&lock);
	return error;
}

/* --- callers --- */

int names_cache_find_callers(struct names_cache *cache, const struct build_id *id,
			     struct bytes *ret_block)
{
	return read_block(cache, KEPT_CALLERS, id, ret_block);
}

int names_cache_add_callers(struct names_cache *cache, const struct build_id *id, u64 rows,
			    struct bytes block)
{
	return cache->is_read_only ? -EROFS : write_block(cache, KEPT_CALLERS, id, rows, block);
}
