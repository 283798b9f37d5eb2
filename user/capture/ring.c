/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the BPF ring buffer: records become samples on their way to the sink.
 */
#include "capture/ring.h"

#include "base/fail.h"
#include "base/memory.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

/* Without anything in the ring of rests: a minute, if the reader only wakes up by itself. */
enum { REST_DRAINS = 240 };

struct ring {
	struct ring_buffer *buffer;
	struct event_sink *sink;
	bool has_chain;
	u64 malformed;
	void (*take_proof)(void *context, const struct proof_record *proof);
	void *proof_context;
	void (*take_wanted)(void *context, const struct file_wanted *wanted);
	void *wanted_context;
	void (*take_chain)(void *context, u32 window, const struct sample_header *header,
			   const u64 *frames);
	void *chain_context;
	struct sample_space space;
	void (*take_rest)(void *context, const struct stack_rest *rest);
	void *rest_context;
	struct ring_buffer *rests; /* NULL: not mapped just now */
	int rests_fd;
	u32 drains;	  /* since samples have come whose rests lie there, this one too */
	u64 bytes, taken; /* of all of it; of what this drain has taken */
};

/* Ends a drain that has taken as much as there was when it began. */
enum { ROUND_ENDS = -EALREADY };

static void fill_frames(struct frame *frames, const u8 *addresses, u32 kernel_frames,
			u32 frame_count)
{
	for (u32 i = 0; i < frame_count; i++) {
		memcpy(&frames[i].address, addresses + i * sizeof(u64), sizeof(u64));
		frames[i].space = i < kernel_frames ? SPACE_KERNEL : SPACE_USER;
		frames[i].origin = ORIGIN_UNKNOWN;
	}
}

/* hw_idx and the entries. */
static void fill_branches(struct branch *branches, const u8 *words, struct sample *sample)
{
	_Static_assert(sizeof(*branches) == BRANCH_ENTRY_WORDS * sizeof(u64), "copied as it is");
	memcpy(&sample->hw_idx, words, sizeof(u64));
	memcpy(branches, words + BRANCH_INDEX_WORDS * sizeof(u64),
	       sample->branch_count * sizeof(*branches));
	sample->branches = branches;
}

static bool is_chain(u16 kind)
{
	return kind == RECORD_CHAIN || kind == RECORD_CHAIN_SECOND;
}

static bool is_sample(u16 kind)
{
	return kind == RECORD_SAMPLE || kind == RECORD_LATE_SAMPLE || is_chain(kind);
}

static u32 frame_count_of(const struct sample_header *header)
{
	return (u32)header->kernel_frames + header->user_frames;
}

/* Whether it is the header of a whole record. */
static bool read_header(const void *record, size_t bytes, struct sample_header *ret_header)
{
	if (bytes < sizeof(*ret_header))
		return false;
	memcpy(ret_header, record, sizeof(*ret_header));
	return is_sample(ret_header->kind) && ret_header->source < SOURCES_MAX &&
	       ret_header->kernel_frames <= STACK_MAX_FRAMES &&
	       ret_header->user_frames <= STACK_MAX_FRAMES &&
	       (!ret_header->branch_words || branch_stack_is_whole(ret_header->branch_words)) &&
	       bytes >= sizeof(*ret_header) +
				(frame_count_of(ret_header) + ret_header->branch_words) *
					sizeof(u64);
}

int ring_decode(const void *record, size_t bytes, bool has_chain, struct sample_space *space,
		struct sample *ret_sample)
{
	struct sample_header header;
	const u8 *words = (const u8 *)record + sizeof(header);
	u32 frame_count;

	if (!read_header(record, bytes, &header))
		return -EBADMSG;
	frame_count = frame_count_of(&header);
	fill_frames(space->frames, words, header.kernel_frames, frame_count);
	*ret_sample = (struct sample){
		.time_ns = header.time_ns,
		.weight = header.period,
		.cgroup = header.cgroup,
		.address = header.address,
		.source = header.source,
		.pid = header.pid,
		.tid = header.tid,
		.cpu = header.cpu,
		.space = header.mode == MODE_USER ? SPACE_USER : SPACE_KERNEL,
		.cut = header.end,
		.walked = header.walked,
		.frame_count = (u16)frame_count,
		.has_chain = has_chain,
		.frames = space->frames,
		.branch_count = header.branch_words / BRANCH_ENTRY_WORDS,
		.hw_idx = BRANCH_INDEX_UNKNOWN,
	};
	if (header.branch_words)
		fill_branches(space->branches, words + frame_count * sizeof(u64), ret_sample);
	return 0;
}

bool ring_is_proof(const void *record, size_t bytes)
{
	const struct proof_record *proof = record;

	return bytes >= offsetof(struct proof_record, stack) && proof->kind == RECORD_PROOF &&
	       proof->stack_bytes <= bytes - offsetof(struct proof_record, stack);
}

bool ring_is_rest(const void *record, size_t bytes)
{
	const struct stack_rest *rest = record;

	return bytes >= offsetof(struct stack_rest, stack) && rest->kind == RECORD_STACK_REST &&
	       rest->stack_bytes <= bytes - offsetof(struct stack_rest, stack);
}

