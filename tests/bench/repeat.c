/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a perf.data of any length out of one: its records, from the first on again and again, each
 * turn as much later as the recording was long.
 *
 * usage: repeat IN OUT SAMPLES
 *
 * IN is a file of perf or of ours in this machine's byte order, not compressed, whose events all
 * have the layout of the first. What the file says of the machine stays.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { IP = 1, TID = 2, TIME = 4, ID = 64, CPU = 128, STREAM_ID = 512, IDENTIFIER = 1 << 16 };
enum { SAMPLE = 9, FIRST_OF_USER = 64, WORD = 8, MOST_BYTES = 1 << 16 };

/* The header of a file, in words. */
enum { ATTRS_AT = 3, RECORDS_AT = 5, RECORDS_BYTES = 6, FEATURES = 9, HEADER_WORDS = 13 };

struct source {
	const char *records;
	uint64_t bytes, sample_type;
	uint64_t first_ns, last_ns;
};

static unsigned int bits(uint64_t sample_type, uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(sample_type & mask);
}

/* Where a record has its time; NULL: nowhere. */
static char *time_of(const struct source *source, char *record, unsigned int type,
		     unsigned int bytes)
{
	if (type == SAMPLE)
		return record + WORD + WORD * bits(source->sample_type, IDENTIFIER | IP | TID);
	if (type >= FIRST_OF_USER)
		return NULL;
	return record + bytes - WORD -
	       WORD * bits(source->sample_type, IDENTIFIER | CPU | STREAM_ID | ID);
}

/* Copies a record, `later_ns` later; returns its bytes. */
static unsigned int copy_record(struct source *source, uint64_t at, uint64_t later_ns, FILE *out,
				uint64_t *samples)
{
	char record[MOST_BYTES], *place;
	uint32_t type;
	uint16_t bytes;
	uint64_t time_ns;

	memcpy(&type, source->records + at, sizeof(type));
	memcpy(&bytes, source->records + at + sizeof(type) + sizeof(bytes), sizeof(bytes));
	if (bytes < WORD || bytes > source->bytes - at)
		exit(1);
	memcpy(record, source->records + at, bytes);
	place = time_of(source, record, type, bytes);
	if (place) {
		memcpy(&time_ns, place, sizeof(time_ns));
		if (time_ns && !source->first_ns)
			source->first_ns = time_ns;
		if (time_ns > source->last_ns && !later_ns)
			source->last_ns = time_ns;
		time_ns += time_ns ? later_ns : 0;
		memcpy(place, &time_ns, sizeof(time_ns));
	}
	*samples += type == SAMPLE;
	fwrite(record, 1, bytes, out);
	return bytes;
}

static uint64_t copy_records(struct source *source, uint64_t wanted, FILE *out)
{
	uint64_t samples = 0, written = 0, later_ns = 0;

	while (samples < wanted) {
		for (uint64_t at = 0; at < source->bytes && samples < wanted;) {
			unsigned int bytes = copy_record(source, at, later_ns, out, &samples);

			at += bytes;
			written += bytes;
		}
		if (!samples)
			exit(1);
		later_ns += source->last_ns - source->first_ns;
	}
	return written;
}

/* Copies what stands behind the records: a table of places in the file, and what is there. */
static void copy_features(const char *in, uint64_t bytes, const uint64_t *header, uint64_t later,
			  FILE *out)
{
	uint64_t at = header[RECORDS_AT] + header[RECORDS_BYTES], count = 0;

	for (unsigned int word = FEATURES; word < HEADER_WORDS; word++)
		count += bits(header[word], ~0ull);
	if (at > bytes || count * 2 * WORD > bytes - at)
		exit(1);
	for (uint64_t i = 0; i < count; i++, at += sizeof(uint64_t[2])) {
		uint64_t place[2];

		memcpy(place, in + at, sizeof(place));
		place[0] += later;
		fwrite(place, sizeof(place), 1, out);
	}
	fwrite(in + at, 1, bytes - at, out);
}

int main(int count, char **arguments)
{
	enum { SAMPLE_TYPE = 3 }; /* word of an attr */
	uint64_t header[HEADER_WORDS], written;
	struct source source = {0};
	struct stat status;
	const char *in;
	FILE *out;
	int fd;

	if (count != 4)
		return 2;
	fd = open(arguments[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		return 1;
	in = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	out = fopen(arguments[2], "w");
	if (in == MAP_FAILED || !out)
		return 1;
	memcpy(header, in, sizeof(header));
	memcpy(&source.sample_type, in + header[ATTRS_AT] + SAMPLE_TYPE * WORD,
	       sizeof(source.sample_type));
	source.records = in + header[RECORDS_AT];
	source.bytes = header[RECORDS_BYTES];
	fwrite(in, 1, header[RECORDS_AT], out);
	written = copy_records(&source, strtoull(arguments[3], NULL, 10), out);
	copy_features(in, (uint64_t)status.st_size, header, written - header[RECORDS_BYTES], out);
	header[RECORDS_BYTES] = written;
	rewind(out);
	fwrite(header, sizeof(header), 1, out);
	return fclose(out) ? 1 : 0;
}
