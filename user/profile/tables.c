/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a profile and the hash tables that find their rows again.
 */
#include "profile/tables.h"

#include "base/memory.h"
#include "event/event.h"
#include "profile/location_index.h"
#include "profile/row_index.h"
#include "profile/stack_index.h"

#include <string.h>

struct profile_index {
	struct stack_index stacks;
	struct location_index locations;
	struct row_index binaries, functions, branches, details, labels, counts;
};

/* Row 0 of a table: all zeroes, "none". */
#define add_row_zero(vec)                                     \
	do {                                                  \
		__typeof__((vec)->items) zero = vec_add(vec); \
		memset(zero, 0, sizeof(*zero));               \
	} while (0)

struct profile *profile_new(void)
{
	static _Atomic u64 last_serial;
	struct profile *profile = must_alloc(sizeof(*profile));

	profile->serial = ++last_serial;
	profile->index = must_alloc(sizeof(*profile->index));
	add_row_zero(&profile->binaries);
	add_row_zero(&profile->functions);
	add_row_zero(&profile->lines);
	add_row_zero(&profile->locations);
	add_row_zero(&profile->stacks);
	add_row_zero(&profile->branches);
	add_row_zero(&profile->threads);
	add_row_zero(&profile->details);
	add_row_zero(&profile->labels);
	profile->binaries.items[0].short_name = intern_text(&profile->strings, "[unknown]");
	profile->binaries.items[0].path = profile->binaries.items[0].short_name;
	profile->binaries.items[0].owner_pid = ~0u;
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	row_index_release(&profile->index->binaries);
	row_index_release(&profile->index->functions);
	location_index_release(&profile->index->locations);
	stack_index_release(&profile->index->stacks);
	row_index_release(&profile->index->branches);
	row_index_release(&profile->index->details);
	row_index_release(&profile->index->labels);
	row_index_release(&profile->index->counts);
	free(profile->index);
	vec_release(&profile->sources);
	vec_release(&profile->binaries);
	vec_release(&profile->functions);
	vec_release(&profile->lines);
	vec_release(&profile->locations);
	vec_release(&profile->stacks);
	vec_release(&profile->branches);
	vec_release(&profile->threads);
	vec_release(&profile->details);
	vec_release(&profile->cgroups);
	idmap_release(&profile->cgroup_of);
	vec_release(&profile->labels);
	vec_release(&profile->counts);
	vec_release(&profile->blocks);
	vec_release(&profile->early_ends);
	intern_release(&profile->strings);
	free(profile);
}

void profile_forget_lookups(struct profile *profile)
{
	location_index_release(&profile->index->locations);
	stack_index_release(&profile->index->stacks);
	row_index_release(&profile->index->counts);
}

void profile_forget_stacks(struct profile *profile)
{
	stack_index_release(&profile->index->stacks);
	vec_release(&profile->stacks);
}

/* --- binaries --- */

/* What lies elsewhere after each boot, or while others were there: two recordings in one profile
 * may have it twice. */
static bool has_own_start(u8 kind)
{
	return kind == BINARY_KSYMBOL || kind == BINARY_MODULE || kind == BINARY_KERNEL;
}

/* Mappings that were made before the recording tell no generation. */
static bool has_same_inode(const struct binary_row *a, const struct binary_row *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
	       (a->inode_generation == b->inode_generation || !a->inode_generation ||
		!b->inode_generation);
}

static bool binary_equals(const void *table, u32 row, const void *key)
{
	const struct profile *profile = table;
	const struct binary_row *a = &profile->binaries.items[row], *b = key;

	return a->path == b->path && a->kind == b->kind && a->space == b->space &&
	       (!has_own_start(a->kind) || a->start == b->start) && a->reference == b->reference &&
	       a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->build_id_bytes) && has_same_inode(a, b);
}

