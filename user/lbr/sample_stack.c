/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes a sample apart, lets its stack be found, puts it together again.
 */
#include "lbr/stitcher.h"

#include <string.h>
#include <xxhash.h>

/* --- parts of samples --- */

static void add_frame(struct lbr_stitcher *stitcher, u64 address, u8 origin)
{
	*vec_add(&stitcher->frames) = (struct frame){
		.address = address, .space = SPACE_USER, .origin = origin};
}

static void copy_frames(struct lbr_stitcher *stitcher, const struct frame *frames, u32 count)
{
	for (u32 i = 0; i < count; i++)
		*vec_add(&stitcher->frames) = frames[i];
}

/* perf takes the leaf from where the newest call led, which is another function after a tail jump.
 * Where there is no entry it has no leaf either (or, callees first, perf 6.1 takes it from what
 * lies behind the record). Its callers are no return addresses, so no frame says that it is one. */
static void show_plain(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	if (!sample->branch_count)
		return;
	add_frame(stitcher, sample->branches[0].to, ORIGIN_UNKNOWN);
	for (u32 i = 0; i < sample->branch_count; i++) {
		add_frame(stitcher, sample->branches[i].from, ORIGIN_UNKNOWN);
		*vec_add(&stitcher->calls) = sample->branches[i].from;
	}
}

u32 stitcher_depth(const struct lbr_stitcher *stitcher)
{
	u32 depth = 8;

	if (stitcher->settings.depth && stitcher->settings.depth >= stitcher->deepest &&
	    stitcher->settings.depth <= LENGTHS_MAX)
		return stitcher->settings.depth;
	while (depth < stitcher->deepest && depth < LENGTHS_MAX)
		depth *= 2;
	return depth;
}

static struct snapshot snapshot_of(struct lbr_stitcher *stitcher, const struct sample *sample,
				   u32 kernel)
{
	return (struct snapshot){
		.pid = sample->pid,
		.tid = sample->tid,
		.time_ns = sample->time_ns,
		.leaf = sample->frames[kernel].address,
		.leaf_place = places_leaf(stitcher->places, sample->pid,
					  sample->frames[kernel].address),
		.callers = sample->frames + kernel + 1,
		.caller_count = sample->frame_count - kernel - 1,
		.is_unwound = sample->walked & WALK_EH_FRAME,
		.entries = sample->branches,
		.entry_count = sample->branch_count,
		.hw_idx = sample->hw_idx,
		.depth = stitcher_depth(stitcher),
	};
}

static void show_stack(struct lbr_stitcher *stitcher, u64 leaf, const struct memo_stack *stack)
{
	struct frame *frames;

	add_frame(stitcher, leaf, ORIGIN_UNKNOWN);
	vec_reserve(&stitcher->frames, stack->count);
	frames = stitcher->frames.items + stitcher->frames.count;
	for (u32 i = 0; i < stack->count; i++)
		frames[i] = memo_frame(stack->calls[i]);
	stitcher->frames.count += stack->count;
	stitcher->shown = *stack;
}

/* --- learning --- */

static void learn_thread(struct lbr_stitcher *stitcher, const struct snapshot *snapshot, u64 key)
{
	const struct walked walked = {stitcher->places, snapshot, &stitcher->stack};
	struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);

	if (thread)
		threads_learn(stitcher->threads, thread, &walked, key);
}

static void learn(struct lbr_stitcher *stitcher, const struct snapshot *snapshot, u64 key)
{
	const struct stack *stack = &stitcher->stack;

	learn_thread(stitcher, snapshot, key);
	for (u32 i = 0; i < stack->count; i++)
		graph_add(stitcher->graph, stack_frame(snapshot, stack, i), stack->calls[i].entry,
			  stack->calls[i].place);
	if (stack->end == LBR_END_WHOLE)
		graph_add_outermost(stitcher->graph, stack_frame(snapshot, stack, stack->count));
}

/* A deeper snapshot may say that there are more registers. */
static void see_depth(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	if (sample->branch_count <= stitcher->deepest)
		return;
	stitcher->deepest = sample->branch_count;
	stitcher->lessons++;
}

static struct evidence evidence_of(const struct lbr_stitcher *stitcher,
				   const struct snapshot *snapshot)
{
	return (struct evidence){stitcher->places, threads_at(stitcher->threads, snapshot->tid),
				 snapshot};
}

void stitcher_learn(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	struct snapshot snapshot;
	struct evidence evidence;

	see_depth(stitcher, sample);
	snapshot = snapshot_of(stitcher, sample, sample_kernel_frames(sample));
	walk(stitcher->places, &snapshot, &stitcher->stack);
	learn(stitcher, &snapshot, stitcher->key);
	evidence = evidence_of(stitcher, &snapshot);
	if (evidence.thread)
		evidence_note(&evidence, &stitcher->stack);
}

