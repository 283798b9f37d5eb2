/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records to events: what each kind of record holds, one function a kind.
 */
#include "perfdata/decode.h"

#include "bpfprof/counters.h"
#include "perfdata/decode_sample.h"

#include <errno.h>

static bool has_bit(const struct wire_attr *attr, u64 bit)
{
	return attr->sample_type & bit;
}

static bool has_call_stack(const struct wire_attr *attr)
{
	return has_bit(attr, SAMPLE_BRANCH_STACK) && (attr->branch_sample_type & BRANCH_CALL_STACK);
}

/* Where the count of the chain's words stands; 0: it varies, or the chain is not all there is to
 * the frames. */
static u16 chain_place(const struct wire_attr *attr)
{
	static const u64 before[] = {SAMPLE_IDENTIFIER, SAMPLE_IP,   SAMPLE_TID,
				     SAMPLE_TIME,	SAMPLE_ADDR, SAMPLE_ID,
				     SAMPLE_STREAM_ID,	SAMPLE_CPU,  SAMPLE_PERIOD};
	u16 at = sizeof(struct record_header);

	if (!has_bit(attr, SAMPLE_CALLCHAIN) || has_bit(attr, SAMPLE_READ | SAMPLE_STACK_USER) ||
	    (has_call_stack(attr) && has_bit(attr, SAMPLE_RAW)))
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(before); i++)
		at += 8 * has_bit(attr, before[i]);
	return at;
}

static void lay_out(struct event_kind *kind)
{
	const struct wire_attr *attr = &kind->attr;
	u16 at = sizeof(struct record_header), back = 0;

	if (has_bit(attr, SAMPLE_IDENTIFIER))
		kind->sample_id_at = at;
	at += 8 * (has_bit(attr, SAMPLE_IDENTIFIER) + has_bit(attr, SAMPLE_IP));
	kind->sample_thread_at = has_bit(attr, SAMPLE_TID) ? at : 0;
	at += 8 * has_bit(attr, SAMPLE_TID);
	kind->sample_time_at = has_bit(attr, SAMPLE_TIME) ? at : 0;
	at += 8 * (has_bit(attr, SAMPLE_TIME) + has_bit(attr, SAMPLE_ADDR));
	if (has_bit(attr, SAMPLE_ID) && !kind->sample_id_at)
		kind->sample_id_at = at;
	kind->chain_at = chain_place(attr);
	kind->has_call_stack = has_call_stack(attr);

	if (!(attr->flags & ATTR_BIT(sample_id_all)))
		return;
	back += 8 * has_bit(attr, SAMPLE_IDENTIFIER);
	if (has_bit(attr, SAMPLE_IDENTIFIER))
		kind->trailer_id_back = back;
	back += 8 * (has_bit(attr, SAMPLE_CPU) + has_bit(attr, SAMPLE_STREAM_ID) +
		     has_bit(attr, SAMPLE_ID));
	if (has_bit(attr, SAMPLE_ID) && !kind->trailer_id_back)
		kind->trailer_id_back = back;
	back += 8 * has_bit(attr, SAMPLE_TIME);
	if (has_bit(attr, SAMPLE_TIME))
		kind->trailer_time_back = back;
	kind->trailer_bytes = back + 8 * has_bit(attr, SAMPLE_TID);
}

void decoder_add_kind(struct decoder *decoder, const struct wire_attr *attr, const u64 *ids,
		      size_t id_count)
{
	struct event_kind *kind = vec_add(&decoder->kinds);

	*kind = (struct event_kind){.attr = *attr};
	decoder->defers_stacks |= (attr->flags & ATTR_BIT(defer_callchain)) != 0;
	lay_out(kind);
	sample_steps_of(attr->sample_type, kind->steps);
	for (size_t i = 0; i < id_count; i++) {
		u32 *row = idmap_place(&decoder->kind_of_id, ids[i]);

		*vec_add(&kind->ids) = ids[i];
		if (!*row)
			*row = (u32)decoder->kinds.count;
	}
}

void decoder_add_build_id(struct decoder *decoder, const char *path, const u8 *id, size_t bytes)
{
	u32 row = intern_text(&decoder->build_id_paths, path);
	struct build_id *known;

	if (row <= decoder->build_ids.count)
		return; /* the first one holds, as in perf */
	known = vec_add(&decoder->build_ids);
	*known = (struct build_id){.length = (u8)bytes};
	memcpy(known->bytes, id, bytes);
}

void decoder_release(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->kinds.count; i++) {
		free(decoder->kinds.items[i].name);
		vec_release(&decoder->kinds.items[i].ids);
	}
	vec_release(&decoder->kinds);
	idmap_release(&decoder->kind_of_id);
	intern_release(&decoder->build_id_paths);
	vec_release(&decoder->build_ids);
	decoder_release_sample(decoder);
}

