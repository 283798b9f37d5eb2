/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events to records. All times are the producer's, trailers are made anew.
 */
#include "perfdata/encode.h"

#include <string.h>

static u64 sample_type_of(const struct event_source *source, bool has_ids)
{
	u64 bits = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD;

	bits |= source->sample_bits & (SAMPLE_ADDR | SAMPLE_CGROUP);
	if (has_ids)
		bits |= SAMPLE_IDENTIFIER;
	if (source->has_chain)
		bits |= SAMPLE_CALLCHAIN;
	if (source->has_branches)
		bits |= SAMPLE_BRANCH_STACK;
	return bits;
}

static u64 flags_of(const struct event_source *source, bool is_first)
{
	bool has_cgroups = source->sample_bits & SAMPLE_CGROUP;
	u64 flags = ATTR_BIT(sample_id_all) | ATTR_BIT(exclude_guest) | ATTR_BIT(use_clockid);

	flags |= (u64)(source->precise & 3) << ATTR_precise;
	if (source->exclude_user)
		flags |= ATTR_BIT(exclude_user);
	if (source->exclude_kernel)
		flags |= ATTR_BIT(exclude_kernel);
	if (source->exclude_idle)
		flags |= ATTR_BIT(exclude_idle);
	if (source->is_frequency)
		flags |= ATTR_BIT(freq);
	if (is_first)
		flags |= ATTR_BIT(mmap) | ATTR_BIT(mmap2) | ATTR_BIT(comm) | ATTR_BIT(comm_exec) |
			 ATTR_BIT(task) | ATTR_BIT(ksymbol) | ATTR_BIT(bpf_event) |
			 ATTR_BIT(build_id);
	if (is_first && has_cgroups)
		flags |= ATTR_BIT(cgroup);
	return flags;
}

void encoder_init(struct encoder *encoder, const struct event_source *sources, u32 count,
		  u32 clock_id)
{
	*encoder = (struct encoder){.has_ids = count > 1};
	for (u32 i = 0; i < count; i++) {
		const struct event_source *source = &sources[i];

		*vec_add(&encoder->attrs) = (struct wire_attr){
			.type = source->type,
			.size_bytes = sizeof(struct wire_attr),
			.config = source->config,
			.period_or_frequency = source->rate,
			.sample_type = sample_type_of(source, encoder->has_ids),
			.flags = flags_of(source, i == 0),
			.config1 = source->config1,
			.config2 = source->config2,
			.branch_sample_type = source->has_branches ? source->branch_bits : 0,
			.clock_id = (s32)clock_id,
		};
		*vec_add(&encoder->ids) = source->id_count ? source->ids[0] : i + 1;
	}
	/* pid and tid, time, cpu, and the id */
	encoder->trailer_bytes = encoder->has_ids ? 32 : 24;
}

void encoder_release(struct encoder *encoder)
{
	vec_release(&encoder->attrs);
	vec_release(&encoder->ids);
}

void record_buffer_reserve(struct record_buffer *buffer)
{
	size_t needed = buffer->used + RECORD_MAX_BYTES;

	if (needed <= buffer->capacity)
		return;
	buffer->capacity = needed > 2 * buffer->capacity ? needed : 2 * buffer->capacity;
	buffer->bytes = must_resize_array(buffer->bytes, buffer->capacity, 1);
}

void record_buffer_release(struct record_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct record_buffer){0};
}

/* Where the next member of the record that is being written goes. */
struct pen {
	u8 *start, *at;
};

static struct pen pen_at(struct record_buffer *buffer)
{
	u8 *start;

	record_buffer_reserve(buffer);
	start = buffer->bytes + buffer->used;
	return (struct pen){.start = start, .at = start + sizeof(struct record_header)};
}

static inline void put_u64(struct pen *pen, u64 value)
{
	memcpy(pen->at, &value, sizeof(value));
	pen->at += sizeof(value);
}

