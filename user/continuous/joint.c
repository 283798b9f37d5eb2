/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One stream out of many windows: knows what is mapped and how threads are called by what it handed
 * on.
 */
#include "continuous/joint.h"

#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"

#include <string.h>
#include <xxhash.h>

/* A mapping that was handed on and has not been covered since. */
struct told_mapping {
	u64 start, end, hash;
};

/* What was told of a process, or of the kernel. */
struct told_process {
	VEC(struct told_mapping) mappings; /* by start, none overlapping */
};

struct joint {
	struct passing_sink passing; /* first */
	u64 offset_ns, moment_ns, begin_ns;
	struct idmap process_of;	    /* pid + 1: row of processes */
	VEC(struct told_process) processes; /* row 0: the kernel */
	struct idmap name_of;		    /* tid: hash of its name */
	struct idmap owner_of;		    /* tid: pid + 1, of what was told last */
	struct idmap cgroup_of;		    /* id in the window: row of cgroups + 1 */
	struct idmap cgroup_told;	    /* id that was handed on: likewise */
	VEC(u64) cgroups;		    /* the ids that are handed on */
};

static struct joint *joint_of(struct event_sink *sink)
{
	return (struct joint *)sink;
}

static u64 shifted(const struct joint *joint, u64 time_ns)
{
	return time_ns ? time_ns + joint->offset_ns : joint->begin_ns;
}

/* What a window tells of its beginning holds for its first sample, whose time older daemons rounded
 * to before that. */
static u64 time_of_sample(const struct joint *joint, u64 time_ns)
{
	const u64 second_ns = 1000000000;
	u64 moved_ns = shifted(joint, time_ns);
	bool is_rounded = moved_ns < joint->begin_ns && joint->begin_ns - moved_ns < second_ns;

	return is_rounded ? joint->begin_ns : moved_ns;
}

/* --- mappings --- */

static struct told_process *process_of(struct joint *joint, u32 pid)
{
	u32 *row = idmap_place(&joint->process_of, (u64)pid + 1);

	if (!*row) {
		*row = (u32)joint->processes.count;
		*vec_add(&joint->processes) = (struct told_process){0};
	}
	return &joint->processes.items[*row];
}

static u64 hash_of(const struct mapping *mapping)
{
	u64 facts[] = {mapping->start,
		       mapping->bytes,
		       mapping->file_offset,
		       mapping->space,
		       XXH3_64bits(mapping->path, strlen(mapping->path)),
		       XXH3_64bits(mapping->build_id, mapping->build_id_bytes)};

	return XXH3_64bits(facts, sizeof(facts));
}

/* The first one that ends behind `address`. */
static size_t find_behind(const struct told_process *process, u64 address)
{
	size_t low = 0, high = process->mappings.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (process->mappings.items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Puts it in place of all that it covers, if only in part: what is left of those is told again if
 * it is wanted again. Returns whether that changed anything. */
static bool note_mapping(struct told_process *process, struct told_mapping mapping)
{
	size_t at = find_behind(process, mapping.start), covered = at;
	struct told_mapping *items = process->mappings.items;
	size_t count = process->mappings.count;

	if (at < count && items[at].hash == mapping.hash)
		return false;
	while (covered < count && items[covered].start < mapping.end)
		covered++;
	if (covered == at) {
		vec_add(&process->mappings);
		items = process->mappings.items;
		memmove(&items[at + 1], &items[at], (count - at) * sizeof(*items));
	} else {
		memmove(&items[at + 1], &items[covered], (count - covered) * sizeof(*items));
		process->mappings.count -= covered - at - 1;
	}
	items[at] = mapping;
	return true;
}

static int take_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct joint *joint = joint_of(sink);
	struct mapping moved = *mapping;
	struct told_mapping told = {mapping->start, mapping->start + mapping->bytes,
				    hash_of(mapping)};
	struct told_process *process = mapping->space == SPACE_KERNEL
					       ? &joint->processes.items[0]
					       : process_of(joint, mapping->pid);

	if (!mapping->bytes || told.end < told.start || !note_mapping(process, told))
		return 0;
	moved.time_ns = shifted(joint, mapping->time_ns);
	return sink_call(joint->passing.next, on_mapping, &moved);
}

/* --- threads --- */

/* Nothing is known of it any more, nor of a process that had its number. */
static void forget(struct joint *joint, u32 tid)
{
	u32 row = idmap_get(&joint->process_of, (u64)tid + 1);

	idmap_remove(&joint->name_of, tid);
	if (row)
		joint->processes.items[row].mappings.count = 0;
}

/* A number that was a process's may be a thread's of another one by now, and the other way round.
 */
static void note_owner(struct joint *joint, u32 pid, u32 tid)
{
	u32 *owner = idmap_place(&joint->owner_of, tid);

	if (*owner && *owner != pid + 1)
		forget(joint, tid);
	*owner = pid + 1;
}

static int take_name(struct event_sink *sink, const struct thread_name *name)
{
	struct joint *joint = joint_of(sink);
	struct thread_name moved = *name;
	u32 hash = (u32)XXH3_64bits(name->name, strlen(name->name)) | 1, *known;

	note_owner(joint, name->pid, name->tid);
	known = idmap_place(&joint->name_of, name->tid);
	if (*known == hash)
		return 0;
	*known = hash;
	moved.time_ns = shifted(joint, name->time_ns);
	return sink_call(joint->passing.next, on_name, &moved);
}

static int take_fork(struct event_sink *sink, const struct thread_life *life)
{
	struct joint *joint = joint_of(sink);
	struct thread_life moved = *life;

	note_owner(joint, life->pid, life->tid);
	/* A window's beginning tells of what runs; of what ran before, too. */
	if (life->is_synthesized && idmap_get(&joint->name_of, life->tid))
		return 0;
	forget(joint, life->tid);
	moved.time_ns = shifted(joint, life->time_ns);
	return sink_call(joint->passing.next, on_fork, &moved);
}

static int take_exit(struct event_sink *sink, const struct thread_life *life)
{
	struct joint *joint = joint_of(sink);
	struct thread_life moved = *life;

	forget(joint, life->tid);
	moved.time_ns = shifted(joint, life->time_ns);
	return sink_call(joint->passing.next, on_exit, &moved);
}

/* --- cgroups --- */

/* An id is another's after a restart of the machine, and a unit has another one after its own: what
 * is handed on stands for the path. */
static int take_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	struct joint *joint = joint_of(sink);
	struct cgroup_name moved = {
		.time_ns = shifted(joint, cgroup->time_ns),
		.id = XXH3_64bits(cgroup->path, strlen(cgroup->path)) | 1,
		.path = cgroup->path,
	};
	u32 *row = idmap_place(&joint->cgroup_told, moved.id);
	bool is_known = *row;

	if (!is_known) {
		*vec_add(&joint->cgroups) = moved.id;
		*row = (u32)joint->cgroups.count;
	}
	*idmap_place(&joint->cgroup_of, cgroup->id) = *row;
	return is_known ? 0 : sink_call(joint->passing.next, on_cgroup, &moved);
}

