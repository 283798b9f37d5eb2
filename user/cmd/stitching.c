/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the stitcher between a recording and whoever reads it.
 */
#include "cmd/stitching.h"

#include "base/fail.h"
#include "base/parallel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

int stitching_parse(const char *argument, u8 *ret_tier)
{
	static const struct {
		const char *name;
		u8 tier;
	} tiers[] = {{"certain", LBR_CERTAIN}, {"likely", LBR_LIKELY}};

	for (size_t i = 0; i < ARRAY_COUNT(tiers); i++) {
		if (argument && strcmp(argument, tiers[i].name) != 0)
			continue;
		*ret_tier = tiers[i].tier;
		return 0;
	}
	return fail_plain(-EINVAL, NULL, "give certain or likely");
}

bool stitching_is_possible(const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		if (lbr_is_recorded(&sources[i]))
			return true;
	return false;
}

/* Without call chains nobody has asked for stacks. */
static bool has_stacks(const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		if (lbr_is_recorded(&sources[i]) && sources[i].has_chain)
			return true;
	return false;
}

void stitching_warn(const struct perfdata *data, u8 tier, bool counts_branches)
{
	if (tier == LBR_PLAIN)
		return;
	if (!has_stacks(data))
		fputs("bpfprof: there are no LBR call stacks to stitch; record with --call-graph "
		      "lbr\n",
		      stderr);
	else if (counts_branches)
		fputs("bpfprof: branches are counted here, and no LBR call stacks stitched; use "
		      "--no-branch-stack\n",
		      stderr);
}

static int find_callers(void *context, const struct build_id *id, struct bytes *ret_block)
{
	return names_cache_find_callers(context, id, ret_block);
}

/* What could not be written is said when the cache is closed. */
static void keep_callers(void *context, const struct build_id *id, u64 rows, struct bytes block)
{
	if (context)
		(void)names_cache_add_callers(context, id, rows, block);
}

struct lbr_keeper stitching_keeper(struct names_cache *cache)
{
	enum { LEAST_BYTES = 1 << 20 };

	return (struct lbr_keeper){find_callers, keep_callers, cache, LEAST_BYTES};
}

static struct lbr_stitcher *new_stitcher(const struct perfdata *data,
					 const struct lbr_settings *settings,
					 struct event_sink *next)
{
	struct lbr_settings wanted = *settings;
	struct lbr_stitcher *stitcher;
	const struct event_source *sources;
	u32 count;

	wanted.depth = perfdata_header(data)->branch_depth;
	stitcher = lbr_stitcher_new(&wanted, next);
	sources = perfdata_sources(data, &count);
	lbr_stitcher_set_sources(stitcher, sources, count);
	return stitcher;
}

/* So many parts are learned from at once: what is learned depends on how it is cut, and shall not
 * on how many CPUs there are. More would find out too much twice, as two would where stacks come
 * again. */
enum { LEARNED_PARTS = 2 };

static int learn_by_parts(struct perfdata *data, struct lbr_stitcher *first, u32 count)
{
	struct lbr_stitcher *parts[LEARNED_PARTS] = {first};
	struct perfdata_slice slices[LEARNED_PARTS];
	int error;

	for (u32 i = 0; i < count; i++) {
		if (i)
			parts[i] = lbr_stitcher_for_part(first);
		slices[i] = (struct perfdata_slice){
			.before = lbr_stitcher_follower(parts[i]),
			.sink = lbr_stitcher_learning_sink(parts[i]),
		};
	}
	error = perfdata_read_slices(data, slices, count);
	for (u32 i = 1; i < count; i++) {
		lbr_stitcher_learn_from(first, parts[i]);
		lbr_stitcher_free(parts[i]);
	}
	return error;
}

/* What is wrong with the file is said the second time. Where only samples say how many registers
 * there are, all must be heard by one. */
static int learn(struct perfdata *data, struct lbr_stitcher *stitcher)
{
	bool is_one = !perfdata_header(data)->branch_depth || perfdata_repeats(data);
	u32 count = is_one ? 1 : perfdata_slices(data, LEARNED_PARTS);
	int error;

	lbr_stitcher_expect(stitcher, perfdata_event_count(data));
	error = count > 1 ? learn_by_parts(data, stitcher, count)
			  : perfdata_read(data, lbr_stitcher_learning_sink(stitcher));

	return error == -EBADMSG ? 0 : error;
}

enum { PREPARED_MOST = 64 };

/* Binaries that are read while the recording is gone through for the first time. */
struct preparing {
	struct lbr_stitcher *stitcher;
	const char *paths[PREPARED_MOST];
	struct build_id ids[PREPARED_MOST];
	u32 count;
	struct parallel_task task;
};

/* They are wanted behind the index, whose threads go first: where these are as many as CPUs, it is
 * done in what they leave. */
enum { LOW_PRIORITY = 10 };