bool stitcher_knows(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	struct snapshot snapshot = snapshot_of(stitcher, sample, sample_kernel_frames(sample));
	const struct evidence evidence = evidence_of(stitcher, &snapshot);

	return sample->branch_count <= stitcher->deepest && evidence.thread &&
	       evidence_is_known(&evidence);
}

/* --- finding --- */

/* Of what decides in a thread over what is behind a stack, but for where its functions always were;
 * 0: there is no thread. */
static u64 thread_key(const struct lbr_stitcher *stitcher, struct thread_facts *thread, u64 time_ns)
{
	bool has_constant;

	if (!thread)
		return 0;
	has_constant = thread_has_constant(thread, time_ns);
	if (!stitcher->has_learned_all)
		return (u64)thread->id << 1 | has_constant;
	return 1 + (u64)thread_is_balanced(thread) + 2 * (has_constant ? thread->constant + 1 : 0);
}

/* Whether the last sample of which it was asked was of the same thread, which is still what it was,
 * and there is nothing more to learn. */
static bool variant_holds(const struct lbr_stitcher *stitcher, const struct sample *sample)
{
	const struct variant *last = &stitcher->variant;

	return stitcher->has_learned_all && stitcher->variant_tid == sample->tid &&
	       last->pid == sample->pid && sample->time_ns >= stitcher->variant_span.first_ns &&
	       sample->time_ns <= stitcher->variant_span.last_ns &&
	       last->rests_forgotten == rests_forgotten(stitcher->rests) &&
	       last->generation == places_generation(stitcher->places, sample->pid);
}

u64 stitcher_variant(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	struct thread_facts *thread;
	struct variant now;

	if (variant_holds(stitcher, sample))
		return stitcher->variant_key;
	thread = threads_at(stitcher->threads, sample->tid);
	now = (struct variant){
		.pid = sample->pid,
		.rests_forgotten = rests_forgotten(stitcher->rests),
		.generation = places_generation(stitcher->places, sample->pid),
		.thread_key = thread_key(stitcher, thread, sample->time_ns),
	};
	if (memcmp(&now, &stitcher->variant, sizeof(now)) != 0) {
		stitcher->variant = now;
		stitcher->variant_key = XXH3_64bits(&now, sizeof(now));
	}
	stitcher->variant_tid = sample->tid;
	stitcher->variant_span = thread ? thread_span(thread, sample->time_ns)
					: (struct time_span){0, UINT64_MAX};
	return stitcher->variant_key;
}

/* Adds calls of `stack` to those that are packed already. */
static void pack(struct lbr_stitcher *stitcher, u32 first)
{
	const struct stack *stack = &stitcher->stack;
	u64 *calls;

	vec_reserve(&stitcher->packed, stack->count - first);
	calls = stitcher->packed.items + stitcher->packed.count;
	for (u32 i = first; i < stack->count; i++)
		*calls++ = memo_packed(&stack->calls[i]);
	stitcher->packed.count += stack->count - first;
}

/* Of all that a rest depends on. */
static u64 rest_key(struct lbr_stitcher *stitcher, const struct extension *extension)
{
	const struct snapshot *snapshot = extension->snapshot;
	const struct stack *stack = extension->stack;
	bool has_slot = snapshot->hw_idx != ~0ULL;
	const u64 parts[] = {
		snapshot->pid,
		thread_key(stitcher, extension->thread, snapshot->time_ns),
		places_generation(stitcher->places, snapshot->pid),
		(u64)snapshot->depth << 32 | stack_frame(snapshot, stack, stack->count),
		(u64)(has_slot ? stack_slot(snapshot, stack->count) : ~0U) << 32 |
			(u32)stack->end << 1 | stack->is_shifted,
	};

	return XXH3_64bits(parts, sizeof(parts));
}

static struct slots slots_of(const struct snapshot *snapshot, const struct stack *stack, u32 index)
{
	if (snapshot->hw_idx == ~0ULL || stack->is_shifted)
		return (struct slots){0};
	return (struct slots){stack_slot(snapshot, index), snapshot->depth};
}

/* Finds the calls behind the stack, which is packed, and packs them. `ret_looked_at` as
 * extend_to_start(). */
