/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory as long as the file, which is filled block by block.
 */
#include "binary/file_pieces.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* <linux/mman.h>, Linux 5.14 */
#endif

enum {
	BLOCK_BYTES = 16 << 10,
	SMALL_BYTES = 256 << 10, /* of files that are copied whole */
	FILES_OPEN_MAX = 256,	 /* the lowest number is taken for the next: so many are open */
};

static const u64 length_max = 16ULL << 30;

struct file_pieces {
	int fd; /* -1: all is there */
	struct bytes bytes;
	bool is_borrowed;
	u8 *copied; /* by block */
};

/* What cannot be read stays as it is. Returns how much was. */
static size_t read_at(int fd, u64 offset, u8 *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = pread(fd, to + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static u8 *writable(const struct file_pieces *pieces)
{
	return (u8 *)(uintptr_t)pieces->bytes.start;
}

int file_pieces_new(int fd, struct file_pieces **ret_pieces)
{
	struct file_pieces *pieces;
	struct stat status;
	u64 length;
	void *start;

	if (fstat(fd, &status))
		return -errno;
	length = (u64)status.st_size;
	if (!S_ISREG(status.st_mode) || !length)
		return -EBADMSG;
	if (length > length_max)
		return -EFBIG;
	/* Pages that are never written take no memory. */
	start = mmap(NULL, length, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return -errno;
	pieces = must_alloc(sizeof(*pieces));
	*pieces = (struct file_pieces){.fd = fd, .bytes = {start, length}};
	if (length <= SMALL_BYTES || fd >= FILES_OPEN_MAX) {
		read_at(fd, 0, start, length);
		close(fd);
		pieces->fd = -1;
	} else {
		pieces->copied = must_alloc(length / BLOCK_BYTES + 1);
	}
	*ret_pieces = pieces;
	return 0;
}

struct file_pieces *file_pieces_of(struct bytes bytes)
{
	struct file_pieces *pieces = must_alloc(sizeof(*pieces));

	*pieces = (struct file_pieces){.fd = -1, .bytes = bytes, .is_borrowed = true};
	return pieces;
}

void file_pieces_free(struct file_pieces *pieces)
{
	if (!pieces)
		return;
	if (!pieces->is_borrowed)
		file_unmap(&pieces->bytes);
	closep(&pieces->fd);
	free(pieces->copied);
	free(pieces);
}

static void copy_block(struct file_pieces *pieces, u64 block)
{
	u64 offset = block * BLOCK_BYTES, left = pieces->bytes.length - offset;
	size_t bytes = left < BLOCK_BYTES ? left : BLOCK_BYTES;

	if (pieces->copied[block])
		return;
	pieces->copied[block] = true;
	/* One call in place of a fault for each page; before Linux 5.14 it fails. */
	madvise(writable(pieces) + offset, bytes, MADV_POPULATE_WRITE);
	read_at(pieces->fd, offset, writable(pieces) + offset, bytes);
}

struct bytes file_pieces_at(struct file_pieces *pieces, u64 offset, u64 bytes)
{
	u64 length = pieces->bytes.length;

	if (offset >= length || !bytes)
		return (struct bytes){0};
	if (bytes > length - offset)
		bytes = length - offset;
	if (pieces->fd >= 0)
		for (u64 block = offset / BLOCK_BYTES; block <= (offset + bytes - 1) / BLOCK_BYTES;
		     block++)
			copy_block(pieces, block);
	return (struct bytes){pieces->bytes.start + offset, bytes};
}

struct bytes file_pieces_all(const struct file_pieces *pieces)
{
	return pieces->bytes;
}

void file_pieces_copy(const struct file_pieces *pieces, u64 offset, void *to, size_t bytes)
{
	u64 length = pieces->bytes.length;
	u64 left = offset < length ? length - offset : 0;
	size_t done = left < bytes ? left : bytes;

	if (pieces->fd >= 0)
		done = read_at(pieces->fd, offset, to, done);
	else if (done)
		memcpy(to, pieces->bytes.start + offset, done);
	memset((u8 *)to + done, 0, bytes - done);
}
