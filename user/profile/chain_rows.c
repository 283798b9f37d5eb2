/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three short cuts, the cheapest first.
 *
 * Most chains were seen before: where the reader numbers equal chains, a chain is one probe, by its
 * number and the state of the mappings, and its frames are not even decoded. A thread's next chain
 * mostly shares its outer frames with its last one, so the last chain of (nearly) every thread is
 * kept and only what differs is looked up. That is two probes a frame: the location of the address
 * in the state of the mappings, then the row of (caller, location).
 */
#include "profile/chain_rows.h"

#include "base/memory.h"
#include "profile/row_index.h"

#include <string.h>

enum {
	DEFAULT_MAX_STACK = 127, /* sysctl kernel.perf_event_max_stack */
	LAST_CHAINS = 256,	 /* power of two */
	/* Both tables are caches: beyond a bound, starting again costs less than more memory. */
	FIRST_SLOTS = 1 << 10,
	MOST_KNOWN = 1 << 20,
	MOST_CALLERS = 1 << 19,
};

/* The last chain counted for some thread, outermost frame first. */
struct last_chain {
	u32 tid;
	struct mapping_states states;
	VEC(struct frame) frames;
	VEC(stack_id) stacks; /* the stack row up to each frame */
};

/* A caller's address in a state of the mappings. */
struct caller {
	u64 address;
	u64 state; /* see frame_state(); 0: the slot is free */
	location_id location;
	location_id place; /* the same, not told apart by virtual address */
};

struct chain_rows {
	struct locator *locator;
	struct builder_settings settings;
	struct profile *profile;
	struct known_chain *known; /* a slot with stack 0 is free */
	u32 known_count, known_slots;
	struct caller *callers;
	u32 caller_count, caller_slots;
	struct last_chain last_chains[LAST_CHAINS];
	VEC(struct stack_row) wanted; /* of the chain at hand */
};

struct chain_rows *chain_rows_new(const struct builder_settings *settings)
{
	struct chain_rows *rows = must_alloc(sizeof(*rows));

	rows->settings = *settings;
	if (!rows->settings.max_stack)
		rows->settings.max_stack = DEFAULT_MAX_STACK;
	return rows;
}

void chain_rows_free(struct chain_rows *rows)
{
	if (!rows)
		return;
	for (u32 i = 0; i < LAST_CHAINS; i++) {
		vec_release(&rows->last_chains[i].frames);
		vec_release(&rows->last_chains[i].stacks);
	}
	free(rows->known);
	free(rows->callers);
	vec_release(&rows->wanted);
	free(rows);
}

static void forget_known(struct chain_rows *rows, u32 slots)
{
	free(rows->known);
	rows->known = must_alloc_table(slots, sizeof(*rows->known));
	rows->known_slots = slots;
	rows->known_count = 0;
}

static void forget_callers(struct chain_rows *rows, u32 slots)
{
	free(rows->callers);
	rows->callers = must_alloc_table(slots, sizeof(*rows->callers));
	rows->caller_slots = slots;
	rows->caller_count = 0;
}

void chain_rows_begin(struct chain_rows *rows, struct locator *locator, struct profile *profile)
{
	rows->locator = locator;
	rows->profile = profile;
	forget_known(rows, FIRST_SLOTS);
	forget_callers(rows, FIRST_SLOTS);
	for (u32 i = 0; i < LAST_CHAINS; i++)
		rows->last_chains[i].frames.count = rows->last_chains[i].stacks.count = 0;
}

/* --- locations of callers --- */

/* Whether what is shown of an address without name is not the virtual address. */
static bool is_shown_relative(u8 kind)
{
	return kind == BINARY_FILE || kind == BINARY_OTHER || kind == BINARY_VDSO ||
	       kind == BINARY_MODULE;
}

static struct caller find_caller(struct chain_rows *rows, u32 pid, const struct frame *frame,
				 u64 state)
{
	const struct name_test *names = &rows->settings.names;
	struct profile *profile = rows->profile;
	location_id place = locator_find_anew(rows->locator, profile, pid, frame->address,
					      frame->space);
	binary_id binary = profile->locations.items[place].binary;
	struct caller caller = {
		.address = frame->address, .state = state, .location = place, .place = place};

	if (names->has_name && is_shown_relative(profile->binaries.items[binary].kind) &&
	    !names->has_name(names->context, profile, place))
		caller.location = profile_location_seen_at(profile, place, frame->address);
	return caller;
}

static u32 caller_place(const struct chain_rows *rows, u64 address, u64 state)
{
	return (u32)(hash_mix(state, address) >> 20) & (rows->caller_slots - 1);
}

/* The slot of the address, or a free one for it. */
static struct caller *caller_slot(const struct chain_rows *rows, u64 address, u64 state)
{
	u32 at = caller_place(rows, address, state);

	for (; rows->callers[at].state; at = (at + 1) & (rows->caller_slots - 1))
		if (rows->callers[at].address == address && rows->callers[at].state == state)
			break;
	return &rows->callers[at];
}

static void grow_callers(struct chain_rows *rows)
{
	struct caller *old = TAKE(rows->callers);
	u32 old_slots = rows->caller_slots;

	forget_callers(rows, old_slots < MOST_CALLERS ? old_slots * 2 : old_slots);
	for (u32 i = 0; rows->caller_slots > old_slots && i < old_slots; i++) {
		if (!old[i].state)
			continue;
		*caller_slot(rows, old[i].address, old[i].state) = old[i];
		rows->caller_count++;
	}
	free(old);
}

/* What a frame is looked up by besides its address; never 0. */
static u64 frame_state(const struct frame *frame, struct mapping_states states)
{
	return (frame->space == SPACE_USER ? states.user : states.kernel) << 8 | frame->space;
}

