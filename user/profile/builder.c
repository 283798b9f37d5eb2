/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts samples: each frame becomes a location, the frames from the outermost in become a row of
 * the stack table, and (stack, leaf, labels) a row of counts.
 *
 * Two short cuts keep a frame cheap. A thread's next stack mostly shares its outer frames with its
 * last one, so the last chain of (nearly) every thread is kept and only what differs is looked up.
 * That look-up is one probe of (caller, address, state of the mappings) → stack row; only new pairs
 * pay for finding the location.
 */
#include "profile/builder.h"

#include "base/memory.h"
#include "profile/locator.h"

#include <string.h>

enum {
	DEFAULT_MAX_STACK = 127, /* sysctl kernel.perf_event_max_stack */
	LAST_CHAINS = 256,	 /* power of two */
	STEP_SLOTS = 1 << 18,	 /* at first; power of two */
	STEP_SLOTS_MAX = 1 << 21,
};

/* The last chain counted for some thread, outermost frame first. */
struct last_chain {
	u32 tid;
	u64 user_generation, kernel_generation;
	VEC(struct frame) frames;
	VEC(stack_id) stacks; /* the stack row up to each frame */
};

struct step {
	u64 address, generation;
	stack_id caller;
	stack_id stack; /* 0: the slot is free */
	u32 mark;
	u8 space, origin;
};

struct profile_builder {
	struct passing_sink passing; /* first; on to the locator */
	struct builder_settings settings;
	struct locator *locator;
	struct profile *profile;
	struct last_chain *last_chains;
	struct step *steps;
	u32 step_count, step_slots;
	struct idmap threads; /* tid → row of profile->threads */
	struct idmap names;   /* address of an interned name → string_id */
	struct idmap ends;    /* (binary, cut) → row of profile->early_ends, from 1 */
	VEC(struct event_source) sources;
	u32 first_source; /* of the recording at hand */
};

static struct profile_builder *builder_of(struct event_sink *sink)
{
	return (struct profile_builder *)sink; /* its first member */
}

/* --- stacks --- */

static void steps_forget(struct profile_builder *builder)
{
	memset(builder->steps, 0, builder->step_slots * sizeof(*builder->steps));
	builder->step_count = 0;
}

static u64 step_hash(const struct step *step)
{
	u64 hash = (step->address ^ step->generation << 40) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 32 ^ step->caller) * 0xff51afd7ed558ccdu;
	return hash ^ hash >> 29;
}

static void steps_grow(struct profile_builder *builder)
{
	struct step *old = builder->steps;
	u32 old_slots = builder->step_slots;

	/* It is only a cache: beyond a bound, starting again costs less than more memory. */
	if (old_slots >= STEP_SLOTS_MAX) {
		steps_forget(builder);
		return;
	}
	builder->step_slots = old_slots * 2;
	builder->steps = must_alloc_array(builder->step_slots, sizeof(*builder->steps));
	for (u32 i = 0; i < old_slots; i++) {
		u32 at = (u32)step_hash(&old[i]) & (builder->step_slots - 1);

		if (!old[i].stack)
			continue;
		while (builder->steps[at].stack)
			at = (at + 1) & (builder->step_slots - 1);
		builder->steps[at] = old[i];
	}
	free(old);
}

/* Whether what is shown of an address without name is not the virtual address. */
static bool is_shown_relative(u8 kind)
{
	return kind == BINARY_FILE || kind == BINARY_OTHER || kind == BINARY_VDSO ||
	       kind == BINARY_MODULE;
}

static location_id caller_location(struct profile_builder *builder, u32 pid,
				   const struct step *step)
{
	const struct name_test *names = &builder->settings.names;
	struct profile *profile = builder->profile;
	location_id location = locator_find(builder->locator, profile, pid, step->address,
					    step->space);
	binary_id binary = profile->locations.items[location].binary;

	if (!names->has_name || !is_shown_relative(profile->binaries.items[binary].kind) ||
	    names->has_name(names->context, profile, location))
		return location;
	return profile_location_seen_at(profile, location, step->address);
}

