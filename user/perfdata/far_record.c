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
	LEAST_BYTES = 1 << 10,
};

static bool is_far(const struct delivery *delivery, const u8 *record)
{
	size_t distance = (size_t)(record < delivery->last ? delivery->last - record
							   : record - delivery->last);

	return distance > FAR_BYTES;
}

static bool may_be_read(const struct delivery *delivery, const u8 *record)
{
	const struct input *input = &delivery->data->input;

	return input->is_mapped && input->fd >= 0 && record >= input->bytes.start &&
	       record < input->bytes.start + input->bytes.length;
}

/* The record where it was read to; NULL if not all of it is there. */
static const u8 *find_read(const struct delivery *delivery, const u8 *record)
{
	const struct far_records *far = &delivery->far;
	size_t at = (size_t)(record - far->from), there;

	if (record < far->from || at >= far->length)
		return NULL;
	there = far->length - at;
	if (there < sizeof(struct record_header) ||
	    there < decode_header(delivery->decoder, far->bytes + at).size_bytes)
		return NULL;
	return far->bytes + at;
}

static const u8 *read_from(struct delivery *delivery, const u8 *record, size_t bytes)
{
	const struct input *input = &delivery->data->input;
	struct far_records *far = &delivery->far;
	ssize_t got = pread(input->fd, far->bytes, bytes, record - input->bytes.start);

	far->from = record;
	far->length = got > 0 ? (size_t)got : 0;
	return find_read(delivery, record);
}

/* Of a sample that stands alone no more is read than it has, as far as the next event tells: what
 * else there are, stand together. */
static size_t least_bytes(const struct timed *event, const u8 *end)
{
	size_t bytes = (size_t)(end - delivery_record(event));

	return event->extra > EXTRA_NO_SAMPLE && bytes - 1 < LEAST_BYTES ? bytes : LEAST_BYTES;
}

const u8 *delivery_near_record(struct delivery *delivery, const struct timed *event, const u8 *next)
{
	struct far_records *far = &delivery->far;
	const u8 *found, *record = delivery_record(event);

	if (!may_be_read(delivery, record))
		return record;
	if (is_far(delivery, record))
		far->wanted = least_bytes(event, next);
	delivery->last = record;
	found = find_read(delivery, record);
	if (found || far->wanted > FAR_BYTES)
		return found ? found : record;
	if (!far->bytes)
		far->bytes = must_alloc(MOST_BYTES);
	found = read_from(delivery, record, far->wanted);
	far->wanted *= 2;
	if (!found) /* it is larger than that */
		found = read_from(delivery, record, MOST_BYTES);
	return found ? found : record;
}
