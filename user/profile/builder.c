/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts samples: each frame becomes a location, the frames from the outermost in become a row of
 * the stack table, and (stack, leaf, labels) a row of counts.
 *
 * What is the same for all samples of a thread until its name or its mappings change is looked up
 * once; and a sample whose chain, leaf and labels are those of an
 * earlier one is counted where that one was.
 */
#include "profile/builder_state.h"

#include "base/memory.h"
#include "profile/location_uses.h"

#include <string.h>

static struct profile_builder *builder_of(struct event_sink *sink)
{
	return (struct profile_builder *)sink; /* its first member */
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
	thread_id row = thread_lives_known(&builder->threads, sample->tid);

	if (row)
		return row;
	return thread_lives_row(&builder->threads, builder->profile, sample,
				name_now(builder, sample->tid));
}

/* --- the sink --- */

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
	builder_count_pending(builder);
	binary = locator_binary(builder->locator, builder->profile, sample->pid, outermost->address,
				outermost->space);
	if (!binary)
		return;
	place = idmap_place(&builder->ends, (u64)binary << 8 | sample->cut);
	if (!*place) {
		*vec_add(&profile->early_ends) = (struct early_end_row){.binary = binary,
									.cut = sample->cut};
		*place = (u32)profile->early_ends.count;
	}
	profile->early_ends.items[*place - 1].stacks += sample_count(sample);
}

static void add_branches(struct profile_builder *builder, const struct sample *sample,
			 struct count_row count)
{
	struct profile *profile = builder->profile;

	count.weight = 1;
	branch_tally_add(&profile->totals.branches, sample->branches, sample->branch_count);
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

/* Whether a thread's samples differ in their labels, however near to each other: not if all they
 * say of themselves is when and on which CPU they were taken. */
static bool labels_vary(const struct profile_builder *builder)
{
	return builder->settings.details.read || builder->settings.details.tell ||
	       builder->settings.details.kept & 1u << DETAIL_CGROUP;
}

static u64 moment_of(const struct profile_builder *builder, const struct sample *sample)
{
	u64 quantum_ns = builder->settings.details.quantum_ns;

	return quantum_ns ? sample->time_ns / quantum_ns : 0;
}

static bool keeps_cpu(const struct profile_builder *builder)
{
	return builder->settings.keep & KEEP_CPU ||
	       builder->settings.details.kept & 1u << DETAIL_SOCKET;
}

static label_id labels_of(struct profile_builder *builder, const struct sample *sample)
{
	u32 keep = builder->settings.keep;
	struct label_row labels = {
		.comm = name_now(builder, sample->tid),
		.pid = keep & KEEP_PID ? sample->pid : ~0u,
		.tid = keep & KEEP_TID ? sample->tid : ~0u,
		.cpu = keep & KEEP_CPU ? sample->cpu : ~0u,
		.detail = details_of(builder->profile, &builder->settings.details, builder->locator,
				     sample),
	};

	return profile_labels(builder->profile, &labels);
}

static u64 *changes_of(struct profile_builder *builder, u32 pid)
{
	return &builder->changes[pid & (TELLERS - 1)];
}

static struct teller tell(struct profile_builder *builder, const struct sample *sample)
{
	const struct locator *locator = builder->locator;

	return (struct teller){
		.epoch = builder->epoch,
		.change = *changes_of(builder, sample->pid),
		.moment = moment_of(builder, sample),
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.labels = labels_vary(builder) ? 0 : labels_of(builder, sample),
		.thread = thread_of(builder, sample),
		.states =
			{
				.user = locator_generation(locator, sample->pid, SPACE_USER),
				.kernel = locator_generation(locator, sample->pid, SPACE_KERNEL),
			},
	};
}

static const struct teller *teller_of(struct profile_builder *builder, const struct sample *sample)
{
	struct teller *teller = &builder->tellers[sample->tid & (TELLERS - 1)];
	bool has_moved = (keeps_cpu(builder) && teller->cpu != sample->cpu) ||
			 teller->moment != moment_of(builder, sample);

	if (teller->epoch != builder->epoch ||
	    teller->change != *changes_of(builder, sample->pid) || teller->tid != sample->tid ||
	    teller->pid != sample->pid || has_moved)
		*teller = tell(builder, sample);
	return teller;
}

static void count_branches(struct profile_builder *builder, const struct sample *sample,
			   const struct teller *teller)
{
	struct count_row count = {
		.labels = teller->labels,
		.source = sample->source,
		.first_thread = teller->thread,
		.space = sample->space,
		.samples = 1,
	};

	locator_find(builder->locator, builder->profile, sample->pid, sample->address,
		     sample->space);
	add_branches(builder, sample, count);
}

static bool ends_early(const struct sample *sample)
{
	return sample->cut == CUT_NO_TABLE || sample->cut == CUT_UNSUPPORTED ||
	       sample->cut == CUT_NOT_ANALYSED;
}

static bool knows_chain(struct event_sink *sink, const struct sample *sample)
{
	struct profile_builder *builder = builder_of(sink);

	if (ends_early(sample))
		return false; /* where is asked of the outermost frame */
	if (builder->settings.count_branches)
		return !event_source_has_call_stacks(
			&builder->profile->sources.items[sample->source]);
	if (builder->settings.skip_chains)
		return true;
	return chain_rows_known(builder->chains, sample->chain_key,
				builder_states_for(sample, teller_of(builder, sample)));
}

static int take_chain_ahead(struct event_sink *sink, u64 chain_key)
{
	chain_rows_expect(builder_of(sink)->chains, chain_key);
	return 0;
}

static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct profile_builder *builder = builder_of(sink);
	struct teller teller = *teller_of(builder, sample);

