/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that counts samples into a profile, finding each frame's mapping as of the sample's time.
 */
#ifndef PROFILE_BUILDER_H
#define PROFILE_BUILDER_H

#include "profile/details.h"

/* Which parts of a sample's labels are kept apart; what is not kept makes fewer rows. The name of
 * the thread (comm) is always kept. */
enum { KEEP_PID = 1, KEEP_TID = 2, KEEP_CPU = 4 };

/* Says whether a location has a name. It may name it, but nothing else in the profile. */
struct name_test {
	bool (*has_name)(void *context, struct profile *profile, location_id location);
	void *context;
};

struct builder_settings {
	u32 keep;	  /* KEEP_* bits */
	u32 max_stack;	  /* innermost frames kept; 0: 127 */
	bool skip_chains; /* count leaves only */
	/* Count the branches of the samples in place of the samples, each as one, with those flags
	 * (enum branch_flag, or-ed) told apart. */
	bool count_branches;
	u32 branch_flags;
	bool count_blocks; /* count the blocks between the branches, too */
	struct detail_settings details;
	/* If there is one, callers without a name are told apart by virtual address, as in perf:
	 * the same code of two processes is two locations. It is asked once for each new caller. */
	struct name_test names;
};

struct joining;
struct profile_builder;

/* Free with profile_builder_free(). `sources` (copied) are the rows that samples refer to. */
struct profile_builder *profile_builder_new(const struct builder_settings *settings,
					    const struct event_source *sources, u32 source_count);
/* The sink; it keeps its own process table. Lives as long as the builder. */
struct event_sink *profile_builder_sink(struct profile_builder *builder);
/* A sink that follows the processes and counts nothing: for what went before the part of a
 * recording that is to be counted. */
struct event_sink *profile_builder_follower(struct profile_builder *builder);
/* Ends counting and hands over what was counted; the builder starts again empty, but goes on
 * knowing the processes. The caller owns the profile. */
struct profile *profile_builder_take(struct profile_builder *builder);
/* Gives back what is only good for counting more: for a builder that is to be appended, which then
 * need not be soon. */
void profile_builder_settle(struct profile_builder *builder);
/* Notes what the locations that were counted are used for. */
void profile_builder_note_uses(struct profile_builder *builder);
/* Whether what builders with these settings counted can be put together. */
bool profile_builder_can_append(const struct builder_settings *settings);
/*
 * Adds what `next` counted: the result is, row by row, that of one builder that counted both.
 *
 * next  made with the same settings and sources; it followed all that `builder` heard and what was
 *       appended to it so far, and then counted what is right behind
 * From then on `builder` no longer knows the processes: take the profile.
 */
void profile_builder_append(struct profile_builder *builder, struct profile_builder *next);
/* The same but for stacks and what was counted at them, which profile_continue() adds, also after
 * profile_builder_take(); until then `next` stays. */
struct joining *profile_builder_append_places(struct profile_builder *builder,
					      struct profile_builder *next);
/* Frees; NULL is fine. */
void profile_builder_free(struct profile_builder *builder);

#endif