binary_id profile_binary(struct profile *profile, const struct binary_row *binary)
{
	u64 hash = hash_mix(hash_mix(binary->path, binary->kind),
			    has_own_start(binary->kind) ? binary->start : 0);
	u32 next = (u32)profile->binaries.count;
	u32 row;

	for (u32 i = 0; i < binary->build_id_bytes; i++)
		hash = hash_mix(hash, binary->build_id[i]);
	hash = hash_mix(hash, binary->inode);
	row = row_index_find(&profile->index->binaries,
			     (struct row_wanted){hash, next, binary_equals, profile, binary});
	if (row == next)
		*vec_add(&profile->binaries) = *binary;
	else if (!profile->binaries.items[row].inode_generation)
		profile->binaries.items[row].inode_generation = binary->inode_generation;
	return row;
}

/* --- functions --- */

static bool function_equals(const void *table, u32 row, const void *key)
{
	const struct profile *profile = table;
	const struct function_row *a = &profile->functions.items[row], *b = key;

	return a->binary == b->binary && a->start == b->start && a->end == b->end &&
	       a->is_inlined == b->is_inlined && (!a->is_inlined || a->name == b->name);
}

function_id profile_function(struct profile *profile, const struct function_row *function)
{
	u64 hash = hash_mix(hash_mix(hash_mix(function->binary, function->start), function->end),
			    function->is_inlined ? function->name : 0);
	u32 next = (u32)profile->functions.count;
	u32 row = row_index_find(
		&profile->index->functions,
		(struct row_wanted){hash, next, function_equals, profile, function});

	if (row == next)
		*vec_add(&profile->functions) = *function;
	return row;
}

/* --- locations and stacks --- */

static location_id location_row(struct profile *profile, const struct location_row *location)
{
	struct location_index *index = &profile->index->locations;
	u32 next = (u32)profile->locations.count;
	u32 row;

	/* What profile_forget_lookups() gave back. */
	for (location_id id = index->count + 1; id < next; id++)
		location_index_find(index, profile->locations.items, &profile->locations.items[id],
				    id);
	row = location_index_find(index, profile->locations.items, location, next);
	if (row == next)
		*vec_add(&profile->locations) = *location;
	return row;
}

location_id profile_location(struct profile *profile, binary_id binary, u64 address, u8 space)
{
	struct location_row location = {.binary = binary, .address = address, .space = space};

	return location_row(profile, &location);
}

void profile_expect_location(const struct profile *profile, binary_id binary, u64 address, u8 space)
{
	struct location_row location = {.binary = binary, .address = address, .space = space};

	location_index_expect(&profile->index->locations, &location);
}

location_id profile_location_seen_at(struct profile *profile, location_id location, u64 seen_at)
{
	struct location_row row = profile->locations.items[location];

	row.first_line = row.line_count = 0;
	row.seen_at = seen_at;
	row.uses = 0;
	return location_row(profile, &row);
}

/* The row of a frame that is called from stack->caller, and has its path_hash. There is room in the
 * index for one more. */
static stack_id stack_row(struct profile *profile, const struct stack_row *stack)
{
	struct stack_row *rows = profile->stacks.items, *caller = &rows[stack->caller];
	stack_id next = (stack_id)profile->stacks.count, first = caller->first_callee;
	struct stack_row deeper = *stack;

	if (first && stack_rows_equal(&rows[first], stack))
		return first;
	if (first) {
		struct stack_index *index = &profile->index->stacks;
		struct stack_slot *slot = stack_index_slot(index, rows, stack);

		if (slot->row)
			return slot->row;
		stack_index_take(index, slot, next, stack);
	} else {
		caller->first_callee = next;
	}
	deeper.first_callee = 0;
	deeper.depth = (u16)(caller->depth < UINT16_MAX ? caller->depth + 1 : UINT16_MAX);
	*vec_add(&profile->stacks) = deeper;
	return next;
}

/* Enters all rows but first callees, as stack_row() does, where profile_forget_lookups() gave the
 * index back. */
static void remake_stack_index(struct profile *profile)
{
	const struct stack_row *rows = profile->stacks.items;

	for (stack_id id = 1; id < profile->stacks.count; id++) {
		if (rows[rows[id].caller].first_callee == id)
			continue;
		stack_index_reserve(&profile->index->stacks, 1);
		stack_index_enter(&profile->index->stacks, id, &rows[id]);
	}
}