static struct caller caller_of(struct chain_rows *rows, u32 pid, const struct frame *frame,
			       u64 state)
{
	struct caller *slot = caller_slot(rows, frame->address, state);
	struct caller caller;

	if (slot->state)
		return *slot;
	caller = *slot = find_caller(rows, pid, frame, state);
	if (++rows->caller_count * 4 > rows->caller_slots * 3)
		grow_callers(rows);
	return caller;
}

/* --- chains by their frames --- */

static bool frames_equal(const struct frame *a, const struct frame *b)
{
	return a->address == b->address && a->space == b->space && a->origin == b->origin &&
	       a->mark == b->mark;
}

/* How many outer frames the chain shares with the last one of this thread. */
static u32 shared_frames(const struct last_chain *last, const struct frame *frames, u32 count)
{
	u32 shared = 0;

	while (shared < count && shared < last->frames.count &&
	       frames_equal(&last->frames.items[shared], &frames[count - 1 - shared]))
		shared++;
	return shared;
}

static bool states_equal(struct mapping_states a, struct mapping_states b)
{
	return a.user == b.user && a.kernel == b.kernel;
}

/* The rows of the frames of a chain from `done` on, outermost first, behind those of `last`.
 * Returns the innermost one's place. */
static location_id find_rest(struct chain_rows *rows, struct last_chain *last,
			     const struct sample *sample, u32 count)
{
	u32 done = (u32)last->frames.count, more = count - done;
	const struct frame *first = &sample->frames[more - 1];
	struct caller caller = {0};

	rows->wanted.count = 0;
	vec_reserve(&rows->wanted, more);
	vec_reserve(&last->frames, more);
	vec_reserve(&last->stacks, more);
	for (const struct frame *frame = first; frame >= sample->frames; frame--)
		__builtin_prefetch(&rows->callers[caller_place(rows, frame->address,
							       frame_state(frame, last->states))]);
	for (const struct frame *frame = first; frame >= sample->frames; frame--) {
		caller = caller_of(rows, sample->pid, frame, frame_state(frame, last->states));
		*vec_add(&rows->wanted) = (struct stack_row){
			.location = caller.location,
			.mark = frame->mark,
			.origin = frame->origin,
		};
		*vec_add(&last->frames) = *frame;
	}
	profile_stacks(rows->profile, done ? last->stacks.items[done - 1] : 0, rows->wanted.items,
		       more, last->stacks.items + done);
	last->stacks.count = count;
	return caller.place;
}

stack_id chain_rows_find(struct chain_rows *rows, const struct sample *sample,
			 struct mapping_states states, location_id *ret_place)
{
	struct last_chain *last = &rows->last_chains[sample->tid & (LAST_CHAINS - 1)];
	u32 count = sample->frame_count, done = 0;

	/* What is cut off is the outermost part. */
	if (count > rows->settings.max_stack)
		count = rows->settings.max_stack;
	if (last->tid == sample->tid && states_equal(last->states, states))
		done = shared_frames(last, sample->frames, count);
	last->tid = sample->tid;
	last->states = states;
	last->frames.count = last->stacks.count = done;
	*ret_place = done < count ? find_rest(rows, last, sample, count) : 0;
	return count ? last->stacks.items[count - 1] : 0;
}

/* --- chains by their keys --- */

/* The slot of a chain, or one for it: free, or of the same chain in a state that is given up. They
 * all have the key's place, so that it is known before the state is; there must not be many. */
static struct known_chain *known_slot(const struct chain_rows *rows, u64 key, u32 user, u32 kernel)
{
	enum { MOST_STATES = 8 };
	u32 mask = rows->known_slots - 1;
	u32 at = (u32)key & mask, states = 0;

	for (; rows->known[at].stack; at = (at + 1) & mask) {
		const struct known_chain *known = &rows->known[at];

		if (known->key != key)
			continue;
		if (known->user_state == user && known->kernel_state == kernel)
			break;
		if (++states == MOST_STATES)
			break;
	}
	return &rows->known[at];
}

void chain_rows_expect(const struct chain_rows *rows, u64 key)
{
	__builtin_prefetch(&rows->known[(u32)key & (rows->known_slots - 1)]);
}

struct known_chain *chain_rows_known(const struct chain_rows *rows, u64 key,
				     struct mapping_states states)
{
	u32 user = (u32)states.user, kernel = (u32)states.kernel;
	struct known_chain *known = known_slot(rows, key, user, kernel);
	bool is_it = known->stack && known->user_state == user && known->kernel_state == kernel;

	return is_it ? known : NULL;
}

static void grow_known(struct chain_rows *rows)
{
	struct known_chain *old = TAKE(rows->known);
	u32 old_slots = rows->known_slots;

	forget_known(rows, old_slots < MOST_KNOWN ? old_slots * 2 : old_slots);
	for (u32 i = 0; rows->known_slots > old_slots && i < old_slots; i++) {
		if (!old[i].stack)
			continue;
		*known_slot(rows, old[i].key, old[i].user_state, old[i].kernel_state) = old[i];
		rows->known_count++;
	}
	free(old);
}

struct known_chain *chain_rows_learn(struct chain_rows *rows, u64 key, stack_id stack,
				     struct mapping_states states)
{
	struct known_chain *slot;

	if ((rows->known_count + 1) * 4 > rows->known_slots * 3)
		grow_known(rows);
	slot = known_slot(rows, key, (u32)states.user, (u32)states.kernel);
	rows->known_count += !slot->stack;
	*slot = (struct known_chain){
		.key = key,
		.user_state = (u32)states.user,
		.kernel_state = (u32)states.kernel,
		.stack = stack,
	};
	return slot;
}