static struct rest find_new_rest(struct lbr_stitcher *stitcher, const struct extension *extension,
				 u32 *ret_looked_at)
{
	const struct snapshot *snapshot = extension->snapshot;
	struct stack *stack = extension->stack;
	u32 first = stack->count;

	*ret_looked_at = extend_to_start(extension);
	pack(stitcher, first);
	stitcher->bodies.count = 0;
	for (u32 i = first; i < stack->count; i++)
		*vec_add(&stitcher->bodies) =
			places_at(stitcher->places, stack_frame(snapshot, stack, i))->body;
	return (struct rest){
		.calls = stitcher->packed.items + first,
		.bodies = stitcher->bodies.items,
		.count = stack->count - first,
		.slots = slots_of(snapshot, stack, first),
		.end = stack->end,
	};
}

/* Puts a rest behind the stack, which is packed. */
static void pack_rest(struct lbr_stitcher *stitcher, const struct rest *rest)
{
	vec_reserve(&stitcher->packed, rest->count);
	if (rest->count)
		memcpy(stitcher->packed.items + stitcher->packed.count, rest->calls,
		       rest->count * sizeof(*rest->calls));
	stitcher->packed.count += rest->count;
	stitcher->stack.end = rest->end;
}

bool stitcher_rest_fits(struct lbr_stitcher *stitcher, u32 rest, u32 tid, u64 time_ns)
{
	const struct thread_facts *thread = threads_at(stitcher->threads, tid);

	return !thread || rests_fit(stitcher->rests, rest, thread, time_ns);
}

/* Adds what is behind the stack, which is packed; of what can be kept, whether it fits or not.
 * Returns the number of the rest, see struct memo_stack. */
static u32 extend_packed(struct lbr_stitcher *stitcher, const struct extension *extension)
{
	enum { ROOM = STACK_CALLS_MAX / 2 };
	bool is_kept = extension->stack->count < ROOM;
	u32 first = extension->stack->count, number = 0, looked_at;
	u64 key = is_kept ? rest_key(stitcher, extension) : 0;
	struct rest rest;

	if (is_kept)
		number = rests_find(stitcher->rests, key);
	if (number) {
		rest = rests_at(stitcher->rests, number);
		pack_rest(stitcher, &rest);
	} else {
		rest = find_new_rest(stitcher, extension, &looked_at);
		if (is_kept && looked_at < ROOM)
			number = rests_keep(stitcher->rests, key, &rest);
	}
	if (number)
		return number;
	if (!rest_fits(&rest, extension->thread, extension->snapshot->time_ns)) {
		stitcher->packed.count = first;
		stitcher->stack.end = LBR_END_SEVERAL;
	}
	return REST_NOT_KEPT;
}

/* Returns as extend_packed(). */
static u32 extend(struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	struct stack *stack = &stitcher->stack;
	struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);
	struct extension extension = {stitcher->places, stitcher->graph, thread, snapshot, stack};

	if (stack->end != LBR_END_OVERWRITTEN && stack->end != LBR_END_EMPTY)
		return 0;
	if (stitcher->unlearned)
		atomic_store_explicit(&stitcher->unlearned->lacks_lessons, true,
				      memory_order_relaxed);
	/* Of half a recording nobody knows whom the other half shows. */
	if (!stitcher->has_learned_all || !thread || !thread_is_balanced(thread))
		return 0;
	graph_solve(stitcher->graph, snapshot->depth);
	return extend_packed(stitcher, &extension);
}

/* Where calls do not balance, registers are not believed behind frames that were unwound to where
 * something was missing: what they hold there was left without a return. */
static void leave_out_unwitnessed(struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	const struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);
	struct stack *stack = &stitcher->stack;

	if (!snapshot->is_unwound || !thread || thread_is_balanced(thread) ||
	    stack->count <= stack->sure)
		return;
	stack->count = stack->sure;
	stack->is_shifted = true;
	stack->end = LBR_END_CONTRADICTED;
}

/* `ret_stack` is borrowed until the next one is found. */
static void find_new_stack(struct lbr_stitcher *stitcher, const struct snapshot *snapshot,
			   struct memo_stack *ret_stack)
{
	u32 rest;

	walk(stitcher->places, snapshot, &stitcher->stack);
	if (!stitcher->has_learned_all)
		learn_thread(stitcher, snapshot, 0);
	leave_out_unwitnessed(stitcher, snapshot);
	stitcher->packed.count = 0;
	pack(stitcher, 0);
	rest = extend(stitcher, snapshot);
	*ret_stack = (struct memo_stack){
		.calls = stitcher->packed.items,
		.count = (u32)stitcher->packed.count,
		.rest = rest,
		.end = stitcher->stack.end,
		.by_hardware = stitcher->stack.by_hardware,
	};
}

/* Short stacks are walked in less time than it takes to find them among many. While learning goes
 * on, equal ones teach once. */
static bool is_worth_keeping(const struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	return !stitcher->has_learned_all || snapshot->caller_count > snapshot->entry_count;
}

