/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An open recording as the parts of the reader share it. Private to the folder.
 */
#ifndef PERFDATA_SESSION_H
#define PERFDATA_SESSION_H

#include "base/compress.h"
#include "base/intern.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/vec.h"
#include "event/event.h"
#include "perfdata/bystanders.h"
#include "perfdata/decode.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/records.h"
#include "perfdata/window.h"

#include <stdatomic.h>

/* Bytes of a file, and how to give them back. */
struct input {
	struct bytes bytes;
	int fd; /* of what is mapped, -1: it is not kept open */
	bool is_mapped, is_heap;
};

/* A record in the list that perfdata_listen() needs. */
struct listed_record {
	const u8 *at;
	u64 offset, round; /* round: how many FINISHED_ROUND stand in front of it */
	u64 sequence;
	u32 type;
	bool has_events; /* some event was described in front of it */
};

/* What an event of the index has in `extra`, if it is not the sample's chain_key: that is greater.
 */
enum { EXTRA_NO_CHAIN, EXTRA_NO_SAMPLE };

/* What is wrong with the file; the first thing counts. */
struct damage {
	char *what; /* owned; NULL: nothing */
};

struct perfdata {
	char *path; /* for sentences; owned */
	struct input input;
	VEC(struct input) more_inputs; /* of a recording that is a directory: data.0 … */
	struct file_header file_header;
	struct bytes records; /* the record stream */
	struct decoder decoder;
	struct decoder second_look; /* borrows the events of `decoder`: perfdata_details() */
	struct perfdata_header header;
	struct bytes features[FEATURE_BITS]; /* payloads; start NULL: not there */
	struct intern strings;
	VEC(const char *) words; /* of the command line */
	VEC(s32) sockets;
	VEC(struct event_group) groups;
	VEC(struct event_source) sources;

	bool is_indexed, is_unterminated, is_read_once;
	atomic_uint parts_to_begin; /* they yet read the index from its start: see slices.c */
	/* place: address of the record; extra: see above; who: chain_owner() */
	VEC(struct timed) events;
	size_t keyed_events; /* which have their chain_key, or are given it by `keying` */
	struct parallel_crew keying;
	struct timed *unkeyed; /* of `events`: what `keying` is at */
	size_t unkeyed_count;
	struct window window; /* over what is walked */
	struct bystanders bystanders;
	struct deferred_stacks deferred;
	struct decompressor *decompressor;
	VEC(u8 *) blocks;   /* decompressed, owned: records point into them */
	size_t blocks_left; /* so many bytes more may they become */
	bool is_spoilt;	    /* no block of this input can be read any more */
	struct bytes carry; /* the start of a record whose end is in the next block */
	const u8 *walked;   /* the input that is walked: offsets in sentences are its */

	bool lists_records; /* all of them, for a listener */
	bool is_window;	    /* read into memory: see perfdata_open_window() */
	VEC(struct listed_record) listed;
	u64 rounds, block_offset; /* as far as the list goes */
	struct perfdata_listener *listener;
	enum perfdata_order listed_order;
	bool is_ordered; /* the list is in ORDER_DELIVERED */

	struct perfdata_extra extra;
	void (*show_progress)(const char *what, u64 done, u64 total); /* or NULL */
	struct text warnings;
	VEC(u32) unknown_types; /* each kind once */
	bool has_unknown_feature;
	struct damage damage;
};

/* Keeps the sentence of the first damage. */
void session_damaged(struct perfdata *data, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends one line to the warnings. */
void session_warn(struct perfdata *data, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reads what a feature's payload says into the header; unknown or damaged ones are passed over. */
void session_read_feature(struct perfdata *data, u32 feature);
/* Fills `sources` from the events, named by EVENT_DESC or by themselves. Again after new ones. */
void session_read_sources(struct perfdata *data);
/* Takes build-id records (BUILD_ID section, HEADER_BUILD_ID) for mappings without an id. */
void session_read_build_ids(struct perfdata *data, struct bytes records);

/* Takes in a whole record of type RECORD_NOTE, if it carries our mark. */
void session_read_note(struct perfdata *data, struct bytes record);

/* Walks the record stream once: finds every event and its time, takes in what describes the stream.
 * Damage is kept, not returned. */
void session_index(struct perfdata *data);

/* Adds a record to the list. `is_nested`: it comes out of a compressed block. */
void session_list(struct perfdata *data, struct record_header header, const u8 *at, bool is_nested);
/* Puts the list into ORDER_DELIVERED. */
void session_order_listed(struct perfdata *data);
/* What is known of a record of the list without looking into its body. */
struct perfdata_record session_listed_record(struct perfdata *data, size_t index);

/* What a record says; perf dumps some in other words than it prints them. */
void session_tell(const struct perfdata *data, const struct perfdata_record *record, bool is_dump,
		  FILE *out);

/* Decodes the record of a sample once more: into `sample`, and into the details of `second_look`.
 * False if it makes no sense. What both lend lives until the next call. */
bool session_look_again(struct perfdata *data, struct sample *sample);

#endif
