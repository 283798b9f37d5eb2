/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole files: mapped, read, written.
 */
#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

int file_map_fd(int fd, struct bytes *ret_bytes)
{
	struct stat status;
	void *start;

	if (fstat(fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (status.st_size == 0) {
		*ret_bytes = (struct bytes){0};
		return 0;
	}
	start = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (start == MAP_FAILED)
		return -errno;
	*ret_bytes = (struct bytes){.start = start, .length = (size_t)status.st_size};
	return 0;
}

void file_unmap(struct bytes *bytes)
{
	if (bytes->length)
		munmap((void *)bytes->start, bytes->length);
	*bytes = (struct bytes){0};
}

void file_forget(struct bytes part)
{
	memory_forget(part.start, part.length); /* nothing was written to it, so nothing is lost */
}

void file_bring(struct bytes part)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)part.start & ~(page - 1);

	/* Kernels before 5.14 do not know it; then pages come when they are looked at. */
	if (part.length)
		madvise((void *)from, (uintptr_t)part.start + part.length - from,
			MADV_POPULATE_READ);
}

/* Reads until the end or until there is more than `limit`; returns the length or a negative
 * errno. */
static ssize_t read_some(int fd, char **text, size_t limit)
{
	size_t length = 0, capacity = 4096;

	*text = must_resize_array(NULL, capacity, 1);
	while (length <= limit) {
		ssize_t got = read(fd, *text + length, capacity - length - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return (ssize_t)length;
		length += (size_t)got;
		if (capacity - length < 2048)
			*text = must_resize_array(*text, capacity *= 2, 1);
	}
	return (ssize_t)length;
}

int file_read_start(const char *path, size_t limit, char **ret_text, size_t *ret_length)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	CLEANUP(freep) char *text = NULL;
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read_some(fd, &text, limit);
	if (length < 0)
		return (int)length;
	if ((size_t)length > limit)
		length = (ssize_t)limit;
	text[length] = 0;
	if (ret_length)
		*ret_length = (size_t)length;
	*ret_text = TAKE(text);
	return 0;
}

int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_length)
{
	CLEANUP(freep) char *text = NULL;
	struct stat status;
	size_t length = 0;
	int error;

	/* What says how long it is need not be read to the limit. */
	if (!stat(path, &status) && status.st_size > 0 && (u64)status.st_size > limit)
		return -EFBIG;
	error = file_read_start(path, limit + 1, &text, &length);
	if (error)
		return error;
	if (length > limit)
		return -EFBIG;
	if (ret_length)
		*ret_length = length;
	*ret_text = TAKE(text);
	return 0;
}

/* offset_bytes  below 0: at the file's position, which moves */
static int write_all(int fd, const char *next, size_t length, off_t offset_bytes)
{
	while (length) {
		ssize_t done = offset_bytes < 0 ? write(fd, next, length)
						: pwrite(fd, next, length, offset_bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		next += done;
		length -= (size_t)done;
		offset_bytes += offset_bytes < 0 ? 0 : done;
	}
	return 0;
}

int file_write_all(int fd, const void *bytes, size_t length)
{
	return write_all(fd, bytes, length, -1);
}

int file_write_all_at(int fd, const void *bytes, size_t length, off_t offset_bytes)
{
	return write_all(fd, bytes, length, offset_bytes);
}
