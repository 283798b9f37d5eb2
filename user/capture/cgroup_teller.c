/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of cgroups by id: filled by the kernel's records, and by a walk over the tree if a sample
 * is of one that is not in it.
 */
#include "capture/cgroup_teller.h"

#include "base/clock.h"
#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "capture/feature_probes.h"
#include "host/host.h"

#include <string.h>

enum {
	WALK_PAUSE_NS = 1000000000, /* at least so long between two walks */
	FEW_CGROUPS = 4096,	    /* are not worth a look at which are gone */
};

enum want { NOT_WANTED, WANTED, GIVEN_UP };

struct known_cgroup {
	u64 id;
	char *path;   /* NULL: not known */
	u64 seen_ns;  /* when it was in the tree, or had a sample */
	u64 first_ns; /* time of the sample that it is wanted for */
	u32 told;     /* turn in which it was told */
	u8 want;      /* enum want: a sample is of it, and its path is not known */
};

struct cgroup_teller {
	struct passing_sink passing; /* first */
	enum cgroup_tree tree;
	char *folder;
	u64 keep_ns;
	struct idmap row_of; /* id: row + 1 */
	VEC(struct known_cgroup) rows;
	u32 last; /* row of the last sample; most are of the same */
	u32 turn; /* from 1 */
	u32 wanted;
	u64 now_ns, walked_ns;
	u64 round_ns; /* all older has been handed on */
	u64 unnamed;
	size_t sweep_at; /* so many rows are worth it */
};

static struct cgroup_teller *teller_of(struct event_sink *sink)
{
	return (struct cgroup_teller *)sink;
}

/* --- the table ----------------------------------------------------------------------------------
 */

static struct known_cgroup *row_made(struct cgroup_teller *teller, u64 id)
{
	u32 *place = idmap_place(&teller->row_of, id);

	if (!*place) {
		*vec_add(&teller->rows) = (struct known_cgroup){.id = id};
		*place = (u32)teller->rows.count;
	}
	return &teller->rows.items[*place - 1];
}

static void take_found(void *context, u64 id, const char *path)
{
	struct cgroup_teller *teller = context;
	struct known_cgroup *row = row_made(teller, id);

	row->seen_ns = teller->now_ns;
	if (row->path && !strcmp(row->path, path))
		return;
	free(row->path); /* it was renamed */
	row->path = must_copy(path);
	row->told = 0;
}

static void walk(struct cgroup_teller *teller)
{
	teller->now_ns = teller->walked_ns = clock_ns(CLOCK_MONOTONIC);
	cgroups_walk(teller->folder, take_found, teller);
}

/* Forgets those that are gone, and of which no sample can come any more. */
static void sweep(struct cgroup_teller *teller)
{
	size_t kept = 0;

	walk(teller);
	idmap_release(&teller->row_of);
	for (size_t i = 0; i < teller->rows.count; i++) {
		struct known_cgroup row = teller->rows.items[i];

		if (row.seen_ns + teller->keep_ns < teller->now_ns) {
			teller->wanted -= row.want == WANTED;
			free(row.path);
			continue;
		}
		teller->rows.items[kept++] = row;
		*idmap_place(&teller->row_of, row.id) = (u32)kept;
	}
	teller->rows.count = kept;
	teller->last = 0;
	teller->sweep_at = kept * 2 > FEW_CGROUPS ? kept * 2 : FEW_CGROUPS;
}

/* --- telling ------------------------------------------------------------------------------------
 */

static int tell(struct cgroup_teller *teller, struct known_cgroup *row, u64 time_ns)
{
	struct cgroup_name name = {.time_ns = time_ns, .id = row->id, .path = row->path};

	row->told = teller->turn;
	if (row->want == WANTED)
		teller->wanted--;
	row->want = NOT_WANTED;
	return sink_call(teller->passing.next, on_cgroup, &name);
}

/* Tells of one that a sample is of, or notes that it is to be. */
static int need(struct cgroup_teller *teller, struct known_cgroup *row, u64 time_ns)
{
	row->seen_ns = teller->now_ns;
	if (row->told == teller->turn)
		return 0;
	if (row->path)
		return tell(teller, row, time_ns);
	if (row->want == NOT_WANTED) {
		row->want = WANTED;
		row->first_ns = time_ns;
		teller->wanted++;
	}
	return 0;
}

