/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The body of a SAMPLE record: one step a member, in the order the kernel writes them.
 *
 * Source: perf_output_sample() of kernel/events/core.c; the comment in the uapi header misplaces
 * AUX and leaves out CGROUP.
 */
#include "perfdata/decode_sample.h"

#include "perfdata/attr.h"

#include <errno.h>

/* A member of one word that only struct sample_details has. */
#define READ_DETAIL(member)                                                               \
	static void read_##member(struct decoder *decoder, const struct event_kind *kind, \
				  struct cursor *cursor, struct sample *sample)           \
	{                                                                                 \
		decoder->details.member = cursor_u64(cursor);                             \
		(void)kind, (void)sample;                                                 \
	}

READ_DETAIL(stream_id)
READ_DETAIL(weight)
READ_DETAIL(data_source)
READ_DETAIL(transaction)
READ_DETAIL(physical_address)
READ_DETAIL(data_page_bytes)
READ_DETAIL(code_page_bytes)

static void read_id(struct decoder *decoder, const struct event_kind *kind, struct cursor *cursor,
		    struct sample *sample)
{
	decoder->sample_id = cursor_u64(cursor);
	(void)kind, (void)sample;
}

static void read_ip(struct decoder *decoder, const struct event_kind *kind, struct cursor *cursor,
		    struct sample *sample)
{
	sample->address = cursor_u64(cursor);
	(void)decoder, (void)kind;
}

static void read_tid(struct decoder *decoder, const struct event_kind *kind, struct cursor *cursor,
		     struct sample *sample)
{
	sample->pid = cursor_u32(cursor);
	sample->tid = cursor_u32(cursor);
	(void)decoder, (void)kind;
}

static void read_time(struct decoder *decoder, const struct event_kind *kind, struct cursor *cursor,
		      struct sample *sample)
{
	sample->time_ns = cursor_u64(cursor);
	(void)decoder, (void)kind;
}

static void read_cgroup(struct decoder *decoder, const struct event_kind *kind,
			struct cursor *cursor, struct sample *sample)
{
	sample->cgroup = cursor_u64(cursor);
	(void)decoder, (void)kind;
}

static void read_data_address(struct decoder *decoder, const struct event_kind *kind,
			      struct cursor *cursor, struct sample *sample)
{
	sample->data_address = cursor_u64(cursor);
	(void)decoder, (void)kind;
}

static void read_cpu(struct decoder *decoder, const struct event_kind *kind, struct cursor *cursor,
		     struct sample *sample)
{
	u32 count;

	sample->cpu = cursor_u32(cursor);
	count = cursor_u32(cursor); /* reserved, but for ours */
	if (decoder->is_ours)
		sample->count = count;
	(void)kind;
}

static void read_period(struct decoder *decoder, const struct event_kind *kind,
			struct cursor *cursor, struct sample *sample)
{
	sample->weight = cursor_u64(cursor);
	(void)decoder, (void)kind;
}

/* A group says its size, then the times, then a value of each member; a single counter its value,
 * then the times. */
static struct counter_value read_counter(struct decoder *decoder, struct cursor *cursor, u64 format,
					 bool is_first)
{
	struct counter_value counter = {0};

	if (!(format & READ_GROUP))
		counter.value = cursor_u64(cursor);
	if (is_first && (format & READ_ENABLED))
		decoder->time_enabled = cursor_u64(cursor);
	if (is_first && (format & READ_RUNNING))
		decoder->time_running = cursor_u64(cursor);
	if (format & READ_GROUP)
		counter.value = cursor_u64(cursor);
	if (format & READ_ID)
		counter.id = cursor_u64(cursor);
	if (format & READ_LOST)
		counter.lost = cursor_u64(cursor);
	return counter;
}

/* One counter's value, or one of each member of the group. */
static void read_counters(struct decoder *decoder, const struct event_kind *kind,
			  struct cursor *cursor, struct sample *sample)
{
	u64 format = kind->attr.read_format;
	u64 count = format & READ_GROUP ? cursor_u64(cursor) : 1;