static u64 cgroup_of(const struct joint *joint, u64 id)
{
	u32 row = id ? idmap_get(&joint->cgroup_of, id) : 0;

	return row ? joint->cgroups.items[row - 1] : id;
}

/* --- samples --- */

static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct joint *joint = joint_of(sink);
	struct sample moved = *sample;

	moved.time_ns = joint->moment_ns ? joint->moment_ns
					 : time_of_sample(joint, sample->time_ns);
	moved.cgroup = cgroup_of(joint, sample->cgroup);
	return sink_call(joint->passing.next, on_sample, &moved);
}

static bool knows_chain(struct event_sink *sink, const struct sample *sample)
{
	return sink_call(joint_of(sink)->passing.next, knows_chain, sample);
}

static int take_chain_ahead(struct event_sink *sink, u64 chain_key)
{
	return sink_call(joint_of(sink)->passing.next, on_chain_ahead, chain_key);
}

/* More windows may follow. */
static int take_end(struct event_sink *sink)
{
	(void)sink;
	return 0;
}

struct joint *joint_new(struct event_sink *next)
{
	struct joint *joint = must_alloc(sizeof(*joint));

	passing_sink_init(&joint->passing, next);
	joint->passing.sink.on_sample = take_sample;
	joint->passing.sink.knows_chain = knows_chain;
	joint->passing.sink.on_chain_ahead = take_chain_ahead;
	joint->passing.sink.on_mapping = take_mapping;
	joint->passing.sink.on_name = take_name;
	joint->passing.sink.on_fork = take_fork;
	joint->passing.sink.on_exit = take_exit;
	joint->passing.sink.on_cgroup = take_cgroup;
	joint->passing.sink.on_round = NULL;
	joint->passing.sink.on_end = take_end;
	*vec_add(&joint->processes) = (struct told_process){0};
	return joint;
}

void joint_free(struct joint *joint)
{
	if (!joint)
		return;
	for (size_t i = 0; i < joint->processes.count; i++)
		vec_release(&joint->processes.items[i].mappings);
	vec_release(&joint->processes);
	idmap_release(&joint->process_of);
	idmap_release(&joint->name_of);
	idmap_release(&joint->owner_of);
	idmap_release(&joint->cgroup_of);
	idmap_release(&joint->cgroup_told);
	vec_release(&joint->cgroups);
	free(joint);
}

struct event_sink *joint_sink(struct joint *joint)
{
	return &joint->passing.sink;
}

void joint_set_clock(struct joint *joint, u64 offset_ns)
{
	joint->offset_ns = offset_ns;
}

void joint_set_begin(struct joint *joint, u64 begin_ns)
{
	joint->begin_ns = begin_ns;
}

void joint_set_moment(struct joint *joint, u64 moment_ns)
{
	joint->moment_ns = moment_ns;
}