/* The stack row of `frame` called from wanted.caller. */
static stack_id step_to(struct profile_builder *builder, u32 pid, struct step wanted)
{
	u32 mask = builder->step_slots - 1;
	u32 at = (u32)step_hash(&wanted) & mask;
	struct stack_row row = {
		.caller = wanted.caller, .origin = wanted.origin, .mark = wanted.mark};

	for (; builder->steps[at].stack; at = (at + 1) & mask) {
		const struct step *step = &builder->steps[at];

		if (step->address == wanted.address && step->caller == wanted.caller &&
		    step->generation == wanted.generation && step->space == wanted.space &&
		    step->origin == wanted.origin && step->mark == wanted.mark)
			return step->stack;
	}
	row.location = caller_location(builder, pid, &wanted);
	wanted.stack = profile_stack(builder->profile, &row);
	builder->steps[at] = wanted;
	if (++builder->step_count * 4 > builder->step_slots * 3)
		steps_grow(builder);
	return wanted.stack;
}

static bool frames_equal(const struct frame *a, const struct frame *b)
{
	return a->address == b->address && a->space == b->space && a->origin == b->origin &&
	       a->mark == b->mark;
}

/* How many outer frames the chain shares with the last one of this thread. */
static u32 shared_frames(const struct last_chain *last, const struct sample *sample, u32 count)
{
	u32 shared = 0;

	while (shared < count && shared < last->frames.count &&
	       frames_equal(&last->frames.items[shared], &sample->frames[count - 1 - shared]))
		shared++;
	return shared;
}

static stack_id stack_of(struct profile_builder *builder, const struct sample *sample)
{
	struct last_chain *last = &builder->last_chains[sample->tid & (LAST_CHAINS - 1)];
	u64 user = locator_generation(builder->locator, sample->pid, SPACE_USER);
	u64 kernel = locator_generation(builder->locator, sample->pid, SPACE_KERNEL);
	u32 count = sample->frame_count;
	stack_id stack = 0;
	u32 done = 0;

	/* What is cut off is the outermost part. */
	if (count > builder->settings.max_stack)
		count = builder->settings.max_stack;
	const struct frame *frames = sample->frames;
	if (last->tid == sample->tid && last->user_generation == user &&
	    last->kernel_generation == kernel)
		done = shared_frames(last, sample, count);
	last->tid = sample->tid;
	last->user_generation = user;
	last->kernel_generation = kernel;
	last->frames.count = last->stacks.count = done;
	if (done)
		stack = last->stacks.items[done - 1];
	for (; done < count; done++) {
		const struct frame *frame = &frames[count - 1 - done];
		struct step wanted = {
			.address = frame->address,
			.generation = frame->space == SPACE_USER ? user : kernel,
			.caller = stack,
			.space = frame->space,
			.origin = frame->origin,
			.mark = frame->mark,
		};

		stack = step_to(builder, sample->pid, wanted);
		*vec_add(&last->frames) = *frame;
		*vec_add(&last->stacks) = stack;
	}
	return stack;
}

/* --- threads and names --- */

static string_id name_now(struct profile_builder *builder, u32 tid)
{
	const char *name = locator_thread_name(builder->locator, tid);
	u32 *place = idmap_place(&builder->names, (u64)(uintptr_t)name);

	if (!*place)
		*place = intern_text(&builder->profile->strings, name);
	return *place;
}

static thread_id thread_of(struct profile_builder *builder, const struct sample *sample)
{
	u32 *place = idmap_place(&builder->threads, sample->tid);

	if (*place)
		return *place;
	*place = (u32)builder->profile->threads.count;
	*vec_add(&builder->profile->threads) = (struct thread_row){
		.pid = sample->pid,
		.tid = sample->tid,
		.comm = name_now(builder, sample->tid),
	};
	return *place;
}

/* --- the sink --- */

static void take_totals(struct profile_totals *totals, const struct sample *sample)
{
	totals->samples++;
	totals->weight += sample->weight;
	stack_tally_add(&totals->stacks, sample);
	if (!sample->time_ns || sample->time_ns == ~0ull)
		return;
	if (!totals->first_ns || sample->time_ns < totals->first_ns)
		totals->first_ns = sample->time_ns;
	if (sample->time_ns > totals->last_ns)
		totals->last_ns = sample->time_ns;
}

