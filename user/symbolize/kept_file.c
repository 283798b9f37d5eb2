/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Header, checksum, packed block.
 */
#include "symbolize/kept_file.h"

#include "base/compress.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

enum {
	VERSION = 2, /* of what is in the blocks, too */
	LEVEL = 3,   /* a fifth smaller than 1 in twice its time; above, only time grows */
	BLOCK_MAX_BYTES = 256 << 20,
	NUMBER_BITS = 7,
	NUMBER_MORE = 1 << NUMBER_BITS,
};

/* In the byte order of the machine: one of the other order has another magic. */
struct header {
	u64 magic;
	u32 version, kind;
	u64 rows, block_bytes, packed_bytes;
	u64 checksum; /* of the header with zero here, and of the packed bytes */
};
_Static_assert(sizeof(struct header) == KEPT_HEADER_BYTES, "the header has holes");

static const u64 magic = 0x73656d616e667062; /* "bpfnames" */

static u64 checksum_of(const struct header *header, struct bytes packed)
{
	struct header summed = *header;

	summed.checksum = 0;
	return XXH3_64bits_withSeed(packed.start, packed.length,
				    XXH3_64bits(&summed, sizeof(summed)));
}

int kept_file_make(enum kept_kind kind, u64 rows, struct bytes block, struct text *ret_file)
{
	struct header header = {.magic = magic,
				.version = VERSION,
				.kind = kind,
				.rows = rows,
				.block_bytes = block.length};
	struct bytes packed;
	int error = block.length > BLOCK_MAX_BYTES ? -EIO : block_pack(LEVEL, block, &packed);

	if (error)
		return error;
	header.packed_bytes = packed.length;
	header.checksum = checksum_of(&header, packed);
	text_append_bytes(ret_file, &header, sizeof(header));
	text_append_bytes(ret_file, packed.start, packed.length);
	free((void *)(uintptr_t)packed.start);
	return 0;
}

/* Reads the header, and checks it and what follows. */
static int read_header(enum kept_kind kind, struct bytes file, struct header *ret_header)
{
	struct header *header = ret_header;
	struct bytes packed = {file.start + sizeof(*header), file.length - sizeof(*header)};

	if (file.length < sizeof(*header))
		return -EBADMSG;
	memcpy(header, file.start, sizeof(*header));
	if (header->magic != magic)
		return -EBADMSG;
	if (header->version != VERSION)
		return -ENOTSUP;
	if (header->kind != (u32)kind || header->packed_bytes != packed.length ||
	    header->block_bytes > BLOCK_MAX_BYTES ||
	    header->checksum != checksum_of(header, packed))
		return -EBADMSG;
	return 0;
}

int kept_file_check(enum kept_kind kind, struct bytes file, u64 *ret_rows)
{
	struct header header;
	int error = read_header(kind, file, &header);

	if (!error)
		*ret_rows = header.rows;
	return error;
}

int kept_file_read(enum kept_kind kind, struct bytes file, struct bytes *ret_block)
{
	struct header header;
	int error = read_header(kind, file, &header);

	return error ? error
		     : block_unpack(
			       (struct bytes){file.start + sizeof(header), header.packed_bytes},
			       header.block_bytes, ret_block);
}

void kept_put(struct text *block, u64 value)
{
	u8 bytes[10];
	size_t count = 0;

	while (value >= NUMBER_MORE) {
		bytes[count++] = (u8)(value | NUMBER_MORE);
		value >>= NUMBER_BITS;
	}
	bytes[count++] = (u8)value;
	text_append_bytes(block, bytes, count);
}

void kept_put_text(struct text *block, const char *text)
{
	text_append_bytes(block, text, strlen(text) + 1);
}

u64 kept_take(struct cursor *cursor)
{
	u64 value = 0;

	for (unsigned int shift = 0; shift < 64; shift += NUMBER_BITS) {
		u8 byte = cursor_u8(cursor);

		value |= (u64)(byte % NUMBER_MORE) << shift;
		if (byte < NUMBER_MORE)
			return value;
	}
	cursor->overrun = true;
	return 0;
}

u64 kept_take_count(struct cursor *cursor, u64 row_bytes)
{
	u64 count = kept_take(cursor);

	if (count <= cursor_left(cursor) / row_bytes)
		return count;
	cursor->overrun = true;
	return 0;
}

const char *kept_take_text(struct cursor *cursor)
{
	size_t left = cursor_left(cursor);
	const u8 *end = left && !cursor->overrun ? memchr(cursor->next, 0, left) : NULL;

	if (!end) {
		cursor->overrun = true;
		return "";
	}
	return (const char *)cursor_take(cursor, (u64)(end - cursor->next) + 1);
}
