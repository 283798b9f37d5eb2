/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The call-stack LBR and the true call stack of a running program; see model.h. */
#include "model.h"

enum { LOG_VERSION = 1, WORD = sizeof(u64) };

static const u8 ring_sizes[RING_SIZES] = {8, 16, 32, 64, 128};

static void flush(struct model *model)
{
	model->machine->write(model->log, model->log_words * WORD);
	model->log_words = 0;
}

static void put(struct model *model, u64 word)
{
	if (model->log_words == LOG_WORDS)
		flush(model);
	model->log[model->log_words++] = word;
}

static void put_header(struct model *model, enum log_kind kind, u64 words)
{
	put(model, kind | words << 8);
}

/* xorshift64*; Source: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators".
 */
static u64 next_random(struct model *model)
{
	model->random ^= model->random >> 12;
	model->random ^= model->random << 25;
	model->random ^= model->random >> 27;
	return (model->random * 0x2545f4914f6cdd1dULL) >> 32;
}

/* Three quarters to five quarters of the period, so that no loop can keep in step with it. */
static void plan_next(struct model *model)
{
	model->interval = model->period * 3 / 4 + next_random(model) % (model->period / 2);
	model->countdown = model->interval;
}

void model_start(struct model *model, u32 pid, u64 period, u64 seed)
{
	model->period = period;
	model->random = seed * 0x9e3779b97f4a7c15ULL + 1;
	put_header(model, LOG_START, 3);
	put(model, LOG_VERSION);
	put(model, pid);
	put(model, period);
	plan_next(model);
}

static u64 now(const struct model *model)
{
	return model->time + model->interval - model->countdown;
}

void model_mapping(struct model *model, u64 start, u64 bytes, u64 file_offset, const char *path)
{
	size_t length = 0;

	while (path[length])
		length++;
	put_header(model, LOG_MAP, 4 + length / WORD + 1);
	put(model, now(model));
	put(model, start);
	put(model, bytes);
	put(model, file_offset);
	for (size_t at = 0; at <= length; at += WORD) {
		u64 word = 0;

		for (size_t byte = 0; byte < WORD && at + byte < length; byte++)
			word |= (u64)(u8)path[at + byte] << (byte * 8);
		put(model, word);
	}
}

void model_thread(struct model *model, struct thread *thread, u32 tid, u32 parent_tid)
{
	thread->tid = tid;
	thread->is_known = true;
	put_header(model, LOG_THREAD, 3);
	put(model, now(model));
	put(model, tid);
	put(model, parent_tid);
}

/* --- the registers
 * -------------------------------------------------------------------------------- */

static void ring_push(struct thread *thread, struct call call)
{
	thread->depth++;
	thread->ring[thread->depth & (RING_ENTRIES - 1)] = call;
	for (u32 i = 0; i < RING_SIZES; i++)
		if (thread->depth - thread->base[i] > ring_sizes[i])
			thread->base[i] = thread->depth - ring_sizes[i];
}

static void ring_pop(struct thread *thread)
{
	thread->depth--;
	if (thread->lowest > thread->depth)
		thread->lowest = thread->depth;
	for (u32 i = 0; i < RING_SIZES; i++)
		if (thread->base[i] > thread->depth)
			thread->base[i] = thread->depth;
}

/* --- the true stack
 * ------------------------------------------------------------------------------- */

static void drop_top(struct model *model, struct thread *thread)
{
	struct frame *frame = thread->top;

	thread->top = frame->caller;
	model->machine->release(frame);
}

static bool is_on_stack(const struct thread *thread, u64 address)
{
	return address >= thread->stack_start && address < thread->stack_end;
}

/* Frames below `sp` have ended: returned from, jumped over, unwound. */
static void drop_below(struct model *model, struct thread *thread, u64 sp)
{
	while (thread->top && is_on_stack(thread, thread->top->slot) && thread->top->slot < sp)
		drop_top(model, thread);
}