static inline void put_u32s(struct pen *pen, u32 first, u32 second)
{
	memcpy(pen->at, &first, sizeof(first));
	memcpy(pen->at + sizeof(first), &second, sizeof(second));
	pen->at += 2 * sizeof(u32);
}

static void put_bytes(struct pen *pen, const void *bytes, size_t count)
{
	if (count) /* nothing may be NULL */
		memcpy(pen->at, bytes, count);
	pen->at += count;
}

/* A string with its NUL, padded to 8 bytes. */
static void put_text(struct pen *pen, const char *text)
{
	enum { TEXT_MAX_BYTES = 32 << 10 };
	size_t length = strnlen(text, TEXT_MAX_BYTES);
	size_t padded = round_up(length + 1, 8);

	memset(pen->at + padded - 8, 0, 8);
	memcpy(pen->at, text, length);
	pen->at += padded;
}

static void finish(struct pen *pen, u32 type, u16 misc, struct record_buffer *buffer)
{
	struct record_header header = {
		.type = type, .misc = misc, .size_bytes = (u16)(pen->at - pen->start)};

	memcpy(pen->start, &header, sizeof(header));
	buffer->used += header.size_bytes;
}

/* Whose record it is and when it happened. */
struct moment {
	u32 pid, tid;
	u64 time_ns;
	u64 id;
};

static void put_trailer(const struct encoder *encoder, struct pen *pen, struct moment moment)
{
	if (!moment.time_ns)
		moment.pid = moment.tid = 0; /* as perf's own of what was there before */
	put_u32s(pen, moment.pid, moment.tid);
	put_u64(pen, moment.time_ns);
	put_u64(pen, 0);
	if (encoder->has_ids)
		put_u64(pen, moment.id);
}

static u64 marker_of(u8 space)
{
	static const u64 markers[] = {
		[SPACE_UNKNOWN] = CONTEXT_USER,
		[SPACE_KERNEL] = CONTEXT_KERNEL,
		[SPACE_USER] = CONTEXT_USER,
		[SPACE_HYPERVISOR] = CONTEXT_HYPERVISOR,
		[SPACE_GUEST_KERNEL] = CONTEXT_GUEST_KERNEL,
		[SPACE_GUEST_USER] = CONTEXT_GUEST_USER,
	};

	return space < ARRAY_COUNT(markers) ? markers[space] : CONTEXT_USER;
}

enum { BRANCHES_MAX = 256, CHAIN_MAX_WORDS = (RECORD_MAX_BYTES - 256) / 8 - 3 * BRANCHES_MAX };

static void put_chain(struct pen *pen, const struct sample *sample)
{
	u8 *count_at = pen->at, *last = count_at + (CHAIN_MAX_WORDS - 2) * sizeof(u64);
	u64 count, marker = 0;

	pen->at += sizeof(count);
	for (u16 i = 0; i < sample->frame_count && pen->at < last; i++) {
		const struct frame *frame = &sample->frames[i];
		u64 wanted = marker_of(frame->space);

		if (wanted != marker)
			put_u64(pen, wanted);
		marker = wanted;
		put_u64(pen, frame->address);
	}
	count = (u64)(pen->at - count_at) / sizeof(u64) - 1;
	memcpy(count_at, &count, sizeof(count));
}

static void put_branches(struct pen *pen, const struct wire_attr *attr, const struct sample *sample)
{
	u64 count = sample->branch_count < BRANCHES_MAX ? sample->branch_count : BRANCHES_MAX;

	put_u64(pen, count);
	if (attr->branch_sample_type & BRANCH_HW_INDEX)
		put_u64(pen, sample->hw_idx);
	put_bytes(pen, sample->branches, count * sizeof(*sample->branches));
}

/* Behind a sample with an empty call stack: words that belong to nothing, so no reader looks at
 * them, but for perf up to 6.1, which takes the leaf from the second word of the newest entry
 * without asking whether there is one. It finds the true leaf, and not bytes of the next record.
 * The first word there is the cgroup, if there is one. */
