/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three short cuts, the cheapest first.
 *
 * Most chains were seen before: where the reader numbers equal chains, a chain is one probe, by its
 * number and the state of the mappings, and its frames are not even decoded. A thread's next chain
 * mostly shares its outer frames with its last one, so the last chain of (nearly) every thread is
 * kept and only what differs is looked up. That is two probes a frame: the location of the address
 * in the state of the mappings, then the row of (caller, location). Both are of memory that is not
 * near, so they are asked for of several chains, and then looked at.
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
	MOST_KNOWN = 1 << 17,
	MOST_CALLERS = 1 << 16,
};

/* Gets a slot from memory. It may lie across the border of two lines. */
#define expect_slot(slot)                                         \
	do {                                                      \
		__builtin_prefetch(slot);                         \
		__builtin_prefetch((const u8 *)((slot) + 1) - 1); \
	} while (0)

/* The last chain counted for some thread, outermost frame first. */
struct last_chain {
	u32 tid;
	struct mapping_states states;
	VEC(struct frame) frames;
	VEC(u32) hashes;      /* of the path up to each frame, as far as places are found */
	VEC(stack_id) stacks; /* the row up to each frame, as far as rows are found */
};

/* A caller's address in a state of the mappings. */
struct caller {
	u64 address;
	u64 state; /* see frame_state(); 0: the slot is free */
	location_id location;
	location_id place; /* the same, not told apart by virtual address */
};

/* A frame that is looked for. */
struct wanted_frame {
	u64 address;
	u64 state; /* see frame_state() */
	u8 space;
};

struct chain_rows {
	struct locator *locator;
	struct builder_settings settings;
	struct profile *profile;
	u64 *known_keys; /* of the slots in `known`; 0: the slot is free */
	struct known_chain *known;
	u32 known_count, known_slots;
	struct caller *callers;
	u32 caller_count, caller_slots;
	struct last_chain last_chains[LAST_CHAINS];
	VEC(struct wanted_frame) wanted; /* of the chains at hand */
	VEC(struct stack_row) stacks;	 /* what they become */
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
		vec_release(&rows->last_chains[i].hashes);
		vec_release(&rows->last_chains[i].stacks);
	}
	free(rows->known_keys);
	free(rows->known);
	free(rows->callers);
	vec_release(&rows->wanted);
	vec_release(&rows->stacks);
	free(rows);
}