static void park(struct thread *thread)
{
	if (!thread->top)
		return;
	if (thread->parked_count == PARKED_MAX) { /* the oldest is given up */
		thread->parked_count--;
		for (u32 i = 0; i < thread->parked_count; i++)
			thread->parked[i] = thread->parked[i + 1];
	}
	thread->parked[thread->parked_count++] = thread->top;
}

/* Goes on with the parked stack `index`, from its frame `frame` on. */
static void unpark(struct model *model, struct thread *thread, u32 index, struct frame *frame)
{
	struct frame *top = thread->parked[index];

	thread->parked_count--;
	for (; index < thread->parked_count; index++)
		thread->parked[index] = thread->parked[index + 1];
	park(thread);
	thread->top = top;
	while (thread->top != frame)
		drop_top(model, thread);
}

static bool is_alive(const struct model *model, const struct frame *frame)
{
	u64 back;

	return model->machine->read(frame->slot, &back) && back == frame->back;
}

/* Looks among the stacks left for a frame with its return address in `from` … `to`. */
static bool resume_parked(struct model *model, struct thread *thread, u64 from, u64 to)
{
	for (u32 i = thread->parked_count; i-- > 0;)
		for (struct frame *frame = thread->parked[i]; frame; frame = frame->caller)
			if (frame->slot >= from && frame->slot < to && is_alive(model, frame)) {
				unpark(model, thread, i, frame);
				return true;
			}
	return false;
}

/* The stack pointer is `sp` now; finds out which frames are still there. */
static void follow(struct model *model, struct thread *thread, u64 sp)
{
	struct frame *frame;

	if (is_on_stack(thread, sp)) {
		drop_below(model, thread, sp);
		return;
	}
	if (!model->machine->find_mapping(sp, &thread->stack_start, &thread->stack_end))
		return;
	/* The stack grew, or a signal's own stack was left: a frame further out is on this one. */
	for (frame = thread->top; frame; frame = frame->caller)
		if (is_on_stack(thread, frame->slot) && frame->slot >= sp)
			break;
	if (frame) {
		while (thread->top != frame)
			drop_top(model, thread);
		return;
	}
	drop_below(model, thread, sp);
	if (resume_parked(model, thread, sp, thread->stack_end))
		return;
	park(thread);
	thread->top = NULL;
}

static void push_frame(struct model *model, struct thread *thread, const struct frame *values)
{
	struct frame *frame = model->machine->allocate(sizeof(*frame));

	*frame = *values;
	frame->caller = thread->top;
	thread->top = frame;
}

void model_call(struct model *model, struct thread *thread, struct call call, u64 back, u64 slot)
{
	model->calls++;
	if (call.to == back)
		return;
	ring_push(thread, call);
	follow(model, thread, slot + WORD);
	push_frame(model, thread, &(struct frame){.call = call, .slot = slot, .back = back});
}

/* A RET that is not the newest call's: frames were jumped over, or this is a stack that was left,
 * or a new one. */
static void return_elsewhere(struct model *model, struct thread *thread, u64 slot)
{
	if (resume_parked(model, thread, slot, slot + 1))
		model->machine->find_mapping(slot, &thread->stack_start, &thread->stack_end);
	else
		follow(model, thread, slot);
}

void model_return(struct model *model, struct thread *thread, u64 slot)
{
	struct frame *top;

	model->returns++;
	ring_pop(thread);
	if (!thread->top || thread->top->slot != slot)
		return_elsewhere(model, thread, slot);
	top = thread->top;
	if (!top || top->slot != slot)
		return;
	if (!top->is_signal)
		drop_top(model, thread);
	else
		top->slot = slot + WORD; /* a handler: its frame is there until sigreturn() */
}

void model_signal(struct model *model, struct thread *thread, struct call call, u64 sp, u64 slot)
{
	u64 back = 0;

	follow(model, thread, sp);
	if (!is_on_stack(thread, slot))
		model->machine->find_mapping(slot, &thread->stack_start, &thread->stack_end);
	model->machine->read(slot, &back);
	push_frame(model, thread,
		   &(struct frame){.call = call, .slot = slot, .back = back, .is_signal = true});
}

