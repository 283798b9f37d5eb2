/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Buffered records on their way to the disk: packed if asked for, as many as there is room for.
 */
#include "perfdata/outlet.h"

#include "base/fail.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
	BLOCK_BYTES = 60 << 10, /* of records in one compressed block, which goes into one record */
};
static_assert(COMPRESSED_MAX_BYTES(BLOCK_BYTES) + sizeof(struct record_header) <= RECORD_MAX_BYTES,
	      "a block that cannot be packed must fit, too");

/* Takes the first bytes out of a buffer. */
static void drop_front(struct record_buffer *buffer, size_t length)
{
	memmove(buffer->bytes, buffer->bytes + length, buffer->used - length);
	buffer->used -= length;
}

/* Packs the first `length` bytes of the buffered records. */
static int pack(struct outlet *outlet, size_t length)
{
	struct record_buffer *out = &outlet->compressed;
	size_t done = 0;

	while (done < length) {
		size_t left = length - done, packed;
		struct bytes block = {outlet->buffer.bytes + done,
				      left < BLOCK_BYTES ? left : BLOCK_BYTES};
		struct record_header header = {.type = RECORD_COMPRESSED};
		u8 *at;

		record_buffer_reserve(out);
		at = out->bytes + out->used;
		if (compressor_block(outlet->compressor, block, at + sizeof(header),
				     RECORD_MAX_BYTES - sizeof(header), &packed))
			return fail_plain(-EIO, "record without -z", "compression failed");
		header.size_bytes = (u16)(sizeof(header) + packed);
		memcpy(at, &header, sizeof(header));
		out->used += header.size_bytes;
		done += block.length;
	}
	outlet->plain_bytes += length;
	outlet->packed_bytes += out->used;
	drop_front(&outlet->buffer, length);
	return 0;
}

static int write_out(struct outlet *outlet, struct record_buffer *buffer, size_t length)
{
	int error;

	if (!length)
		return 0;
	error = output_append(&outlet->output, buffer->bytes, length);
	outlet->is_stuck = error;
	if (!error)
		drop_front(buffer, length);
	return error;
}

/* Sends the first `length` bytes of the buffered records on their way: behind the table, where no
 * reader sees them yet. */
static int send_records(struct outlet *outlet, size_t length)
{
	int error;

	if (!outlet->compressor)
		return write_out(outlet, &outlet->buffer, length);
	/* what is packed is part of one stream: it has to get out before more is packed */
	error = write_out(outlet, &outlet->compressed, outlet->compressed.used);
	if (!error)
		error = pack(outlet, length);
	if (!error)
		error = write_out(outlet, &outlet->compressed, outlet->compressed.used);
	return error;
}

/* The length of the whole records in the first `limit` bytes. */
static size_t whole_records(const struct record_buffer *buffer, size_t limit)
{
	struct record_header header;
	size_t length = 0;

	while (length + sizeof(header) <= limit) {
		memcpy(&header, buffer->bytes + length, sizeof(header));
		if (length + header.size_bytes > limit)
			break;
		length += header.size_bytes;
	}
	return length;
}

int outlet_spill(struct outlet *outlet)
{
	size_t room = output_room(&outlet->output, outlet->buffer.used);
	int error;

	if (room >= outlet->buffer.used)
		return send_records(outlet, outlet->buffer.used);
	error = send_records(outlet, whole_records(&outlet->buffer, room));
	outlet->is_stuck = true;
	return error ? error
		     : fail(-ENOSPC, "free some space", "cannot write %s", outlet->output.path);
}

int outlet_send_all(struct outlet *outlet)
{
	return send_records(outlet, outlet->buffer.used);
}

int outlet_release(struct outlet *outlet)
{
	int error = output_close(&outlet->output);

	record_buffer_release(&outlet->buffer);
	record_buffer_release(&outlet->compressed);
	compressor_free(outlet->compressor);
	return error;
}
