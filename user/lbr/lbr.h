/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole call chains from LBR call stacks, which the hardware cuts at 8 to 32 calls. This is the
 * folder's face.
 *
 * A stitcher is a sink between a producer of events and whoever counts or prints them. Samples with
 * an LBR call stack leave it with a chain that is longer and checked; on doubt it is shorter,
 * because a frame that was not there is worse than one that is missing.
 */
#ifndef LBR_LBR_H
#define LBR_LBR_H

#include "binary/binary.h"

enum lbr_tier {
	LBR_PLAIN,   /* what perf shows without --stitch-lbr; nothing is checked */
	LBR_CERTAIN, /* what follows from the snapshot, the binaries and all other snapshots */
	LBR_LIKELY,  /* also what the snapshot before makes likely */
};

/* Where is kept what takes long to find out of a binary: bytes by build id, which may be foreign
 * when they come back. */
struct lbr_keeper {
	/* ret_block: its start is the caller's to free. Returns 0, or -ENOENT. Threads ask. */
	int (*find)(void *context, const struct build_id *id, struct bytes *ret_block);
	void (*keep)(void *context, const struct build_id *id, u64 rows, struct bytes block);
	void *context;
	u64 least_bytes; /* of a binary: a smaller one is read in no time */
};

struct lbr_settings {
	u8 tier;	   /* enum lbr_tier */
	u32 depth;	   /* how many registers there are; 0: unknown, the deepest snapshot says */
	const char *symfs; /* look for binaries below this folder first; NULL: no. Borrowed */
	const struct lbr_keeper *keeper; /* NULL: nothing is kept. Borrowed */
};

/*
 * Why a stack ended where it did: X(NAME, key in JSON, sentence). Append-only.
 */
#define LBR_ENDS(X)                                                                         \
	X(WHOLE, whole, "whole")                                                            \
	X(OVERWRITTEN, overwritten, "older calls had been overwritten")                     \
	X(CONTRADICTED, contradicted, "what comes next cannot have been called from there") \
	X(SIGNAL, signal, "a signal interrupted what comes next, and nothing says where")   \
	X(SEVERAL, several, "several callers are possible")                                 \
	X(UNSEEN, unseen, "a possible caller was never seen, or not with its own callers")  \
	X(EMPTY, empty, "the hardware had recorded nothing")

#define LBR_END_AS_ENUM(name, key, sentence) LBR_END_##name,
enum lbr_end { LBR_ENDS(LBR_END_AS_ENUM) LBR_END_COUNT };

/* What became of the stacks. */
struct lbr_tally {
	u64 stacks;		 /* samples with an LBR call stack */
	u64 whole_by_hardware;	 /* the registers reached the thread's start */
	u64 cut_by_hardware;	 /* they did not */
	u64 became_whole;	 /* of these: made whole */
	u64 became_longer;	 /* of these: longer, but not whole */
	u64 shortened;		 /* entries were left out because something contradicts them */
	u64 likely;		 /* have frames that are likely, not certain (LBR_LIKELY) */
	u64 ends[LBR_END_COUNT]; /* all stacks by enum lbr_end */
	u64 binaries_missing;	 /* binaries that could not be read, so nothing could be checked */
};

/* Whether the samples of an event have LBR call stacks. */
bool lbr_is_recorded(const struct event_source *source);

struct lbr_stitcher;

/* A stitcher in front of `next`, which is borrowed. Free with lbr_stitcher_free(). */
struct lbr_stitcher *lbr_stitcher_new(const struct lbr_settings *settings, struct event_sink *next);
/* Frees; NULL is fine. */
void lbr_stitcher_free(struct lbr_stitcher *stitcher);
/* For CLEANUP. */
void lbr_stitcher_freep(struct lbr_stitcher **stitcher);

/* Reads a large binary of which samples are said to be, which need not wait for it then. On any
 * thread, while the stitcher is used on others. */
void lbr_stitcher_prepare(struct lbr_stitcher *stitcher, const char *path,
			  const struct build_id *id);

/* Which samples have LBR call stacks: those of sources with PERF_SAMPLE_BRANCH_CALL_STACK.
 * Borrowed; to be called before the first event. */
void lbr_stitcher_set_sources(struct lbr_stitcher *stitcher, const struct event_source *sources,
			      size_t count);

/*
 * The sink to feed; lives as long as the stitcher. It hands on every event.
 *
 * A sample with an LBR call stack leaves it with its kernel frames, the true leaf, then the callers
 * by their return addresses, each frame with its origin; `cut` and `walked` say how it ended. By
 * LBR_PLAIN it leaves as perf shows it: the leaf is where the newest call led, callers are the
 * CALLs themselves. Its branches stay, for those who print them.
 */
struct event_sink *lbr_stitcher_sink(struct lbr_stitcher *stitcher);

/* A sink that hears a whole recording before the other one is fed with the same, where that is
 * possible. It learns who calls whom, and hands nothing on. */
struct event_sink *lbr_stitcher_learning_sink(struct lbr_stitcher *stitcher);

/* Tells how many samples the recording has, about, before the learning sink hears any or parts are
 * made. */
void lbr_stitcher_expect(struct lbr_stitcher *stitcher, u64 samples);

/*
 * A stitcher that hears a part of the recording by its learning sink, and before that by its
 * follower what is in front of the part. The parts can be heard at the same time, the first one by
 * `first` itself; making and freeing is for one thread.
 *
 * first  outlives it; its settings say how many registers there are
 */
struct lbr_stitcher *lbr_stitcher_for_part(struct lbr_stitcher *first);
/* Learns what `part` has learned, when all parts were heard; in the order of the parts. */
void lbr_stitcher_learn_from(struct lbr_stitcher *first, const struct lbr_stitcher *part);

/*
 * A stitcher for a part of the recording of which `learned` (LBR_CERTAIN) has heard all by its
 * learning sink. It first hears by its follower all events that are no samples and come before the
 * part. What stitchers of all parts hand on is what one would hand on of the whole.
 *
 * learned  outlives it, and is used for nothing else meanwhile. It may have heard nothing yet: see
 *          lbr_stitcher_lacks_lessons()
 * Parts can be stitched at the same time; making and freeing is for one thread.
 */
struct lbr_stitcher *lbr_stitcher_beside(struct lbr_stitcher *learned, struct event_sink *next);
/*
 * Whether stitchers beside `learned`, which had heard nothing, have met a stack that depends on
 * other samples. Since then their sinks refuse samples with -EAGAIN, and all must be read again
 * behind what is to be learned. If none has, lessons would have changed nothing.
 */
bool lbr_stitcher_lacks_lessons(const struct lbr_stitcher *learned);
/* A sink that follows the processes and hands nothing on. */
struct event_sink *lbr_stitcher_follower(struct lbr_stitcher *stitcher);

/* As of now. Borrowed. */
const struct lbr_tally *lbr_stitcher_tally(struct lbr_stitcher *stitcher);

/* Adds what `more` says to `tally`: of parts of one recording. */
void lbr_tally_sum(struct lbr_tally *tally, const struct lbr_tally *more);

/* The CALLs of the last sample's user frames, newest first: where each return address of its chain
 * comes from. Borrowed until the next event. */
const u64 *lbr_stitcher_calls(struct lbr_stitcher *stitcher, size_t *ret_count);

/* Keeps what was found out of binaries and was not kept yet, when all parts have been stitched. */
void lbr_stitcher_keep(struct lbr_stitcher *stitcher);

/* The sentence of an enum lbr_end. */
const char *lbr_end_words(u8 end);

#endif