void model_signal_end(struct model *model, struct thread *thread)
{
	if (!thread->top || !thread->top->is_signal)
		return;
	drop_top(model, thread);
	if (thread->top)
		model->machine->find_mapping(thread->top->slot, &thread->stack_start,
					     &thread->stack_end);
}

/* --- samples
 * -------------------------------------------------------------------------------------- */

/* As the kernel walks a user stack: pairs of (next frame pointer, return address).
 * Source: arch/x86/events/core.c, perf_callchain_user(), Linux 6.1. */
static u32 walk_frame_pointers(const struct model *model, u64 frame_pointer, u64 *chain)
{
	u32 count = 0;
	u64 next;

	while (count < CHAIN_MAX - 1 && model->machine->read(frame_pointer, &next) &&
	       model->machine->read(frame_pointer + WORD, &chain[count])) {
		count++;
		frame_pointer = next;
	}
	return count;
}

static u32 count_callers(struct model *model, const struct thread *thread)
{
	u32 count = 0;

	for (const struct frame *frame = thread->top; frame; frame = frame->caller, count++)
		if (!frame->is_signal && !is_alive(model, frame))
			model->misfits++;
	return count;
}

static void put_callers(struct model *model, const struct thread *thread)
{
	for (const struct frame *frame = thread->top; frame; frame = frame->caller) {
		put(model, frame->call.from | (frame->is_signal ? 1ULL << 63 : 0));
		put(model, frame->call.to);
		put(model, frame->back);
	}
}

static void put_registers(struct model *model, const struct thread *thread, u32 entries)
{
	for (u32 i = 0; i < entries; i++) {
		const struct call *call = &thread->ring[(thread->depth - i) & (RING_ENTRIES - 1)];

		put(model, call->from);
		put(model, call->to);
	}
}

void model_sample(struct model *model, struct thread *thread, u64 ip, u64 sp, u64 frame_pointer)
{
	u64 chain[CHAIN_MAX], held = 0, entries, callers, walked;

	follow(model, thread, sp);
	for (u32 i = 0; i < RING_SIZES; i++)
		held |= (u64)(thread->depth - thread->base[i]) << (i * 8);
	entries = thread->depth - thread->base[RING_SIZES - 1];
	callers = count_callers(model, thread);
	walked = walk_frame_pointers(model, frame_pointer, chain);

	put_header(model, LOG_SAMPLE, 7 + 2 * entries + 3 * callers + walked);
	put(model, now(model));
	put(model, thread->tid);
	put(model, ip);
	put(model, thread->depth);
	put(model, thread->lowest);
	put(model, held);
	put(model, entries | callers << 16 | walked << 48);
	put_registers(model, thread, entries);
	put_callers(model, thread);
	for (u64 i = 0; i < walked; i++)
		put(model, chain[i]);

	thread->lowest = thread->depth;
	model->time += model->interval;
	plan_next(model);
}

void model_end(struct model *model)
{
	put_header(model, LOG_END, 4);
	put(model, now(model));
	put(model, model->calls);
	put(model, model->returns);
	put(model, model->misfits);
	flush(model);
}

bool model_is_repeated(const u8 *code)
{
	bool has_repeat = false;

	/* Prefixes: REP, REPNE, operand size, address size, REX. */
	for (; *code == 0xf3 || *code == 0xf2 || *code == 0x66 || *code == 0x67 ||
	       (*code & 0xf0) == 0x40;
	     code++)
		has_repeat |= *code == 0xf3 || *code == 0xf2;
	return has_repeat && ((*code >= 0xa4 && *code <= 0xa7) ||
			      (*code >= 0xaa && *code <= 0xaf) || (*code >= 0x6c && *code <= 0x6f));
}