	if (labels_vary(builder)) {
		builder_count_pending(builder);
		teller.labels = labels_of(builder, sample);
	}
	profile_totals_add(&builder->profile->totals, sample);
	if (sample_count(sample) > 1)
		builder->profile->sources.items[sample->source].is_counted = true;
	take_early_end(builder, sample);
	if (builder->settings.count_branches)
		count_branches(builder, sample, &teller);
	else
		builder_count_sample(builder, sample, &teller);
	if (builder->settings.count_blocks) {
		builder_count_pending(builder);
		block_counts_add(&builder->blocks, builder->profile, builder->locator, sample);
	}
	return 0;
}

/* --- changes --- */

static struct profile_builder *watching_builder(struct process_watcher *watcher)
{
	return (struct profile_builder *)((u8 *)watcher -
					  offsetof(struct profile_builder, watcher));
}

static bool is_pending(const struct profile_builder *builder, u32 pid)
{
	for (u32 i = 0; i < builder->pending_count; i++)
		if (builder->pending[i].leaf.pid == pid)
			return true;
	return false;
}

/* What waits of other processes is looked up in their own mappings, and waits on: where many
 * processes start, it would not meet the others that it is looked up with. */
static void before_space(struct process_watcher *self, u32 pid)
{
	struct profile_builder *builder = watching_builder(self);

	if (is_pending(builder, pid))
		builder_count_pending(builder);
	++*changes_of(builder, pid);
}

static void before_name(struct process_watcher *self, u32 tid)
{
	watching_builder(self)->tellers[tid & (TELLERS - 1)].epoch = 0;
}

/* What is mapped for all is about to change. */
static void begin_change(struct profile_builder *builder)
{
	builder_count_pending(builder);
	builder->epoch++;
}

static int take_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct profile_builder *builder = builder_of(sink);

	if (mapping->space != SPACE_USER)
		begin_change(builder);
	return sink_call(builder->passing.next, on_mapping, mapping);
}

static int take_kernel_symbol(struct event_sink *sink, const struct kernel_symbol *symbol)
{
	struct profile_builder *builder = builder_of(sink);

	begin_change(builder);
	return sink_call(builder->passing.next, on_kernel_symbol, symbol);
}

static int take_name(struct event_sink *sink, const struct thread_name *name)
{
	struct profile_builder *builder = builder_of(sink);
	int error = sink_call(builder->passing.next, on_name, name);

	thread_lives_rename(&builder->threads, builder->profile, name->tid,
			    name_now(builder, name->tid));
	return error;
}

static int take_fork(struct event_sink *sink, const struct thread_life *life)
{
	struct profile_builder *builder = builder_of(sink);

	thread_lives_begin(&builder->threads, life->tid);
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
	builder->epoch++;
	chain_rows_begin(builder->chains, builder->locator, builder->profile);
	thread_lives_release(&builder->threads);
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
	block_counts_release(&builder->blocks);
	idmap_release(&builder->ends);
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
	builder->watcher = (struct process_watcher){before_space, before_name};
	locator_watch(builder->locator, &builder->watcher);
	passing_sink_init(&builder->passing, locator_sink(builder->locator));
	builder->passing.sink.on_sample = take_sample;
	builder->passing.sink.knows_chain = knows_chain;
	builder->passing.sink.on_chain_ahead = take_chain_ahead;
	builder->passing.sink.on_mapping = take_mapping;
	builder->passing.sink.on_kernel_symbol = take_kernel_symbol;
	builder->passing.sink.on_name = take_name;
	builder->passing.sink.on_fork = take_fork;
	builder->passing.sink.on_cgroup = take_cgroup;
	builder->passing.sink.on_loss = take_loss;
	builder->settings = *settings;
	builder->chains = chain_rows_new(settings);
	add_sources(builder, sources, source_count);
	begin(builder);
	return builder;
}

struct event_sink *profile_builder_sink(struct profile_builder *builder)
{
	return &builder->passing.sink;
}

struct event_sink *profile_builder_follower(struct profile_builder *builder)
{
	return builder->passing.next;
}

struct profile *profile_builder_take(struct profile_builder *builder)
{
	struct profile *profile = builder->profile;

	builder_count_pending(builder);
	begin(builder);
	return profile;
}

void profile_builder_note_uses(struct profile_builder *builder)
{
	builder_count_pending(builder);
	location_uses_note(builder->profile);
}

void profile_builder_settle(struct profile_builder *builder)
{
	builder_count_pending(builder);
	chain_rows_begin(builder->chains, builder->locator, builder->profile);
	profile_forget_lookups(builder->profile);
}

void profile_builder_free(struct profile_builder *builder)
{
	if (!builder)
		return;
	for (size_t i = 0; i < builder->sources.count; i++)
		free((char *)builder->sources.items[i].name);
	vec_release(&builder->sources);
	chain_rows_free(builder->chains);
	block_counts_release(&builder->blocks);
	thread_lives_release(&builder->threads);
	idmap_release(&builder->names);
	idmap_release(&builder->ends);
	locator_free(builder->locator);
	profile_free(builder->profile);
	free(builder);
}