/* Counts a stack that ended early by the code that it could not get through. */
static void take_early_end(struct profile_builder *builder, const struct sample *sample)
{
	struct profile *profile = builder->profile;
	const struct frame *outermost;
	binary_id binary;
	u32 *place;

	if (!sample->frame_count ||
	    (sample->cut != CUT_NO_TABLE && sample->cut != CUT_UNSUPPORTED &&
	     sample->cut != CUT_NOT_ANALYSED && sample->cut != CUT_NO_FILE))
		return;
	outermost = &sample->frames[sample->frame_count - 1];
	binary = locator_binary(builder->locator, profile, sample->pid, outermost->address,
				outermost->space);
	if (!binary)
		return;
	place = idmap_place(&builder->ends, (u64)binary << 8 | sample->cut);
	if (!*place) {
		*vec_add(&profile->early_ends) = (struct early_end_row){.binary = binary,
									.cut = sample->cut};
		*place = (u32)profile->early_ends.count;
	}
	profile->early_ends.items[*place - 1].stacks++;
}

static void add_branches(struct profile_builder *builder, const struct sample *sample,
			 struct count_row count)
{
	struct profile *profile = builder->profile;

	count.weight = 1;
	for (u32 i = 0; i < sample->branch_count; i++) {
		const struct branch *branch = &sample->branches[i];
		struct branch_row row = {
			.from = locator_find(builder->locator, profile, sample->pid, branch->from,
					     address_space_of(branch->from)),
			.to = locator_find(builder->locator, profile, sample->pid, branch->to,
					   address_space_of(branch->to)),
			.flags = (u32)branch->flags & builder->settings.branch_flags,
		};

		count.leaf = row.to;
		count.branch = profile_branch(profile, &row);
		profile_add(profile, &count);
	}
}

static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct profile_builder *builder = builder_of(sink);
	struct profile *profile = builder->profile;
	u32 keep = builder->settings.keep;
	struct label_row labels = {
		.comm = name_now(builder, sample->tid),
		.pid = keep & KEEP_PID ? sample->pid : ~0u,
		.tid = keep & KEEP_TID ? sample->tid : ~0u,
		.cpu = keep & KEEP_CPU ? sample->cpu : ~0u,
		.detail = details_of(profile, &builder->settings.details, sample),
	};
	struct count_row count = {
		.leaf = locator_find(builder->locator, profile, sample->pid, sample->address,
				     sample->space),
		.labels = profile_labels(profile, &labels),
		.source = builder->first_source + sample->source,
		.first_thread = thread_of(builder, sample),
		.space = sample->space,
		.weight = sample->weight,
		.samples = 1,
	};

	take_totals(&profile->totals, sample);
	take_early_end(builder, sample);
	if (builder->settings.count_branches) {
		add_branches(builder, sample, count);
		return 0;
	}
	if (!builder->settings.skip_chains && sample->frame_count)
		count.stack = stack_of(builder, sample);
	profile_add(profile, &count);
	return 0;
}

static int take_name(struct event_sink *sink, const struct thread_name *name)
{
	struct profile_builder *builder = builder_of(sink);
	thread_id thread = idmap_get(&builder->threads, name->tid);
	int error = sink_call(builder->passing.next, on_name, name);

	if (thread)
		builder->profile->threads.items[thread].comm = name_now(builder, name->tid);
	return error;
}

static int take_fork(struct event_sink *sink, const struct thread_life *life)
{
	struct profile_builder *builder = builder_of(sink);

	idmap_remove(&builder->threads, life->tid);
	return sink_call(builder->passing.next, on_fork, life);
}

static int take_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	details_add_cgroup(builder_of(sink)->profile, cgroup);
	return 0;
}

