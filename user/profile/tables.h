/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a profile. Row 0 of each means "none"; zeroed memory is a valid empty object.
 *
 * The stack table is the call tree: a row is one node, its caller the parent, so memory grows with
 * distinct stacks, not with samples. Stacks are of locations (addresses in binaries), nothing is
 * lost; names are attached to locations, once each: after counting, but for callers that a builder
 * asks about.
 */
#ifndef PROFILE_TABLES_H
#define PROFILE_TABLES_H

#include "base/idmap.h"
#include "base/intern.h"
#include "base/vec.h"
#include "bpfprof/counters.h"
#include "bpfprof/types.h"
#include "event/event.h"
#include "profile/table_rows.h"

/* What the footer says about stacks and losses, per profile. */
struct profile_totals {
	u64 samples, weight;
	u64 losses[COUNTERS_MAX]; /* by enum counter */
	struct stack_tally stacks;
	struct branch_tally branches; /* if branches are counted */
	u64 first_ns, last_ns;	      /* of the samples */
};

struct profile {
	u64 serial; /* no other profile of this process has it, as an address might */
	struct intern strings;
	VEC(struct event_source) sources; /* names interned in `strings`; ids NULL */
	VEC(struct binary_row) binaries;
	VEC(struct function_row) functions;
	VEC(struct line_row) lines;
	VEC(struct location_row) locations;
	VEC(struct stack_row) stacks;
	VEC(struct branch_row) branches;
	VEC(struct thread_row) threads;
	VEC(struct detail_row) details;
	VEC(struct cgroup_row) cgroups; /* no row 0 */
	struct idmap cgroup_of;		/* id: row + 1 */
	VEC(struct label_row) labels;
	VEC(struct count_row) counts; /* no row 0 */
	VEC(struct block_row) blocks; /* no row 0; alike ones are summed where they are used */
	VEC(struct early_end_row) early_ends; /* no row 0; one for each binary and cut */
	struct profile_totals totals;
	struct profile_index *index; /* private: hash tables of the rows */
};

/* An empty profile with its rows 0. Free with profile_free(). */
struct profile *profile_new(void);
/* Frees; NULL is fine. */
void profile_free(struct profile *profile);

/* The row of this binary, new or known: the identity is (path, build id, kind), for what is the
 * kernel's where it was loaded, too, and for what has no build id the inode. */
binary_id profile_binary(struct profile *profile, const struct binary_row *binary);
/* The row of an address in a binary, new or known. */
location_id profile_location(struct profile *profile, binary_id binary, u64 address, u8 space);
/* It will be asked for soon. */
void profile_expect_location(const struct profile *profile, binary_id binary, u64 address,
			     u8 space);
/* The row of the same address in the same binary, but of this virtual address alone; new or known.
 * It has no name, for the same reason. */
location_id profile_location_seen_at(struct profile *profile, location_id location, u64 seen_at);
/* How many addresses in binaries the rows stand for, however often they were told apart. */
u64 profile_addresses(const struct profile *profile);
/* The row of a frame called from stack->caller, new or known, by (caller, location, origin, mark).
 */
stack_id profile_stack(struct profile *profile, const struct stack_row *stack);
/* The same for frames that call each other, outermost first, of which the first is called from
 * `caller`; fills in their `caller`. The rows go to `ret_rows`. */
void profile_stacks(struct profile *profile, stack_id caller, struct stack_row *frames, u32 count,
		    stack_id *ret_rows);
/* They will be asked for soon. `path_hash` is that of the path of `caller`, 0 if it is the root;
 * those of the frames go to `ret_hashes`. */
void profile_expect_stacks(const struct profile *profile, u32 path_hash,
			   const struct stack_row *frames, u32 count, u32 *ret_hashes);
/* Frames called from `caller` will be asked for soon. */
void profile_expect_callees(const struct profile *profile, stack_id caller);
/* The same, some time after that. */
void profile_expect_callee_rows(const struct profile *profile, stack_id caller);
/* The rows of all stacks of another profile, new or known, by their rows there. `locations` says
 * which of this profile's are its. */
void profile_join_stacks(struct profile *profile, const struct profile *other,
			 const location_id *locations, stack_id *ret_rows);
/* The row of a branch, new or known. */
branch_id profile_branch(struct profile *profile, const struct branch_row *branch);
/* The row of a function, new or known, by (binary, start, end) or, inlined, by (binary, name). */
function_id profile_function(struct profile *profile, const struct function_row *function);
/* The function that the machine code at a location is of, the outermost where some are inlined; 0:
 * it has no name. */
function_id profile_outer_function(const struct profile *profile, location_id location);
/* The binary that a location is of, 0 if of none, once it has been named: behind the kernel's text
 * only what has a name is the kernel's. */
binary_id profile_location_binary(const struct profile *profile,
				  const struct location_row *location);
/* The row of such details, new or known; 0 if all are 0. */
detail_id profile_details(struct profile *profile, const struct detail_row *details);
/* Names a cgroup; of two paths of one id the later one counts. */
void profile_add_cgroup(struct profile *profile, u64 id, string_id path);
/* The path of a cgroup; NULL: not known. Borrowed from the profile. */
const char *profile_cgroup(const struct profile *profile, u64 id);
/* The row of a label set, new or known. */
label_id profile_labels(struct profile *profile, const struct label_row *labels);
/* Adds to the row of (source, stack, leaf, branch, labels); `count` as a template whose weight and
 * samples are added. Returns the row. */
u32 profile_add(struct profile *profile, const struct count_row *count);
/* It will be added soon. */
void profile_expect_count(const struct profile *profile, const struct count_row *count);
/* The same, some time after that. */
void profile_expect_count_row(const struct profile *profile, const struct count_row *count);
/* Adds a row that is not there yet. Cheaper: it is looked for only if profile_add() is called
 * again.
 */
void profile_append(struct profile *profile, const struct count_row *count);

/* Gives back the memory by which locations, stacks and counts are found again, which is about as
 * much as they take themselves. Whoever adds one has it made anew. */
void profile_forget_lookups(struct profile *profile);

/* Gives back the rows of stacks, which from then on nobody may ask for. */
void profile_forget_stacks(struct profile *profile);

/* Counts a sample. */
void profile_totals_add(struct profile_totals *totals, const struct sample *sample);

/* The string of an id, "" for 0. Borrowed until profile_free(). */
const char *profile_text(const struct profile *profile, string_id id);

#endif