/* Whether it is such a record, and handed on. */
static bool take_wanted(const struct ring *ring, const void *record, size_t bytes)
{
	struct file_wanted wanted;

	if (!ring->take_wanted || bytes < sizeof(wanted))
		return false;
	memcpy(&wanted, record, sizeof(wanted));
	if (wanted.kind != RECORD_FILE_WANTED)
		return false;
	ring->take_wanted(ring->wanted_context, &wanted);
	return true;
}

static int take_rest(void *context, void *record, size_t bytes)
{
	struct ring *ring = context;

	if (ring_is_rest(record, bytes)) /* if not, its sample stays as it is */
		ring->take_rest(ring->rest_context, record);
	return 0;
}

/* Hands on all rests that have come. */
static void read_rests(struct ring *ring)
{
	ring->drains = 0;
	if (!ring->rests)
		ring->rests = ring_buffer__new(ring->rests_fd, take_rest, ring, NULL);
	if (ring->rests)
		ring_buffer__consume(ring->rests);
}

static void forget_rests(struct ring *ring)
{
	ring_buffer__free(ring->rests);
	ring->rests = NULL;
}

/* Whether it is a chain, and handed on as it is: frames of it are made when it is known of whom. */
static bool take_chain(const struct ring *ring, const void *record, size_t bytes)
{
	struct sample_header header;

	if (!read_header(record, bytes, &header) || !is_chain(header.kind))
		return false;
	if (ring->take_chain)
		ring->take_chain(ring->chain_context, header.kind - RECORD_CHAIN, record,
				 ((const struct sample_record *)record)->frames);
	return true;
}

static int take_one(struct ring *ring, void *record, size_t bytes)
{
	struct sample sample;

	if (take_chain(ring, record, bytes) || take_wanted(ring, record, bytes))
		return 0;
	if (ring->take_proof && ring_is_proof(record, bytes)) {
		ring->take_proof(ring->proof_context, record);
		return 0;
	}
	if (ring_decode(record, bytes, ring->has_chain, &ring->space, &sample)) {
		ring->malformed++;
		return 0;
	}
	if (ring->take_rest && ((const struct sample_header *)record)->kind == RECORD_LATE_SAMPLE)
		read_rests(ring);
	return sink_call(ring->sink, on_sample, &sample);
}

/* A machine that makes samples faster than they are taken must not keep us here for ever. */
static int take_record(void *context, void *record, size_t bytes)
{
	struct ring *ring = context;
	int error = take_one(ring, record, bytes);

	ring->taken += (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
	return !error && ring->taken >= ring->bytes ? ROUND_ENDS : error;
}

int ring_open(int map_fd, bool has_chain, struct ring **ret_ring)
{
	struct ring *ring = must_alloc(sizeof(*ring));
	struct bpf_map_info info = {0};
	u32 info_bytes = sizeof(info);

	ring->has_chain = has_chain;
	if (!bpf_obj_get_info_by_fd(map_fd, &info, &info_bytes)) {
		ring->bytes = info.max_entries;
		ring->buffer = ring_buffer__new(map_fd, take_record, ring, NULL);
	}
	if (!ring->buffer) {
		int error = -errno;

		free(ring);
		return fail(error, NULL, "cannot map the ring buffer");
	}
	*ret_ring = ring;
	return 0;
}

void ring_close(struct ring *ring)
{
	if (!ring)
		return;
	ring_buffer__free(ring->buffer);
	forget_rests(ring);
	free(ring);
}

void ring_take_proofs(struct ring *ring, void (*take)(void *, const struct proof_record *),
		      void *context)
{
	ring->take_proof = take;
	ring->proof_context = context;
}

void ring_take_chains(struct ring *ring,
		      void (*take)(void *, u32 window, const struct sample_header *header,
				   const u64 *frames),
		      void *context)
{
	ring->take_chain = take;
	ring->chain_context = context;
}

void ring_take_wanted(struct ring *ring, void (*take)(void *, const struct file_wanted *),
		      void *context)
{
	ring->take_wanted = take;
	ring->wanted_context = context;
}

void ring_take_rests(struct ring *ring, int map_fd, void (*take)(void *, const struct stack_rest *),
		     void *context)
{
	ring->rests_fd = map_fd;
	ring->take_rest = take;
	ring->rest_context = context;
}

int ring_fd(const struct ring *ring)
{
	return ring_buffer__epoll_fd(ring->buffer);
}

int ring_drain(struct ring *ring, struct event_sink *sink)
{
	int count;

	ring->sink = sink;
	ring->drains++;
	ring->taken = 0;
	count = ring_buffer__consume(ring->buffer);
	if (count == ROUND_ENDS && ring->taken >= ring->bytes)
		count = 0;
	/* The memory counts as ours while it is mapped; but to map it takes longer than to read a
	 * rest. */
	if (ring->drains >= REST_DRAINS)
		forget_rests(ring);
	return count < 0 ? count : 0;
}

u64 ring_malformed(const struct ring *ring)
{
	return ring->malformed;
}