static int take_loss(struct event_sink *sink, const struct loss *loss)
{
	struct profile_totals *totals = &builder_of(sink)->profile->totals;

	if (loss->reason < ARRAY_COUNT(totals->losses))
		totals->losses[loss->reason] += loss->count;
	return 0;
}

/* --- the builder --- */

/* Nothing cached of the processes before. */
static void forget_processes(struct profile_builder *builder)
{
	for (u32 i = 0; i < LAST_CHAINS; i++)
		builder->last_chains[i].frames.count = builder->last_chains[i].stacks.count = 0;
	steps_forget(builder);
	idmap_release(&builder->threads);
	idmap_release(&builder->names);
}

static void add_profile_source(struct profile *profile, struct event_source source)
{
	string_id name = intern_text(&profile->strings, source.name);

	source.name = intern_view(&profile->strings, name);
	*vec_add(&profile->sources) = source;
}

/* An empty profile with the sources, and nothing cached of the one before. */
static void begin(struct profile_builder *builder)
{
	builder->profile = profile_new();
	for (size_t i = 0; i < builder->sources.count; i++)
		add_profile_source(builder->profile, builder->sources.items[i]);
	forget_processes(builder);
	idmap_release(&builder->ends);
}

static void use_new_locator(struct profile_builder *builder)
{
	locator_free(builder->locator);
	builder->locator = locator_new();
	builder->passing.next = locator_sink(builder->locator);
}

static void add_sources(struct profile_builder *builder, const struct event_source *sources,
			u32 source_count)
{
	for (u32 i = 0; i < source_count; i++) {
		struct event_source *source = vec_add(&builder->sources);

		*source = sources[i];
		source->name = must_copy(sources[i].name ? sources[i].name : "");
		source->ids = NULL;
		source->id_count = 0;
	}
}

struct profile_builder *profile_builder_new(const struct builder_settings *settings,
					    const struct event_source *sources, u32 source_count)
{
	struct profile_builder *builder = must_alloc(sizeof(*builder));

	builder->locator = locator_new();
	passing_sink_init(&builder->passing, locator_sink(builder->locator));
	builder->passing.sink.on_sample = take_sample;
	builder->passing.sink.on_name = take_name;
	builder->passing.sink.on_fork = take_fork;
	builder->passing.sink.on_cgroup = take_cgroup;
	builder->passing.sink.on_loss = take_loss;
	builder->settings = *settings;
	if (!builder->settings.max_stack)
		builder->settings.max_stack = DEFAULT_MAX_STACK;
	add_sources(builder, sources, source_count);
	builder->last_chains = must_alloc_array(LAST_CHAINS, sizeof(*builder->last_chains));
	builder->step_slots = STEP_SLOTS;
	builder->steps = must_alloc_array(STEP_SLOTS, sizeof(*builder->steps));
	begin(builder);
	return builder;
}

struct event_sink *profile_builder_sink(struct profile_builder *builder)
{
	return &builder->passing.sink;
}

void profile_builder_next(struct profile_builder *builder, const struct event_source *sources,
			  u32 source_count)
{
	builder->first_source = (u32)builder->sources.count;
	add_sources(builder, sources, source_count);
	for (size_t i = builder->first_source; i < builder->sources.count; i++)
		add_profile_source(builder->profile, builder->sources.items[i]);
	use_new_locator(builder);
	forget_processes(builder);
}

struct profile *profile_builder_take(struct profile_builder *builder)
{
	struct profile *profile = builder->profile;

	begin(builder);
	return profile;
}

void profile_builder_free(struct profile_builder *builder)
{
	if (!builder)
		return;
	for (u32 i = 0; i < LAST_CHAINS; i++) {
		vec_release(&builder->last_chains[i].frames);
		vec_release(&builder->last_chains[i].stacks);
	}
	for (size_t i = 0; i < builder->sources.count; i++)
		free((char *)builder->sources.items[i].name);
	vec_release(&builder->sources);
	free(builder->last_chains);
	free(builder->steps);
	idmap_release(&builder->threads);
	idmap_release(&builder->names);
	idmap_release(&builder->ends);
	locator_free(builder->locator);
	profile_free(builder->profile);
	free(builder);
}
