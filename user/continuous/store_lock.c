/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may write into a store, and of which format it is.
 *
 * The lock is one of the kernel's, on an open file: it goes with the process that holds it, however
 * that ends, and can be looked at without being taken. Who it was stands in the file.
 */
#include "continuous/store_state.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT = 1, TEXT_LIMIT = 4096 };

static const char format_words[] = "bpfprof store ";

/* --- the lock --- */

static struct flock whole_file(void)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static int refuse_second(const struct store *store, const char *path)
{
	CLEANUP(freep) char *holder = NULL;

	if (file_read(path, TEXT_LIMIT, &holder, NULL) || !*holder)
		return fail_plain(-EBUSY, "stop it, or give another --store",
				  "another process writes into %s", store->directory);
	holder[strcspn(holder, "\n")] = 0;
	return fail_plain(-EBUSY, "stop it, or give another --store",
			  "process %s writes into %s already", holder, store->directory);
}

int store_take_lock(struct store *store)
{
	CLEANUP(freep) char *path = must_format("%s/lock", store->directory);
	struct flock lock = whole_file();
	char pid[NUMBER_TEXT_BYTES];

	store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			      store_file_mode(store->directory));
	if (store->lock_fd < 0 && (errno == EISDIR || errno == ELOOP))
		return store_refuse_no_file(path);
	if (store->lock_fd < 0)
		return fail(-errno, store_remedy(-errno), "cannot write %s", path);
	if (fcntl(store->lock_fd, F_OFD_SETLK, &lock)) {
		if (errno == EAGAIN || errno == EACCES)
			return refuse_second(store, path);
		return fail(-errno, NULL, "cannot lock %s", path);
	}
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	/* Without room for it the lock holds all the same. */
	if (ftruncate(store->lock_fd, 0) || file_write_all_at(store->lock_fd, pid, strlen(pid), 0))
		store_note(store, "%s does not name its holder: %s", path, strerror(errno));
	return 0;
}

bool store_is_written(const struct store *store)
{
	CLEANUP(freep) char *path = must_format("%s/lock", store->directory);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct flock lock = whole_file();

	return fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* --- the format --- */

int store_check_format(const struct store *store, bool *ret_is_there)
{
	CLEANUP(freep) char *path = must_format("%s/format", store->directory);
	CLEANUP(freep) char *text = NULL;
	int error = store_refuse_other_than_file(path);
	u32 format = 0;

	if (error)
		return error;
	error = file_read(path, TEXT_LIMIT, &text, NULL);
	*ret_is_there = !error && *text;
	if (error == -ENOENT || (!error && !*text))
		return 0;
	if (error)
		return fail(error, "let this user read it, or give another --store",
			    "cannot read %s", path);
	text[strcspn(text, "\n")] = 0;
	if (strncmp(text, format_words, strlen(format_words)) != 0 ||
	    number_parse_u32(text + strlen(format_words), &format) || !format)
		return fail_plain(-EPROTO, "give another --store",
				  "%s is not the store of a bpfprof daemon: %s says '%.40s'",
				  store->directory, path, text);
	if (format > FORMAT)
		return fail_plain(-EPROTO, "use the version of bpfprof that wrote it",
				  "%s is of format %u, and this version knows up to %d",
				  store->directory, format, FORMAT);
	return 0;
}

int store_write_format(const struct store *store)
{
	CLEANUP(freep) char *path = must_format("%s/format", store->directory);
	CLEANUP(freep) char *made = must_format("%s.new", path);
	CLEANUP(freep) char *text = must_format("%s%d\n", format_words, FORMAT);
	CLEANUP(closep)
	int fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		      store_file_mode(store->directory));
	int error = fd < 0 ? -errno : file_write_all(fd, text, strlen(text));

	if (error == -EISDIR || error == -ELOOP)
		return store_refuse_no_file(made);
	if (!error && (fsync(fd) || rename(made, path)))
		error = -errno;
	if (!error)
		error = store_sync(store->directory);
	return error ? fail(error, store_remedy(error), "cannot write %s", path) : 0;
}
