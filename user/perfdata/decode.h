/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One record of perf.data as an event. Pure: bytes in, events out.
 */
#ifndef PERFDATA_DECODE_H
#define PERFDATA_DECODE_H

#include "base/cursor.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "event/event.h"
#include "perfdata/deferred.h"
#include "perfdata/details.h"
#include "perfdata/format.h"

struct decoder;
struct event_kind;

/* Reads one member of a sample's body. */
typedef void sample_step(struct decoder *decoder, const struct event_kind *kind,
			 struct cursor *cursor, struct sample *sample);

enum { SAMPLE_STEPS_MAX = 25 };

/* An event as the file describes it, and what follows for the layout of its records. */
struct event_kind {
	struct wire_attr attr;
	char *name; /* owned */
	VEC(u64) ids;
	sample_step *steps[SAMPLE_STEPS_MAX]; /* members of a sample, in order; NULL ends */
	/* In bytes from the start of a sample; 0: not recorded. */
	u16 sample_thread_at, sample_time_at, sample_id_at;
	bool has_call_stack; /* of the LBR */
	u16 chain_at; /* only where nothing but the chain, or an LBR call stack right behind it,
		       * decides over the frames */
	/* Of all other records: bytes of the trailer, and where in it, counted from the record's
	 * end; 0: not recorded. */
	u16 trailer_bytes, trailer_time_back, trailer_id_back;
};

/* A counter's value inside a sample (PERF_SAMPLE_READ). */
struct counter_value {
	u64 value, id, lost;
};

typedef VEC(u64) register_words;

struct decoder {
	VEC(struct event_kind) kinds;
	struct idmap kind_of_id; /* row + 1 */
	bool swap;		 /* other endianness */
	bool is_ours;		 /* misc bits of samples hold the stack's provenance */
	bool skips_chains;	 /* knows_chain() is asked of samples without a key, too */
	bool defers_stacks;	 /* samples may have cookies in place of user stacks */
	bool lost_is_counted;	 /* LOST_SAMPLES at the end tell all: LOST would count twice */
	struct intern build_id_paths;
	VEC(struct build_id) build_ids; /* named beside the records; row: interned path - 1 */
	VEC(struct frame) frames;
	VEC(struct branch) branches;
	register_words registers; /* turned to our byte order */
	register_words interrupt_registers;
	VEC(struct counter_value) counters; /* of the last sample */
	u64 time_enabled, time_running;	    /* of the counters, as far as they were recorded */
	u64 sample_id;			    /* of the last sample; 0: not recorded */
	struct sample_details details;	    /* of the last sample, as far as it has them */
	/* Of the next sample, set by the caller: its chain_key, and who may know its frames. */
	u64 chain_key;
	struct event_sink *reader;		/* or NULL */
	const struct deferred_stacks *deferred; /* borrowed, or NULL */
};

/* Adds an event; `ids` may be none. Ids that are known already stay with their first event. */
void decoder_add_kind(struct decoder *decoder, const struct wire_attr *attr, const u64 *ids,
		      size_t id_count);
/* Remembers the build id of a path for mappings that have none; at most BUILD_ID_MAX_BYTES. */
void decoder_add_build_id(struct decoder *decoder, const char *path, const u8 *id, size_t bytes);
/* Frees the contents. */
void decoder_release(struct decoder *decoder);
/* Frees only what it fills for the last sample: all else is another decoder's. */
void decoder_release_sample(struct decoder *decoder);

/* The header of the record that begins at `at`, turned to our byte order; there must be 8 bytes. */
struct record_header decode_header(const struct decoder *decoder, const u8 *at);

/* The word at `at`, turned to our byte order. */
static inline u64 decode_word(const struct decoder *decoder, const u8 *at)
{
	u64 value;

	memcpy(&value, at, sizeof(value));
	return decoder->swap ? bswap_64(value) : value;
}

/* The same of half a word. */
static inline u32 decode_half(const struct decoder *decoder, const u8 *at)
{
	u32 value;

	memcpy(&value, at, sizeof(value));
	return decoder->swap ? bswap_32(value) : value;
}

/* The time of a whole record, 0 if it has none. Pure and quick: for sorting. */
u64 decode_time(const struct decoder *decoder, struct record_header header, const u8 *at);

/* The event that a SAMPLE record is of, NULL if the file describes none. */
const struct event_kind *decode_kind(const struct decoder *decoder, struct bytes record);

/* The call chain of a whole SAMPLE record, with its LBR call stack if there is one, if equal bytes
 * mean equal frames; no start: it has none, or there is more to it. Pure and quick. */
struct bytes decode_chain(const struct decoder *decoder, struct record_header header, const u8 *at);

/*
 * A SAMPLE record.
 *
 * ret_sample  frames, branches and, turned to our byte order, registers live in the decoder until
 *             the next call, the copied stack as long as the record
 * Returns 0, -EBADMSG (shorter than its event demands) or -ENOENT (of an event the file does not
 * describe).
 */
int decode_sample(struct decoder *decoder, struct bytes record, struct sample *ret_sample);

/*
 * Any other record, handed to the member of `sink` that it is for; kinds that are no event of ours
 * are passed over.
 * Returns 0, what the sink returned, or -EILSEQ without a sentence: malformed, nothing was handed
 * over.
 */
int decode_record(struct decoder *decoder, struct bytes record, struct event_sink *sink);

/* The row of the event whose layout a record's trailer has; there must be an event. */
u32 decode_source(const struct decoder *decoder, struct record_header header, const u8 *at);

/* Whether records of this type are events of ours. */
bool decode_knows(u32 type);

#endif
