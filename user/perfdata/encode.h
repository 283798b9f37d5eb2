/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One event as a record of perf.data. Pure: events in, bytes out.
 */
#ifndef PERFDATA_ENCODE_H
#define PERFDATA_ENCODE_H

#include "base/text.h"
#include "base/vec.h"
#include "event/event.h"
#include "perfdata/format.h"

/* Records one after the other; each begins and ends at a multiple of 8 bytes. */
struct record_buffer {
	u8 *bytes;
	size_t used, capacity;
};

/* What the layout of records depends on. */
struct encoder {
	VEC(struct wire_attr) attrs; /* one a source */
	VEC(u64) ids;		     /* first id of each source; made up if it has none */
	u16 trailer_bytes;
	bool has_ids; /* samples and trailers say which event they belong to: there are several */
};

/* Attributes for these sources, as perf expects them: the first one also stands for the records
 * about processes. Release with encoder_release(). */
void encoder_init(struct encoder *encoder, const struct event_source *sources, u32 count,
		  u32 clock_id);
/* Frees the contents. */
void encoder_release(struct encoder *encoder);

/* Makes room for one more record of any size. */
void record_buffer_reserve(struct record_buffer *buffer);
/* Frees the bytes. */
void record_buffer_release(struct record_buffer *buffer);

/* Each appends one record; strings that do not fit a record are cut. */
void encode_sample(const struct encoder *encoder, const struct sample *sample,
		   struct record_buffer *buffer);
/* For how many observations the sample in this record of ours stands. */
u32 encoded_count(const struct encoder *encoder, const u8 *record);
/* Appends MMAP2, with build id or device and inode. */
void encode_mapping(const struct encoder *encoder, const struct mapping *mapping,
		    struct record_buffer *buffer);
/* Appends COMM. */
void encode_name(const struct encoder *encoder, const struct thread_name *name,
		 struct record_buffer *buffer);
/* Appends FORK or EXIT (`type`). */
void encode_life(const struct encoder *encoder, u32 type, const struct thread_life *life,
		 struct record_buffer *buffer);
/* Appends KSYMBOL. */
void encode_kernel_symbol(const struct encoder *encoder, const struct kernel_symbol *symbol,
			  struct record_buffer *buffer);
/* Appends BPF_EVENT. */
void encode_bpf_program(const struct encoder *encoder, const struct bpf_program *program,
			struct record_buffer *buffer);
/* Appends CGROUP. */
void encode_cgroup(const struct encoder *encoder, const struct cgroup_name *cgroup,
		   struct record_buffer *buffer);
/* Appends LOST_SAMPLES for source `source` (~0u: none in particular). */
void encode_lost_samples(const struct encoder *encoder, u64 time_ns, u64 count, u32 source,
			 struct record_buffer *buffer);
/* Appends a record of `payload` without a trailer: what perf writes itself, and our notes. */
void encode_plain(u32 type, const void *payload, size_t bytes, struct record_buffer *buffer);

#endif