/* Makes room for so many more rows. */
static void reserve_stacks(struct profile *profile, u32 more)
{
	if (!profile->index->stacks.capacity)
		remake_stack_index(profile);
	stack_index_reserve(&profile->index->stacks, more);
}

void profile_stacks(struct profile *profile, stack_id caller, struct stack_row *frames, u32 count,
		    stack_id *ret_rows)
{
	struct stack_index *index = &profile->index->stacks;
	u32 hash = profile->stacks.items[caller].path_hash;

	reserve_stacks(profile, count);
	for (u32 i = 0; i < count; i++) {
		hash = stack_path_hash(hash, &frames[i]);
		frames[i].path_hash = hash;
		stack_index_expect(index, hash);
	}
	for (u32 i = 0; i < count; i++) {
		frames[i].caller = caller;
		caller = ret_rows[i] = stack_row(profile, &frames[i]);
	}
}

void profile_expect_stacks(const struct profile *profile, u32 path_hash,
			   const struct stack_row *frames, u32 count, u32 *ret_hashes)
{
	for (u32 i = 0; i < count; i++) {
		path_hash = ret_hashes[i] = stack_path_hash(path_hash, &frames[i]);
		stack_index_expect(&profile->index->stacks, path_hash);
	}
}

void profile_expect_callees(const struct profile *profile, stack_id caller)
{
	__builtin_prefetch(&profile->stacks.items[caller]);
}

void profile_expect_callee_rows(const struct profile *profile, stack_id caller)
{
	__builtin_prefetch(&profile->stacks.items[profile->stacks.items[caller].first_callee]);
}

stack_id profile_stack(struct profile *profile, const struct stack_row *stack)
{
	struct stack_row frame = *stack;
	stack_id row;

	profile_stacks(profile, stack->caller, &frame, 1, &row);
	return row;
}

/* The row of another profile's stack, but for its caller, with the hash of its path here. */
static struct stack_row translated(const struct profile *other, stack_id id,
				   const location_id *locations, u32 *hashes)
{
	struct stack_row row = other->stacks.items[id];

	row.location = locations[row.location];
	row.path_hash = hashes[id] = stack_path_hash(hashes[row.caller], &row);
	return row;
}

void profile_join_stacks(struct profile *profile, const struct profile *other,
			 const location_id *locations, stack_id *ret_rows)
{
	enum { AHEAD = 16 }; /* slots that are on their way from memory */
	struct stack_row coming[AHEAD];
	struct stack_index *index = &profile->index->stacks;
	size_t count = other->stacks.count;
	CLEANUP(freep) u32 *hashes = must_resize_array(NULL, count, sizeof(*hashes));

	hashes[0] = profile->stacks.items[0].path_hash;
	reserve_stacks(profile, AHEAD);
	for (size_t id = 1; id < count + AHEAD; id++) {
		struct stack_row *row = &coming[id % AHEAD];

		if (id > AHEAD) {
			stack_index_reserve(index, AHEAD);
			row->caller = ret_rows[row->caller];
			ret_rows[id - AHEAD] = stack_row(profile, row);
		}
		if (id >= count)
			continue;
		*row = translated(other, (stack_id)id, locations, hashes);
		stack_index_expect(index, row->path_hash);
	}
}

/* --- branches --- */