	decoder->counters.count = 0;
	for (u64 i = 0; i < count && !cursor->overrun; i++)
		*vec_add(&decoder->counters) = read_counter(decoder, cursor, format, i == 0);
	(void)sample;
}

static u64 word_at(const struct decoder *decoder, const u8 *words, size_t index)
{
	return decode_word(decoder, words + index * sizeof(u64));
}

/* What a marker says about the frames behind it; false: no marker we know. */
static bool marker_space(u64 marker, u8 *ret_space)
{
	static const struct {
		u64 marker;
		u8 space;
	} markers[] = {
		{CONTEXT_KERNEL, SPACE_KERNEL},
		{CONTEXT_USER, SPACE_USER},
		{CONTEXT_USER_DEFERRED, SPACE_USER},
		{CONTEXT_HYPERVISOR, SPACE_HYPERVISOR},
		{CONTEXT_GUEST_KERNEL, SPACE_GUEST_KERNEL},
		{CONTEXT_GUEST_USER, SPACE_GUEST_USER},
	};

	for (size_t i = 0; i < ARRAY_COUNT(markers); i++) {
		if (markers[i].marker != marker)
			continue;
		*ret_space = markers[i].space;
		return true;
	}
	return false;
}

/* Whether the reader does without the frames: it had them before, or never wants them. */
static bool is_chain_known(const struct decoder *decoder, const struct event_kind *kind,
			   const struct sample *sample)
{
	bool may_be = sample->chain_key || (decoder->skips_chains && kind->chain_at);

	return may_be && decoder->reader && sink_call(decoder->reader, knows_chain, sample);
}

/* Puts the frames of a stack that came in a record of its own behind those that are there; `frame`
 * is where the next one goes. */
static struct frame *read_deferred(struct decoder *decoder, struct bytes stack, struct frame *frame)
{
	size_t count = stack.length / sizeof(u64);

	decoder->frames.count = (size_t)(frame - decoder->frames.items);
	vec_reserve(&decoder->frames, count);
	frame = decoder->frames.items + decoder->frames.count;
	for (size_t i = 0; i < count; i++) {
		u64 word = word_at(decoder, stack.start, i);

		if (word < CONTEXT_MAX)
			*frame++ = (struct frame){.address = word, .space = SPACE_USER};
	}
	return frame;
}

static void read_frames(struct decoder *decoder, const struct event_kind *kind, const u8 *words,
			u64 count, struct sample *sample)
{
	u8 space = SPACE_USER; /* as perf takes a chain that begins without a marker */
	struct bytes deferred = {0};
	struct frame *frame;

	decoder->frames.count = 0;
	vec_reserve(&decoder->frames, count);
	frame = decoder->frames.items;
	for (size_t i = 0; i < count; i++) {
		u64 word = word_at(decoder, words, i);

		if (word < CONTEXT_MAX) {
			*frame++ = (struct frame){.address = word, .space = space};
			continue;
		}
		/* perf drops the whole chain of a sample whose markers make no sense, unless the
		 * LBR replaces what is behind them */
		if (!marker_space(word, &space)) {
			if (!(kind->attr.branch_sample_type & BRANCH_CALL_STACK))
				return;
			break;
		}
		if (word == CONTEXT_USER_DEFERRED && ++i < count)
			deferred = deferred_find(decoder->deferred, word_at(decoder, words, i));
		if (deferred.start)
			break; /* the kernel writes nothing behind it */
	}
	if (deferred.start)
		frame = read_deferred(decoder, deferred, frame);
	sample->frames = decoder->frames.items;
	sample->frame_count = (u16)(frame - decoder->frames.items);
}

static void read_chain(struct decoder *decoder, const struct event_kind *kind,
		       struct cursor *cursor, struct sample *sample)
{
	u64 count = cursor_u64(cursor);
	const u8 *words = count <= RECORD_MAX_BYTES ? cursor_take(cursor, count * sizeof(u64))
						    : NULL;

