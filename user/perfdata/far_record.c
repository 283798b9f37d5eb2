/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single records of a large file, which are read and not mapped.
 */
#include "perfdata/delivery.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	FAR_BYTES = 1 << 14,  /* from one to the next: less is in the pages around that one */
	MOST_BYTES = 1 << 16, /* of a record there is no more */
	MOSTLY_BYTES = 1 << 10,
};

static bool is_far(const struct delivery *delivery, const u8 *record)
{
	const struct input *input = &delivery->data->input;
	size_t distance = (size_t)(record < delivery->last ? delivery->last - record
							   : record - delivery->last);

	return distance > FAR_BYTES && input->is_mapped && input->fd >= 0 &&
	       record >= input->bytes.start && record < input->bytes.start + input->bytes.length;
}

/* Reads a record, of which the size is not known yet. Returns false if not all of it came. */
static bool read_record(const struct delivery *delivery, off_t offset_bytes)
{
	u8 *bytes = delivery->far_record;
	int fd = delivery->data->input.fd;
	ssize_t got = pread(fd, bytes, MOSTLY_BYTES, offset_bytes);
	size_t wanted;

	if (got < (ssize_t)sizeof(struct record_header))
		return false;
	wanted = decode_header(delivery->decoder, bytes).size_bytes;
	if ((size_t)got < wanted)
		got = pread(fd, bytes, wanted, offset_bytes);
	return got >= (ssize_t)wanted;
}

const u8 *delivery_near_record(struct delivery *delivery, const u8 *record)
{
	bool stands_alone = is_far(delivery, record);

	delivery->last = record;
	if (!stands_alone)
		return record;
	if (!delivery->far_record)
		delivery->far_record = must_alloc(MOST_BYTES);
	return read_record(delivery, record - delivery->data->input.bytes.start)
		       ? delivery->far_record
		       : record;
}