static void put_ghost(struct pen *pen, const struct wire_attr *attr, const struct sample *sample)
{
	u64 leaf = sample->address;

	for (u16 i = sample->frame_count; i-- > 0;)
		if (sample->frames[i].space == SPACE_USER)
			leaf = sample->frames[i].address;
	if (!(attr->sample_type & SAMPLE_CGROUP))
		put_u64(pen, 0);
	put_u64(pen, leaf);
	put_u64(pen, 0);
}

/* How the user stack was had, for our own reader. */
static u16 provenance(const struct sample *sample)
{
	return (u16)((sample->cut & MISC_CUT_MASK) << MISC_CUT_SHIFT |
		     (sample->walked & MISC_WALK_MASK) << MISC_WALK_SHIFT);
}

void encode_sample(const struct encoder *encoder, const struct sample *sample,
		   struct record_buffer *buffer)
{
	const struct wire_attr *attr = &encoder->attrs.items[sample->source];
	struct pen pen = pen_at(buffer);

	if (encoder->has_ids)
		put_u64(&pen, encoder->ids.items[sample->source]);
	put_u64(&pen, sample->address);
	put_u32s(&pen, sample->pid, sample->tid);
	put_u64(&pen, sample->time_ns);
	if (attr->sample_type & SAMPLE_ADDR)
		put_u64(&pen, sample->data_address);
	/* The half of this word that no perf looks at: 0, as the kernel writes it, for a sample. */
	put_u32s(&pen, sample->cpu, sample_count(sample) > 1 ? sample->count : 0);
	put_u64(&pen, sample->weight);
	if (attr->sample_type & SAMPLE_CALLCHAIN)
		put_chain(&pen, sample);
	if (attr->sample_type & SAMPLE_BRANCH_STACK)
		put_branches(&pen, attr, sample);
	if (attr->sample_type & SAMPLE_CGROUP)
		put_u64(&pen, sample->cgroup);
	if (attr->branch_sample_type & BRANCH_CALL_STACK && !sample->branch_count)
		put_ghost(&pen, attr, sample);
	finish(&pen, RECORD_SAMPLE, (u16)(sample->space & MISC_CPUMODE) | provenance(sample),
	       buffer);
}

u32 encoded_count(const struct encoder *encoder, const u8 *record)
{
	const u8 *at = record + sizeof(struct record_header);
	u64 sample_type = encoder->attrs.items[0].sample_type, id;
	u32 count;

	memcpy(&id, at, sizeof(id));
	for (size_t i = 0; encoder->has_ids && i < encoder->ids.count; i++)
		if (encoder->ids.items[i] == id)
			sample_type = encoder->attrs.items[i].sample_type;
	/* what encode_sample() puts before it */
	at += (encoder->has_ids + 3 + !!(sample_type & SAMPLE_ADDR)) * sizeof(u64);
	memcpy(&count, at + sizeof(u32), sizeof(count));
	return count ? count : 1;
}

static void put_identity(struct pen *pen, const struct mapping *mapping)
{
	struct {
		u8 bytes, reserved[3], id[BUILD_ID_MAX_BYTES];
	} build_id = {.bytes = mapping->build_id_bytes};

	if (mapping->build_id_bytes) {
		memcpy(build_id.id, mapping->build_id, sizeof(build_id.id));
		put_bytes(pen, &build_id, sizeof(build_id));
		return;
	}
	put_u32s(pen, mapping->major, mapping->minor);
	put_u64(pen, mapping->inode);
	put_u64(pen, mapping->inode_generation);
}

void encode_mapping(const struct encoder *encoder, const struct mapping *mapping,
		    struct record_buffer *buffer)
{
	struct pen pen = pen_at(buffer);
	u16 misc = mapping->space & MISC_CPUMODE;