static int on_sample(struct event_sink *sink, const struct sample *sample)
{
	struct cgroup_teller *teller = teller_of(sink);
	struct known_cgroup *row = teller->last ? &teller->rows.items[teller->last - 1] : NULL;
	int error = 0;

	if (sample->cgroup && !(row && row->id == sample->cgroup)) {
		row = row_made(teller, sample->cgroup);
		teller->last = (u32)(row - teller->rows.items) + 1;
	}
	if (sample->cgroup)
		error = need(teller, row, sample->time_ns);
	return error ? error : sink_call(teller->passing.next, on_sample, sample);
}

static int on_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	struct cgroup_teller *teller = teller_of(sink);
	struct known_cgroup *row;

	take_found(teller, cgroup->id, cgroup->path);
	row = row_made(teller, cgroup->id);
	return row->want == WANTED ? tell(teller, row, cgroup->time_ns) : 0;
}

/* Looks for those that are wanted, and tells of those that are there. */
static int find_wanted(struct cgroup_teller *teller)
{
	int error = 0;

	walk(teller);
	for (size_t i = 0; i < teller->rows.count && !error; i++) {
		struct known_cgroup *row = &teller->rows.items[i];

		if (row->want != WANTED)
			continue;
		if (row->path) {
			error = tell(teller, row,
				     row->first_ns > teller->round_ns ? row->first_ns
								      : teller->round_ns);
			continue;
		}
		row->want = GIVEN_UP;
		teller->wanted--;
		teller->unnamed++;
	}
	return error;
}

static int on_round(struct event_sink *sink, u64 time_ns)
{
	struct cgroup_teller *teller = teller_of(sink);
	bool is_last = time_ns == ~0ULL;
	int error = 0;

	teller->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (teller->wanted && (is_last || teller->now_ns - teller->walked_ns >= WALK_PAUSE_NS))
		error = find_wanted(teller);
	if (teller->rows.count >= teller->sweep_at)
		sweep(teller);
	teller->round_ns = time_ns;
	return error ? error : sink_call(teller->passing.next, on_round, time_ns);
}

void cgroup_teller_turn(struct cgroup_teller *teller)
{
	teller->turn++;
}

u64 cgroup_teller_unnamed(const struct cgroup_teller *teller)
{
	return teller ? teller->unnamed : 0;
}

/* --- opening ------------------------------------------------------------------------------------
 */

struct cgroup_teller *cgroup_teller_new(enum cgroup_tree tree, char *folder, u64 window_ns)
{
	struct cgroup_teller *teller = must_alloc(sizeof(*teller));

	teller->tree = tree;
	teller->folder = folder;
	teller->keep_ns = 2 * (window_ns ? window_ns : AGGREGATE_WINDOW_NS);
	teller->turn = 1;
	teller->sweep_at = FEW_CGROUPS;
	return teller;
}

struct cgroup_teller *cgroup_teller_open(u64 window_ns)
{
	CLEANUP(freep) char *folder = NULL;
	char found[FEATURE_FOUND_BYTES] = "";
	enum cgroup_tree tree = cgroup_tree_find(&folder);

	if (probe_cgroup_ids(found))
		return NULL;
	return cgroup_teller_new(tree, TAKE(folder), window_ns);
}

void cgroup_teller_free(struct cgroup_teller *teller)
{
	if (!teller)
		return;
	for (size_t i = 0; i < teller->rows.count; i++)
		free(teller->rows.items[i].path);
	vec_release(&teller->rows);
	idmap_release(&teller->row_of);
	free(teller->folder);
	free(teller);
}

enum cgroup_tree cgroup_teller_tree(const struct cgroup_teller *teller)
{
	return teller ? teller->tree : CGROUP_TREE_NONE;
}

struct event_sink *cgroup_teller_sink(struct cgroup_teller *teller, struct event_sink *next)
{
	passing_sink_init(&teller->passing, next);
	teller->passing.sink.on_sample = on_sample;
	teller->passing.sink.on_cgroup = on_cgroup;
	teller->passing.sink.on_round = on_round;
	walk(teller); /* what is gone in a moment keeps its path */
	return &teller->passing.sink;
}