static void find_snapshot(struct lbr_stitcher *stitcher, const struct sample *sample,
			  const struct snapshot *snapshot, struct memo_stack *ret_stack)
{
	u64 key;

	if (!is_worth_keeping(stitcher, snapshot)) {
		find_new_stack(stitcher, snapshot, ret_stack);
		return;
	}
	key = memo_key(snapshot, places_at(stitcher->places, snapshot->leaf_place),
		       stitcher_variant(stitcher, sample));
	if (memo_get(stitcher->memo, key, ret_stack))
		return;
	find_new_stack(stitcher, snapshot, ret_stack);
	if (ret_stack->rest != REST_NOT_KEPT)
		memo_put(stitcher->memo, key, ret_stack);
}

/* Takes the rest away again that does not fit the thread. */
static void fit_rest(struct lbr_stitcher *stitcher, const struct sample *sample,
		     struct memo_stack *stack)
{
	if (!stack->rest || stack->rest == REST_NOT_KEPT ||
	    stitcher_rest_fits(stitcher, stack->rest, sample->tid, sample->time_ns))
		return;
	stack->count -= rests_at(stitcher->rests, stack->rest).count;
	stack->end = LBR_END_SEVERAL;
}

static bool extend_likely(struct lbr_stitcher *stitcher, const struct snapshot *snapshot,
			  struct memo_stack *stack)
{
	struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);

	return thread && thread_is_balanced(thread) &&
	       likely_extend(stitcher->likely, thread->id, snapshot, stack);
}

static void find_stack(struct lbr_stitcher *stitcher, const struct sample *sample, u32 kernel)
{
	struct memo_stack stack;
	struct snapshot snapshot;
	bool is_likely;

	see_depth(stitcher, sample);
	snapshot = snapshot_of(stitcher, sample, kernel);
	find_snapshot(stitcher, sample, &snapshot, &stack);
	fit_rest(stitcher, sample, &stack);
	/* Before the outcome is told, as it changes the stack. */
	is_likely = stitcher->likely && extend_likely(stitcher, &snapshot, &stack);
	stitcher->outcome = (struct outcome){
		.is_likely = is_likely,
		.end = stack.end,
		.count = (u16)stack.count,
		.rest = stack.rest,
		.by_hardware = stack.by_hardware,
		.cut = lbr_cut_of(stack.end),
		.walked = sample->walked | WALK_LBR,
	};
	show_stack(stitcher, snapshot.leaf, &stack);
}

/* Whether the registers hold all calls of a stack that was unwound. */
static bool is_held(const struct sample *sample, u32 kernel)
{
	enum { CALL_BYTES_MAX = 15 };
	const struct frame *callers = sample->frames + kernel + 1;
	u32 count = sample->frame_count - kernel - 1U;

	if (sample->branch_count < count)
		return false;
	for (u32 i = 0; i < count; i++)
		if (callers[i].address - sample->branches[i].from - 1 >= CALL_BYTES_MAX)
			return false;
	return true;
}

/* A stack that was unwound to its end needs nothing from the registers. */
static void show_unwound(struct lbr_stitcher *stitcher, const struct sample *sample, u32 kernel)
{
	copy_frames(stitcher, sample->frames + kernel, sample->frame_count - kernel);
	for (u32 i = kernel + 1; i < sample->frame_count; i++) {
		place_id back = places_find(stitcher->places, sample->pid,
					    sample->frames[i].address);
		place_id call = places_call_before(stitcher->places, back);

		*vec_add(&stitcher->calls) = sample->frames[i].address -
					     (call ? places_at(stitcher->places, call)->call_bytes
						   : 0);
	}
	stitcher->outcome.end = LBR_END_WHOLE;
	stitcher->outcome.by_hardware = is_held(sample, kernel);
	stitcher->outcome.count = (u16)(sample->frame_count - kernel - 1U);
}

/* Not in user space, or no chain was asked for: perf takes what there is, too. */
void stitcher_find(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	u32 kernel = sample_kernel_frames(sample);

	stitcher->frames.count = 0;
	stitcher->outcome = (struct outcome){.cut = sample->cut, .walked = sample->walked};
	copy_frames(stitcher, sample->frames, kernel);
	if (kernel == sample->frame_count)
		return;
	if (stitcher->settings.tier == LBR_PLAIN)
		show_plain(stitcher, sample);
	else if (sample->walked & WALK_EH_FRAME && sample->cut == CUT_COMPLETE)
		show_unwound(stitcher, sample, kernel);
	else
		find_stack(stitcher, sample, kernel);
	stitcher->outcome.is_stack = true;
	stitcher->outcome.entry_count = sample->branch_count;
}
