/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hand-made perf.data of either byte order, for what our writer does not write.
 */
#ifndef TESTS_PERFDATA_FOREIGN_H
#define TESTS_PERFDATA_FOREIGN_H

#include "base/text.h"
#include "perfdata/perfdata.h"
#include "unit/perfdata/collect.h"
#include "unit/unit.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

/* Bytes of a file that grows; `turned`: of a machine of the other byte order. */
struct foreign {
	struct text bytes;
	bool turned;
	size_t record_at; /* of the record that is being written */
};

static inline void put16(struct foreign *foreign, u16 value)
{
	value = foreign->turned ? bswap_16(value) : value;
	text_append_bytes(&foreign->bytes, &value, sizeof(value));
}

static inline void put32(struct foreign *foreign, u32 value)
{
	value = foreign->turned ? bswap_32(value) : value;
	text_append_bytes(&foreign->bytes, &value, sizeof(value));
}

static inline void put64(struct foreign *foreign, u64 value)
{
	value = foreign->turned ? bswap_64(value) : value;
	text_append_bytes(&foreign->bytes, &value, sizeof(value));
}

/* A string with its NUL, filled up to `padded` bytes. */
static inline void put_string(struct foreign *foreign, const char *string, size_t padded)
{
	size_t length = strlen(string);

	text_append_bytes(&foreign->bytes, string, length);
	for (; length < padded; length++)
		text_append_bytes(&foreign->bytes, "", 1);
}

/* The flags of an attribute as a machine of that byte order lays them out: bit fields from the
 * other end, each with its own bits in order. precise_ip is the only one of two bits. */
static inline void put_flags(struct foreign *foreign, u64 flags)
{
	const u64 precise = 3ull << 15;
	u64 value = (flags & precise) >> 15 << 47;

	for (unsigned int bit = 0; bit < 64; bit++)
		if (flags & ~precise & (1ull << bit))
			value |= 1ull << (63 - bit);
	put64(foreign, foreign->turned ? value : flags);
}

/* An attribute of 64 bytes: software event `config`. */
static inline void put_attr(struct foreign *foreign, u64 config, u64 sample_type, u64 flags)
{
	put32(foreign, 1);
	put32(foreign, 64);
	put64(foreign, config);
	put64(foreign, 1000);
	put64(foreign, sample_type);
	put64(foreign, 0);
	put_flags(foreign, flags);
	put64(foreign, 0);
	put64(foreign, 0);
}

/* Overwrites the 8 bytes at `at`. */
static inline void patch64(struct foreign *foreign, size_t at, u64 value)
{
	value = foreign->turned ? bswap_64(value) : value;
	memcpy(foreign->bytes.bytes + at, &value, sizeof(value));
}

enum { AT_RECORDS_SIZE = 48, AT_FEATURES = 72, HEADER_BYTES = 104 };

/* Header and one event with id 7; records follow, then foreign_end(). */
static inline struct foreign foreign_begin(bool turned, u64 sample_type, u64 flags)
{
	struct foreign foreign = {.turned = turned};

	put64(&foreign, 0x32454c4946524550ull);
	put64(&foreign, HEADER_BYTES);
	put64(&foreign, 64 + 16);
	put64(&foreign, HEADER_BYTES + 8); /* attributes, behind one id */
	put64(&foreign, 64 + 16);
	put64(&foreign, HEADER_BYTES + 8 + 64 + 16); /* records */
	for (int i = 0; i < 7; i++)
		put64(&foreign, 0);
	put64(&foreign, 7);
	put_attr(&foreign, 0, sample_type, flags);
	put64(&foreign, HEADER_BYTES);
	put64(&foreign, 8);
	return foreign;
}

static inline void record_begin(struct foreign *foreign, u32 type, u16 misc)
{
	foreign->record_at = foreign->bytes.length;
	put32(foreign, type);
	put16(foreign, misc);
	put16(foreign, 0);
}

static inline void record_end(struct foreign *foreign)
{
	u16 size = (u16)(foreign->bytes.length - foreign->record_at);

	size = foreign->turned ? bswap_16(size) : size;
	memcpy(foreign->bytes.bytes + foreign->record_at + 6, &size, sizeof(size));
}

/* A sample with IP, TID and TIME only. */
static inline void put_short_sample(struct foreign *foreign, u64 time_ns)
{
	record_begin(foreign, 9, 2);
	put64(foreign, 0x1234);
	put32(foreign, 5);
	put32(foreign, 6);
	put64(foreign, time_ns);
	record_end(foreign);
}

/* Ends the records; a host name follows as the only feature. */
static inline void foreign_end(struct foreign *foreign)
{
	size_t records_at = HEADER_BYTES + 8 + 64 + 16;

	patch64(foreign, AT_RECORDS_SIZE, foreign->bytes.length - records_at);
	patch64(foreign, AT_FEATURES, 1 << 3);
	put64(foreign, foreign->bytes.length + 16);
	put64(foreign, 4 + 64);
	put32(foreign, 64);
	put_string(foreign, "elsewhere", 64);
}

static inline struct perfdata *foreign_open(const struct foreign *foreign)
{
	struct perfdata *data;

	assert_int_equal(perfdata_open_bytes((struct bytes){(const u8 *)foreign->bytes.bytes,
							    foreign->bytes.length},
					     &data),
			 0);
	return data;
}

/* Reads the bytes; what came is in `collector`. Returns what perfdata_read() returned. */
static inline int foreign_read(const struct foreign *foreign, struct collector *collector,
			       struct text *warnings)
{
	struct perfdata *data = foreign_open(foreign);
	int error;

	*collector = collector_make();
	error = perfdata_read(data, &collector->sink);
	if (warnings)
		text_append(warnings, perfdata_warnings(data));
	perfdata_close(data);
	return error;
}

#endif