static void *prepare(void *context)
{
	struct preparing *preparing = context;

	setpriority(PRIO_PROCESS, 0, LOW_PRIORITY); /* of this thread */
	for (u32 i = 0; i < preparing->count; i++)
		lbr_stitcher_prepare(preparing->stitcher, preparing->paths[i], &preparing->ids[i]);
	return NULL;
}

/* What is read of a large one takes as long as a twentieth of a million samples. */
static void begin_preparing(struct preparing *preparing, struct lbr_stitcher *stitcher,
			    const struct perfdata *data)
{
	preparing->stitcher = stitcher;
	while (preparing->count < PREPARED_MOST &&
	       perfdata_listed_binary(data, preparing->count, &preparing->paths[preparing->count],
				      &preparing->ids[preparing->count]))
		preparing->count++;
	if (preparing->count)
		parallel_begin(&preparing->task, prepare, preparing);
}

/* Hears the first samples. */
struct glance {
	struct event_sink sink;
	const struct perfdata *data;
	u32 depth, heard;
	u32 tid;       /* of the last sample */
	u64 outermost; /* call of it */
	u32 changes;   /* of the outermost call, from one sample of a thread to the next */
	bool is_cut;   /* a stack of them, as far as its registers tell */
};

/* Full registers have lost what came before them. So may have others, after returns: but then what
 * is the outermost call changes again and again, where it is the same in all whole stacks of a
 * thread that has begun. */
static void look_at_branches(struct glance *glance, const struct sample *sample)
{
	enum { USUAL_CHANGES = 16 }; /* what starts a program, and signals */
	u32 count = sample->branch_count;
	u64 outermost = count ? sample->branches[count - 1].from : 0;

	glance->changes += sample->tid == glance->tid && outermost != glance->outermost;
	glance->tid = sample->tid;
	glance->outermost = outermost;
	glance->is_cut |= !count || count >= glance->depth || glance->changes > USUAL_CHANGES;
}

static int look_at(struct event_sink *sink, const struct sample *sample)
{
	enum { GLANCED_AT = 1 << 10 };
	struct glance *glance = (struct glance *)sink;
	u32 count;
	const struct event_source *sources = perfdata_sources(glance->data, &count);

	if (sample->source < count && lbr_is_recorded(&sources[sample->source]))
		look_at_branches(glance, sample);
	return !glance->is_cut && ++glance->heard < GLANCED_AT ? 0 : -ECANCELED;
}

/* Where the registers hold all stacks of a program there is nothing to learn, which shows only at
 * the end. Where they do not, it mostly shows at once: before counting begins on all CPUs. */
static bool shows_cut_stacks(struct perfdata *data)
{
	enum { USUAL_DEPTH = 16 };
	u32 depth = perfdata_header(data)->branch_depth;
	struct glance glance = {
		.sink.on_sample = look_at,
		.data = data,
		.depth = depth ? depth : USUAL_DEPTH,
	};

	if (perfdata_read(data, &glance.sink))
		fail_clear(); /* what is wrong with the file is said later */
	return glance.is_cut;
}

int stitching_count(struct perfdata *data, const struct lbr_settings *lbr,
		    const struct counting_settings *settings, struct profile **ret_profile,
		    struct lbr_tally *ret_tally)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher(data, lbr, NULL);
	struct counting_settings stitched = *settings, unsure;
	struct preparing preparing = {0};
	bool must_learn;
	int error = 0;

	stitched.stitcher = stitcher;
	unsure = stitched;
	unsure.meanwhile = NULL; /* what is counted may be thrown away */
	begin_preparing(&preparing, stitcher, data);
	perfdata_slices(data, 1); /* makes the index, with the keys that a builder may do without */
	must_learn = shows_cut_stacks(data);
	if (!must_learn) {
		error = counting_read(data, &unsure, ret_profile, ret_tally);
		must_learn = lbr_stitcher_lacks_lessons(stitcher);
	}
	if (must_learn) {
		fail_clear();
		error = learn(data, stitcher);
		if (!error)
			error = counting_read(data, &stitched, ret_profile, ret_tally);
	}
	parallel_wait(&preparing.task);
	lbr_stitcher_keep(stitcher);
	return error;
}

int stitching_read(struct perfdata *data, const struct lbr_settings *settings,
		   struct event_sink *sink, struct lbr_tally *ret_tally)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = NULL;
	int error = 0;

	if (!stitching_is_possible(data))
		return perfdata_read(data, sink);
	stitcher = new_stitcher(data, settings, sink);
	if (settings->tier != LBR_PLAIN)
		error = learn(data, stitcher);
	if (!error)
		error = perfdata_read(data, lbr_stitcher_sink(stitcher));
	*ret_tally = *lbr_stitcher_tally(stitcher);
	lbr_stitcher_keep(stitcher);
	return error;
}