void decoder_release_sample(struct decoder *decoder)
{
	vec_release(&decoder->frames);
	vec_release(&decoder->branches);
	vec_release(&decoder->registers);
	vec_release(&decoder->interrupt_registers);
	vec_release(&decoder->counters);
}

struct record_header decode_header(const struct decoder *decoder, const u8 *at)
{
	struct record_header header;

	memcpy(&header, at, sizeof(header));
	if (decoder->swap) {
		header.type = bswap_32(header.type);
		header.misc = bswap_16(header.misc);
		header.size_bytes = bswap_16(header.size_bytes);
	}
	return header;
}

/* The kind whose layout a record's trailer has. All kinds agree where the id stands, or there is
 * no telling. */
static const struct event_kind *trailer_kind(const struct decoder *decoder,
					     struct record_header header, const u8 *at)
{
	const struct event_kind *first = decoder->kinds.items;
	u32 row;

	if (decoder->kinds.count <= 1 || !first->trailer_id_back ||
	    header.size_bytes < sizeof(header) + first->trailer_id_back)
		return first;
	row = idmap_get(&decoder->kind_of_id,
			decode_word(decoder, at + header.size_bytes - first->trailer_id_back));
	return row ? &decoder->kinds.items[row - 1] : first;
}

u64 decode_time(const struct decoder *decoder, struct record_header header, const u8 *at)
{
	const struct event_kind *kind = decoder->kinds.items;
	u64 time_ns = 0;

	if (!kind || header.type >= RECORD_USER_FIRST)
		return 0;
	if (header.type == RECORD_SAMPLE) {
		/* IDENTIFIER | IP | TID stand before the time in every kind, or ids differ in
		 * place and the file is not one that perf could read either */
		if (kind->sample_time_at && kind->sample_time_at + 8u <= header.size_bytes)
			time_ns = decode_word(decoder, at + kind->sample_time_at);
	} else {
		kind = trailer_kind(decoder, header, at);
		if (kind->trailer_time_back &&
		    sizeof(header) + kind->trailer_bytes <= header.size_bytes)
			time_ns = decode_word(decoder,
					      at + header.size_bytes - kind->trailer_time_back);
	}
	return time_ns == ~0ull ? 0 : time_ns;
}

const struct event_kind *decode_kind(const struct decoder *decoder, struct bytes record)
{
	const struct event_kind *first = decoder->kinds.items;
	u64 id;
	u32 row;

	if (decoder->kinds.count <= 1)
		return first;
	if (!first->sample_id_at || first->sample_id_at + sizeof(id) > record.length)
		return first;
	id = decode_word(decoder, record.start + first->sample_id_at);
	if (!id)
		return first; /* as perf does with what it made up itself */
	row = idmap_get(&decoder->kind_of_id, id);
	return row ? &decoder->kinds.items[row - 1] : NULL;
}

/* The bytes of a count, what may stand between, and so many units; 0: they are not all there. */
static u64 counted_bytes(const struct decoder *decoder, struct bytes rest, u64 between, u64 unit)
{
	u64 head = sizeof(u64) + between, count;

	if (rest.length < head)
		return 0;
	count = decode_word(decoder, rest.start);
	return count <= (rest.length - head) / unit ? head + count * unit : 0;
}

struct bytes decode_chain(const struct decoder *decoder, struct record_header header, const u8 *at)
{
	const struct event_kind *kind = decode_kind(decoder, (struct bytes){at, header.size_bytes});
	struct bytes rest;
	u64 chain, branches = 0;

	if (!kind || !kind->chain_at || kind->chain_at > header.size_bytes)
		return (struct bytes){0};
	rest = (struct bytes){at + kind->chain_at, header.size_bytes - kind->chain_at};
	chain = counted_bytes(decoder, rest, 0, sizeof(u64));
	if (chain && kind->has_call_stack) {
		struct bytes behind = {rest.start + chain, rest.length - chain};
		u64 index = kind->attr.branch_sample_type & BRANCH_HW_INDEX ? sizeof(u64) : 0;

		branches = counted_bytes(decoder, behind, index, 3 * sizeof(u64));
		if (!branches)
			return (struct bytes){0};
	}
	return chain ? (struct bytes){rest.start, chain + branches} : (struct bytes){0};
}

/* A record taken apart: its body is what lies between header and trailer. */
struct record {
	struct record_header header;
	struct cursor body;
	u64 time_ns;
	u32 source; /* ~0u: the trailer does not say */
};

typedef int record_decode(struct decoder *decoder, struct record *record, struct event_sink *sink);

static u8 mapping_space(u16 misc)
{
	u8 space = misc & MISC_CPUMODE;

	return space == SPACE_UNKNOWN ? SPACE_USER : space;
}