	sample->has_chain = true;
	if (!words) {
		cursor->overrun = true;
		return;
	}
	decoder->details.chain = (struct bytes){words, count * sizeof(u64)};
	sample->is_known = is_chain_known(decoder, kind, sample);
	if (!sample->is_known)
		read_frames(decoder, kind, words, count, sample);
}

static struct bytes take_bytes(struct cursor *cursor, u64 count)
{
	const u8 *start = cursor_take(cursor, count);

	return (struct bytes){start, start ? count : 0};
}

/* A count and that many bytes. */
static void read_raw(struct decoder *decoder, const struct event_kind *kind, struct cursor *cursor,
		     struct sample *sample)
{
	decoder->details.raw = take_bytes(cursor, cursor_u32(cursor));
	(void)kind, (void)sample;
}

static void read_branches(struct decoder *decoder, const struct event_kind *kind,
			  struct cursor *cursor, struct sample *sample)
{
	u64 count = cursor_u64(cursor), bits = kind->attr.branch_sample_type;
	const u8 *words;

	if (bits & BRANCH_HW_INDEX)
		sample->hw_idx = cursor_u64(cursor);
	words = count <= RECORD_MAX_BYTES ? cursor_take(cursor, count * 3 * sizeof(u64)) : NULL;
	if (!words) {
		cursor->overrun = true;
		return;
	}
	if (bits & BRANCH_COUNTERS)
		cursor_take(cursor, count * sizeof(u64));
	if (sample->is_known && bits & BRANCH_CALL_STACK)
		return; /* part of the chain */
	decoder->branches.count = 0;
	vec_reserve(&decoder->branches, count);
	for (size_t i = 0; i < count; i++) {
		u64 flags = word_at(decoder, words, 3 * i + 2);

		decoder->branches.items[i] = (struct branch){
			.from = word_at(decoder, words, 3 * i),
			.to = word_at(decoder, words, 3 * i + 1),
			.flags = decoder->swap ? branch_flags_turned(flags) : flags,
		};
	}
	sample->branches = decoder->branches.items;
	sample->branch_count = (u16)count;
}

/* The words of registers, and their ABI; no words: none were recorded at that moment. */
static struct registers read_registers(struct cursor *cursor, u64 mask)
{
	struct registers registers = {.abi = cursor_u64(cursor), .mask = mask};

	if (registers.abi)
		registers.words = cursor_take(cursor,
					      (u64)__builtin_popcountll(mask) * sizeof(u64));
	return registers;
}

/* The words in our byte order, where they are in the other one. */
static void turn_registers(const struct decoder *decoder, register_words *list,
			   struct registers *registers)
{
	u32 count = (u32)__builtin_popcountll(registers->mask);

	if (!decoder->swap || !registers->words || !count)
		return;
	list->count = 0;
	for (u32 i = 0; i < count; i++)
		*vec_add(list) = word_at(decoder, registers->words, i);
	registers->words = (const u8 *)list->items;
}

static void read_user_registers(struct decoder *decoder, const struct event_kind *kind,
				struct cursor *cursor, struct sample *sample)
{
	struct registers registers = read_registers(cursor, kind->attr.regs_user);

	turn_registers(decoder, &decoder->registers, &registers);
	decoder->details.user_registers = registers;
	if (!registers.words || registers.abi > USER_ABI_64)
		return;
	sample->user_abi = (u8)registers.abi;
	sample->user_registers = registers.words;
}

static void read_interrupt_registers(struct decoder *decoder, const struct event_kind *kind,
				     struct cursor *cursor, struct sample *sample)
{
	struct registers registers = read_registers(cursor, kind->attr.regs_interrupt);

	turn_registers(decoder, &decoder->interrupt_registers, &registers);
	decoder->details.interrupt_registers = registers;
	(void)sample;
}

/* The kernel leaves room for as much as was asked for, and says behind it how much it filled. */
static void read_user_stack(struct decoder *decoder, const struct event_kind *kind,
			    struct cursor *cursor, struct sample *sample)
{
	u64 bytes = cursor_u64(cursor), filled;
	const u8 *stack = bytes ? cursor_take(cursor, bytes) : NULL;