static bool branch_equals(const void *table, u32 row, const void *key)
{
	const struct profile *profile = table;
	const struct branch_row *a = &profile->branches.items[row], *b = key;

	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

branch_id profile_branch(struct profile *profile, const struct branch_row *branch)
{
	u64 hash = hash_mix(hash_mix(0, (u64)branch->from << 32 | branch->to), branch->flags);
	u32 next = (u32)profile->branches.count;
	u32 row = row_index_find(&profile->index->branches,
				 (struct row_wanted){hash, next, branch_equals, profile, branch});

	if (row == next)
		*vec_add(&profile->branches) = *branch;
	return row;
}

/* --- details --- */

static bool detail_equals(const void *table, u32 row, const void *key)
{
	const struct profile *profile = table;

	return !memcmp(&profile->details.items[row], key, sizeof(struct detail_row));
}

detail_id profile_details(struct profile *profile, const struct detail_row *details)
{
	u64 hash = 0, any = 0;
	u32 next = (u32)profile->details.count;
	u32 row;

	for (u32 i = 0; i < DETAIL_COUNT; i++) {
		hash = hash_mix(hash, details->values[i]);
		any |= details->values[i];
	}
	if (!any)
		return 0;
	row = row_index_find(&profile->index->details,
			     (struct row_wanted){hash, next, detail_equals, profile, details});
	if (row == next)
		*vec_add(&profile->details) = *details;
	return row;
}

void profile_add_cgroup(struct profile *profile, u64 id, string_id path)
{
	u32 *place = idmap_place(&profile->cgroup_of, id);

	if (!*place) {
		*vec_add(&profile->cgroups) = (struct cgroup_row){.id = id};
		*place = (u32)profile->cgroups.count;
	}
	profile->cgroups.items[*place - 1].path = path;
}

/* --- labels and counts --- */

static bool label_equals(const void *table, u32 row, const void *key)
{
	const struct profile *profile = table;
	const struct label_row *a = &profile->labels.items[row], *b = key;

	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu &&
	       a->detail == b->detail;
}

label_id profile_labels(struct profile *profile, const struct label_row *labels)
{
	u64 hash = hash_mix(hash_mix(labels->detail, (u64)labels->comm << 32 | labels->cpu),
			    (u64)labels->pid << 32 | labels->tid);
	u32 next = (u32)profile->labels.count;
	u32 row = row_index_find(&profile->index->labels,
				 (struct row_wanted){hash, next, label_equals, profile, labels});

	if (row == next)
		*vec_add(&profile->labels) = *labels;
	return row;
}

/* Rows of counts are numbered from 1 in the hash table, from 0 in the vec. */
static bool count_equals(const void *table, u32 row, const void *key)
{
	const struct profile *profile = table;
	const struct count_row *a = &profile->counts.items[row - 1], *b = key;

	return a->stack == b->stack && a->leaf == b->leaf && a->labels == b->labels &&
	       a->branch == b->branch && a->source == b->source && a->space == b->space;
}

static u64 count_hash(const struct count_row *count)
{
	return hash_mix(hash_mix(count->branch, (u64)count->stack << 32 | count->leaf),
			(u64)count->labels << 32 | count->source << 8 | count->space);
}

static u32 find_count(struct profile *profile, const struct count_row *count, u32 next)
{
	return row_index_find(
		&profile->index->counts,
		(struct row_wanted){count_hash(count), next, count_equals, profile, count});
}

void profile_expect_count(const struct profile *profile, const struct count_row *count)
{
	row_index_expect(&profile->index->counts, count_hash(count));
}

void profile_expect_count_row(const struct profile *profile, const struct count_row *count)
{
	u32 row = row_index_guess(&profile->index->counts, count_hash(count));

	if (row)
		__builtin_prefetch(&profile->counts.items[row - 1]);
}

u32 profile_add(struct profile *profile, const struct count_row *count)
{
	u32 next = (u32)profile->counts.count + 1;
	u32 row;

	/* What profile_append() left out. */
	while (profile->index->counts.count < profile->counts.count)
		find_count(profile, &profile->counts.items[profile->index->counts.count],
			   profile->index->counts.count + 1);
	row = find_count(profile, count, next);
	if (row == next) {
		*vec_add(&profile->counts) = *count;
		return row - 1;
	}
	profile->counts.items[row - 1].weight += count->weight;
	profile->counts.items[row - 1].samples += count->samples;
	return row - 1;
}

void profile_append(struct profile *profile, const struct count_row *count)
{
	*vec_add(&profile->counts) = *count;
}