static int hand_over_mapping(struct decoder *decoder, struct record *record,
			     struct mapping *mapping, struct event_sink *sink)
{
	u32 known;

	mapping->path = cursor_text(&record->body, cursor_left(&record->body));
	if (record->body.overrun)
		return -EILSEQ;
	mapping->time_ns = record->time_ns;
	mapping->space = mapping_space(record->header.misc);
	mapping->is_data = record->header.misc & MISC_MMAP_DATA;
	if (space_is_kernel(mapping->space))
		mapping->pid = ~0u;
	known = mapping->build_id_bytes ? 0
					: intern_find(&decoder->build_id_paths, mapping->path,
						      mapping_name_bytes(mapping->path));
	if (known) {
		const struct build_id *id = &decoder->build_ids.items[known - 1];

		memcpy(mapping->build_id, id->bytes, sizeof(mapping->build_id));
		mapping->build_id_bytes = id->length;
	}
	return sink_call(sink, on_mapping, mapping);
}

static void read_mapping_range(struct cursor *body, struct mapping *mapping)
{
	mapping->pid = cursor_u32(body);
	mapping->tid = cursor_u32(body);
	mapping->start = cursor_u64(body);
	mapping->bytes = cursor_u64(body);
	mapping->file_offset = cursor_u64(body);
}

static int decode_mmap(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	enum { PROTECTION_EXECUTE = 4 };
	struct mapping mapping = {0};

	read_mapping_range(&record->body, &mapping);
	if (!(record->header.misc & MISC_MMAP_DATA))
		mapping.protection = PROTECTION_EXECUTE;
	return hand_over_mapping(decoder, record, &mapping, sink);
}

/*
 * Whether what stands for the file is a build id.
 *
 * Kernels from 5.12 on, 6.18 among them, can set the bit for events that did not ask for build ids:
 * for each mapping they fill one header and hand it to all events in turn, and what is set for one
 * that asks stays set for those behind it. Their records then hold device and inode under the bit,
 * and what is read as the size is the low byte of the device's major number.
 */
static bool has_build_id(const struct decoder *decoder, const struct record *record, u8 bytes)
{
	enum { MD5_BYTES = 16, SHA1_BYTES = 20 };

	if (!(record->header.misc & MISC_MMAP_BUILD_ID) || bytes > BUILD_ID_MAX_BYTES)
		return false;
	for (size_t i = 0; i < decoder->kinds.count; i++)
		if (decoder->kinds.items[i].attr.flags & ATTR_BIT(build_id))
			return true;
	/* perf inject writes build ids into recordings that were made without */
	return bytes == SHA1_BYTES || bytes == MD5_BYTES;
}

static int decode_mmap2(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	enum { ID_AT = 4 };
	struct cursor *body = &record->body;
	struct mapping mapping = {0};
	const u8 *identity;

	read_mapping_range(body, &mapping);
	identity = body->next;
	mapping.major = cursor_u32(body);
	mapping.minor = cursor_u32(body);
	mapping.inode = cursor_u64(body);
	mapping.inode_generation = cursor_u64(body);
	if (body->overrun)
		return -EILSEQ;
	if (has_build_id(decoder, record, identity[0])) {
		mapping.major = mapping.minor = 0;
		mapping.inode = mapping.inode_generation = 0;
		memcpy(mapping.build_id, identity + ID_AT, identity[0]);
		mapping.build_id_bytes = identity[0];
	}
	mapping.protection = cursor_u32(body);
	mapping.flags = cursor_u32(body);
	return hand_over_mapping(decoder, record, &mapping, sink);
}

static int decode_comm(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	struct thread_name name = {
		.time_ns = record->time_ns,
		.is_exec = record->header.misc & MISC_COMM_EXEC,
	};

	name.pid = cursor_u32(&record->body);
	name.tid = cursor_u32(&record->body);
	name.name = cursor_text(&record->body, cursor_left(&record->body));
	(void)decoder;
	return record->body.overrun ? -EILSEQ : sink_call(sink, on_name, &name);
}

static struct thread_life read_life(struct record *record)
{
	struct cursor *body = &record->body;
	struct thread_life life = {
		.time_ns = record->time_ns,
		.is_synthesized = record->header.misc & MISC_FORK_SYNTHESIZED,
	};

	life.pid = cursor_u32(body);
	life.parent_pid = cursor_u32(body);
	life.tid = cursor_u32(body);
	life.parent_tid = cursor_u32(body);
	return life;
}

static int decode_fork(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	struct thread_life life = read_life(record);

	(void)decoder;
	return record->body.overrun ? -EILSEQ : sink_call(sink, on_fork, &life);
}

static int decode_exit(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	struct thread_life life = read_life(record);

	(void)decoder;
	return record->body.overrun ? -EILSEQ : sink_call(sink, on_exit, &life);
}