static void forget_known(struct chain_rows *rows, u32 slots)
{
	free(rows->known_keys);
	free(rows->known);
	rows->known_keys = must_alloc_table(slots, sizeof(*rows->known_keys));
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

static struct caller find_caller(struct chain_rows *rows, u32 pid, const struct wanted_frame *frame)
{
	const struct name_test *names = &rows->settings.names;
	struct profile *profile = rows->profile;
	binary_id binary;
	location_id place = locator_find_anew(
		rows->locator, profile, &(struct virtual_place){frame->address, pid, frame->space},
		&binary);
	struct caller caller = {.address = frame->address,
				.state = frame->state,
				.location = place,
				.place = place};

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

static struct caller caller_of(struct chain_rows *rows, u32 pid, const struct wanted_frame *frame)
{
	struct caller *slot = caller_slot(rows, frame->address, frame->state);
	struct caller caller;

	if (slot->state)
		return *slot;
	caller = *slot = find_caller(rows, pid, frame);
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

static void want_frame(struct chain_rows *rows, struct last_chain *last, const struct frame *frame)
{
	u64 state = frame_state(frame, last->states);

	expect_slot(&rows->callers[caller_place(rows, frame->address, state)]);
	*vec_add(&rows->wanted) = (struct wanted_frame){
		.address = frame->address, .state = state, .space = frame->space};
	*vec_add(&rows->stacks) = (struct stack_row){.mark = frame->mark, .origin = frame->origin};
	*vec_add(&last->frames) = *frame;
}

void chain_rows_want(struct chain_rows *rows, const struct sample *sample,
		     struct mapping_states states, struct wanted_chain *ret_chain)
{
	struct last_chain *last = &rows->last_chains[sample->tid & (LAST_CHAINS - 1)];
	u32 count = sample->frame_count, done = 0;

	/* What is cut off is the outermost part. */
	if (count > rows->settings.max_stack)
		count = rows->settings.max_stack;
	if (last->tid == sample->tid && states_equal(last->states, states))
		done = shared_frames(last, sample->frames, count);
	*ret_chain = (struct wanted_chain){
		.last = last,
		.done = done,
		.count = count,
		.first = (u32)rows->wanted.count,
		.pid = sample->pid,
	};
	if (done && done <= last->stacks.count)
		profile_expect_callees(rows->profile, last->stacks.items[done - 1]);
	last->tid = sample->tid;
	last->states = states;
	last->frames.count = done;
	for (u32 i = count - done; i-- > 0;)
		want_frame(rows, last, &sample->frames[i]);
}

void chain_rows_expect_places(const struct chain_rows *rows, const struct wanted_chain *chain)
{
	const struct wanted_frame *frame = &rows->wanted.items[chain->first];
	const struct last_chain *last = chain->last;

	if (chain->done && chain->done <= last->stacks.count)
		profile_expect_callee_rows(rows->profile, last->stacks.items[chain->done - 1]);
	for (u32 i = chain->done; i < chain->count; i++, frame++)
		if (!caller_slot(rows, frame->address, frame->state)->state)
			locator_expect(
				rows->locator, rows->profile,
				&(struct virtual_place){frame->address, chain->pid, frame->space});
}

location_id chain_rows_find_places(struct chain_rows *rows, const struct wanted_chain *chain)
{
	struct last_chain *last = chain->last;
	struct stack_row *stacks = &rows->stacks.items[chain->first];
	u32 done = chain->done, more = chain->count - done;
	struct caller caller = {0};

	for (u32 i = 0; i < more; i++) {
		caller = caller_of(rows, chain->pid, &rows->wanted.items[chain->first + i]);
		stacks[i].location = caller.location;
	}
	last->hashes.count = done;
	vec_reserve(&last->hashes, more);
	profile_expect_stacks(rows->profile, done ? last->hashes.items[done - 1] : 0, stacks, more,
			      last->hashes.items + done);
	return caller.place;
}

stack_id chain_rows_find(struct chain_rows *rows, const struct wanted_chain *chain)
{
	struct last_chain *last = chain->last;
	u32 done = chain->done, more = chain->count - done;

	last->stacks.count = done;
	vec_reserve(&last->stacks, more);
	if (more)
		profile_stacks(rows->profile, done ? last->stacks.items[done - 1] : 0,
			       &rows->stacks.items[chain->first], more, last->stacks.items + done);
	last->stacks.count = chain->count;
	return chain->count ? last->stacks.items[chain->count - 1] : 0;
}

void chain_rows_done(struct chain_rows *rows)
{
	rows->wanted.count = rows->stacks.count = 0;
}

/* --- chains by their keys --- */

static u32 known_home(const struct chain_rows *rows, u64 key)
{
	return (u32)(key >> 1) & (rows->known_slots - 1); /* the last bit is no hash */
}

/* The slot of a chain, or one for it: free, or of the same chain in a state that is given up. They
 * all have the key's place, so that it is known before the state is; there must not be many. */
static u32 known_slot(const struct chain_rows *rows, u64 key, u32 user, u32 kernel)
{
	enum { MOST_STATES = 8 };
	u32 mask = rows->known_slots - 1;
	u32 at = known_home(rows, key), states = 0;

	for (; rows->known_keys[at]; at = (at + 1) & mask) {
		const struct known_chain *known = &rows->known[at];

		if (rows->known_keys[at] != key)
			continue;
		if (known->user_state == user && known->kernel_state == kernel)
			break;
		if (++states == MOST_STATES)
			break;
	}
	return at;
}

void chain_rows_expect(const struct chain_rows *rows, u64 key)
{
	u32 home = known_home(rows, key);

	__builtin_prefetch(&rows->known_keys[home]);
	__builtin_prefetch(&rows->known[home]);
}

struct known_chain *chain_rows_known(const struct chain_rows *rows, u64 key,
				     struct mapping_states states)
{
	u32 user = (u32)states.user, kernel = (u32)states.kernel;
	u32 at = known_slot(rows, key, user, kernel);
	struct known_chain *known = &rows->known[at];
	bool is_it = rows->known_keys[at] && known->user_state == user &&
		     known->kernel_state == kernel;

	return is_it ? known : NULL;
}

static void grow_known(struct chain_rows *rows)
{
	CLEANUP(freep) u64 *old_keys = TAKE(rows->known_keys);
	CLEANUP(freep) struct known_chain *old = TAKE(rows->known);
	u32 old_slots = rows->known_slots;

	forget_known(rows, old_slots < MOST_KNOWN ? old_slots * 2 : old_slots);
	for (u32 i = 0; rows->known_slots > old_slots && i < old_slots; i++) {
		u32 at;

		if (!old_keys[i])
			continue;
		at = known_slot(rows, old_keys[i], old[i].user_state, old[i].kernel_state);
		rows->known_keys[at] = old_keys[i];
		rows->known[at] = old[i];
		rows->known_count++;
	}
}

struct known_chain *chain_rows_learn(struct chain_rows *rows, u64 key, stack_id stack,
				     struct mapping_states states)
{
	u32 at;

	if ((rows->known_count + 1) * 4 > rows->known_slots * 3)
		grow_known(rows);
	at = known_slot(rows, key, (u32)states.user, (u32)states.kernel);
	rows->known_count += !rows->known_keys[at];
	rows->known_keys[at] = key;
	rows->known[at] = (struct known_chain){
		.user_state = (u32)states.user,
		.kernel_state = (u32)states.kernel,
		.stack = stack,
	};
	return &rows->known[at];
}