	if (mapping->is_data)
		misc |= MISC_MMAP_DATA;
	if (mapping->build_id_bytes)
		misc |= MISC_MMAP_BUILD_ID;
	put_u32s(&pen, mapping->pid, mapping->tid);
	put_u64(&pen, mapping->start);
	put_u64(&pen, mapping->bytes);
	put_u64(&pen, mapping->file_offset);
	put_identity(&pen, mapping);
	put_u32s(&pen, mapping->protection, mapping->flags);
	put_text(&pen, mapping->path);
	put_trailer(encoder, &pen,
		    (struct moment){mapping->pid, mapping->tid, mapping->time_ns, 0});
	finish(&pen, RECORD_MMAP2, misc, buffer);
}

void encode_name(const struct encoder *encoder, const struct thread_name *name,
		 struct record_buffer *buffer)
{
	struct pen pen = pen_at(buffer);

	put_u32s(&pen, name->pid, name->tid);
	put_text(&pen, name->name);
	put_trailer(encoder, &pen, (struct moment){name->pid, name->tid, name->time_ns, 0});
	finish(&pen, RECORD_COMM, name->is_exec ? MISC_COMM_EXEC : 0, buffer);
}

void encode_life(const struct encoder *encoder, u32 type, const struct thread_life *life,
		 struct record_buffer *buffer)
{
	struct pen pen = pen_at(buffer);

	put_u32s(&pen, life->pid, life->parent_pid);
	put_u32s(&pen, life->tid, life->parent_tid);
	put_u64(&pen, life->time_ns);
	put_trailer(encoder, &pen, (struct moment){life->pid, life->tid, life->time_ns, 0});
	finish(&pen, type, life->is_synthesized ? MISC_FORK_SYNTHESIZED : 0, buffer);
}

void encode_kernel_symbol(const struct encoder *encoder, const struct kernel_symbol *symbol,
			  struct record_buffer *buffer)
{
	struct pen pen = pen_at(buffer);

	put_u64(&pen, symbol->start);
	put_u32s(&pen, symbol->bytes, symbol->type | (u32)symbol->flags << 16);
	put_text(&pen, symbol->name);
	put_trailer(encoder, &pen, (struct moment){.time_ns = symbol->time_ns});
	finish(&pen, RECORD_KSYMBOL, 0, buffer);
}

void encode_bpf_program(const struct encoder *encoder, const struct bpf_program *program,
			struct record_buffer *buffer)
{
	struct pen pen = pen_at(buffer);

	put_u32s(&pen, program->type | (u32)program->flags << 16, program->id);
	put_bytes(&pen, program->tag, sizeof(program->tag));
	put_trailer(encoder, &pen, (struct moment){.time_ns = program->time_ns});
	finish(&pen, RECORD_BPF_EVENT, 0, buffer);
}

void encode_cgroup(const struct encoder *encoder, const struct cgroup_name *cgroup,
		   struct record_buffer *buffer)
{
	struct pen pen = pen_at(buffer);

	put_u64(&pen, cgroup->id);
	put_text(&pen, cgroup->path);
	put_trailer(encoder, &pen, (struct moment){.time_ns = cgroup->time_ns});
	finish(&pen, RECORD_CGROUP, 0, buffer);
}

void encode_lost_samples(const struct encoder *encoder, u64 time_ns, u64 count, u32 source,
			 struct record_buffer *buffer)
{
	struct moment moment = {.time_ns = time_ns};
	struct pen pen = pen_at(buffer);

	if (source < encoder->ids.count)
		moment.id = encoder->ids.items[source];
	put_u64(&pen, count);
	put_trailer(encoder, &pen, moment);
	finish(&pen, RECORD_LOST_SAMPLES, 0, buffer);
}

void encode_plain(u32 type, const void *payload, size_t bytes, struct record_buffer *buffer)
{
	struct pen pen = pen_at(buffer);

	put_bytes(&pen, payload, bytes);
	finish(&pen, type, 0, buffer);
}