static int hand_over_loss(struct record *record, u32 reason, u64 count, struct event_sink *sink)
{
	struct loss loss = {
		.time_ns = record->time_ns,
		.count = count,
		.reason = reason,
		.source = record->source,
	};

	if (record->body.overrun)
		return -EILSEQ;
	return count ? sink_call(sink, on_loss, &loss) : 0;
}

static int decode_lost(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	u64 count;

	cursor_u64(&record->body); /* the event's id: its ring holds other events' records too */
	count = cursor_u64(&record->body);
	if (decoder->is_ours || decoder->lost_is_counted)
		return 0;
	return hand_over_loss(record, COUNTER_lost_kernel, count, sink);
}

static int decode_lost_samples(struct decoder *decoder, struct record *record,
			       struct event_sink *sink)
{
	u64 count = cursor_u64(&record->body);

	/* our own files tell losses by reason, in a note */
	if (decoder->is_ours || (record->header.misc & MISC_LOST_SAMPLES_BPF))
		return 0;
	return hand_over_loss(record, COUNTER_lost_kernel, count, sink);
}

static int decode_throttle(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	return decoder->is_ours ? 0 : hand_over_loss(record, COUNTER_throttled, 1, sink);
}

static int decode_ksymbol(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	struct cursor *body = &record->body;
	struct kernel_symbol symbol = {.time_ns = record->time_ns};

	symbol.start = cursor_u64(body);
	symbol.bytes = cursor_u32(body);
	symbol.type = cursor_u16(body);
	symbol.flags = cursor_u16(body);
	symbol.name = cursor_text(body, cursor_left(body));
	(void)decoder;
	return body->overrun ? -EILSEQ : sink_call(sink, on_kernel_symbol, &symbol);
}

static int decode_bpf_event(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	struct cursor *body = &record->body;
	struct bpf_program program = {.time_ns = record->time_ns};
	const u8 *tag;

	program.type = cursor_u16(body);
	program.flags = cursor_u16(body);
	program.id = cursor_u32(body);
	tag = cursor_take(body, sizeof(program.tag));
	(void)decoder;
	if (!tag)
		return -EILSEQ;
	memcpy(program.tag, tag, sizeof(program.tag));
	return sink_call(sink, on_bpf_program, &program);
}

static int decode_cgroup(struct decoder *decoder, struct record *record, struct event_sink *sink)
{
	struct cgroup_name cgroup = {.time_ns = record->time_ns};

	cgroup.id = cursor_u64(&record->body);
	cgroup.path = cursor_text(&record->body, cursor_left(&record->body));
	(void)decoder;
	return record->body.overrun ? -EILSEQ : sink_call(sink, on_cgroup, &cgroup);
}

static record_decode *const record_decoders[] = {
	[RECORD_MMAP] = decode_mmap,	     [RECORD_LOST] = decode_lost,
	[RECORD_COMM] = decode_comm,	     [RECORD_EXIT] = decode_exit,
	[RECORD_THROTTLE] = decode_throttle, [RECORD_FORK] = decode_fork,
	[RECORD_MMAP2] = decode_mmap2,	     [RECORD_LOST_SAMPLES] = decode_lost_samples,
	[RECORD_KSYMBOL] = decode_ksymbol,   [RECORD_BPF_EVENT] = decode_bpf_event,
	[RECORD_CGROUP] = decode_cgroup,
};

int decode_record(struct decoder *decoder, struct bytes bytes, struct event_sink *sink)
{
	struct record record = {.header = decode_header(decoder, bytes.start), .source = ~0u};
	const struct event_kind *kind;
	record_decode *decode = NULL;

	if (record.header.type < ARRAY_COUNT(record_decoders))
		decode = record_decoders[record.header.type];
	if (!decode || !decoder->kinds.count)
		return 0;
	kind = trailer_kind(decoder, record.header, bytes.start);
	if (bytes.length < sizeof(record.header) + kind->trailer_bytes)
		return -EILSEQ;
	record.time_ns = decode_time(decoder, record.header, bytes.start);
	if (kind->trailer_id_back)
		record.source = (u32)(kind - decoder->kinds.items);
	record.body = cursor_of(
		(struct bytes){bytes.start + sizeof(record.header),
			       bytes.length - sizeof(record.header) - kind->trailer_bytes});
	record.body.swap = decoder->swap;
	return decode(decoder, &record, sink);
}

u32 decode_source(const struct decoder *decoder, struct record_header header, const u8 *at)
{
	return (u32)(trailer_kind(decoder, header, at) - decoder->kinds.items);
}

bool decode_knows(u32 type)
{
	return type < ARRAY_COUNT(record_decoders) &&
	       (type == RECORD_SAMPLE || record_decoders[type]);
}