	if (!stack)
		return;
	filled = cursor_u64(cursor);
	if (filled > bytes)
		cursor->overrun = true;
	decoder->details.user_stack_room = bytes;
	sample->user_stack = stack;
	sample->stack_bytes = (u32)filled;
	sample->stack_is_full = filled == bytes;
	(void)kind;
}

static void read_aux(struct decoder *decoder, const struct event_kind *kind, struct cursor *cursor,
		     struct sample *sample)
{
	decoder->details.aux = take_bytes(cursor, cursor_u64(cursor));
	(void)kind, (void)sample;
}

/* Three numbers in one word; the first is the weight. */
static void read_weights(struct decoder *decoder, const struct event_kind *kind,
			 struct cursor *cursor, struct sample *sample)
{
	decoder->details.weight = cursor_u32(cursor);
	decoder->details.instruction_latency = cursor_u16(cursor);
	decoder->details.pipeline_stage_cycles = cursor_u16(cursor);
	(void)kind, (void)sample;
}

enum { BIT_WEIGHT = 14, BIT_WEIGHT_STRUCT = 24 };

/* In the order of the bytes. Bits may share a place (weight). */
static const struct {
	u8 bit;
	sample_step *step;
} steps[] = {
	{16, read_id}, /* IDENTIFIER */
	{0, read_ip},
	{1, read_tid},
	{2, read_time},
	{3, read_data_address},
	{6, read_id}, /* ID */
	{9, read_stream_id},
	{7, read_cpu},
	{8, read_period},
	{4, read_counters},
	{5, read_chain},
	{10, read_raw},
	{11, read_branches},
	{12, read_user_registers},
	{13, read_user_stack},
	{BIT_WEIGHT, read_weight},
	{BIT_WEIGHT_STRUCT, read_weights},
	{15, read_data_source},
	{17, read_transaction},
	{18, read_interrupt_registers},
	{19, read_physical_address},
	{21, read_cgroup},
	{22, read_data_page_bytes},
	{23, read_code_page_bytes},
	{20, read_aux},
};
_Static_assert(ARRAY_COUNT(steps) == SAMPLE_STEPS_MAX, "one step for each bit of sample_type");

void sample_steps_of(u64 sample_type, sample_step *ret_steps[SAMPLE_STEPS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_COUNT(steps); i++)
		if (sample_type & (1ull << steps[i].bit))
			ret_steps[count++] = steps[i].step;
	if (count < SAMPLE_STEPS_MAX)
		ret_steps[count] = NULL;
}

int decode_sample(struct decoder *decoder, struct bytes record, struct sample *ret_sample)
{
	const struct event_kind *kind = decode_kind(decoder, record);
	struct cursor cursor = cursor_of(record);
	struct record_header header;

	if (!kind)
		return -ENOENT;
	header = decode_header(decoder, cursor.next);
	cursor.next += sizeof(header);
	cursor.swap = decoder->swap;
	*ret_sample = (struct sample){
		/* what perf assumes of events that record no period */
		.weight = kind->attr.period_or_frequency,
		.source = (u32)(kind - decoder->kinds.items),
		.pid = ~0u,
		.tid = ~0u,
		.cpu = ~0u,
		.space = header.misc & MISC_CPUMODE,
		.hw_idx = ~0ull,
		.record = record.start,
		.chain_key = decoder->chain_key,
	};
	decoder->details.misc = header.misc;
	if (decoder->is_ours) {
		ret_sample->cut = header.misc >> MISC_CUT_SHIFT & MISC_CUT_MASK;
		ret_sample->walked = header.misc >> MISC_WALK_SHIFT & MISC_WALK_MASK;
	}
	decoder->counters.count = 0;
	decoder->sample_id = 0;
	for (size_t i = 0; i < SAMPLE_STEPS_MAX && kind->steps[i]; i++)
		kind->steps[i](decoder, kind, &cursor, ret_sample);
	return cursor.overrun ? -EBADMSG : 0;
}
