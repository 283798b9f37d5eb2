/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places by the number of their binary. What was looked up stands in the cache, so all of it can be
 * forgotten: it is then looked for there, which also tells the cache that it is in use.
 */
#include "cmd/daemon_lines.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum {
	FAILURES_MAX = 8,
	BINARIES_MAX = 1 << 15,
	KNOWN_MAX = 1 << 18, /* 6 MiB */
	PLACE_BITS = 33,     /* a file offset below 4 GiB, and what is meant by it */
	/* To open a file with all that it says takes most of the time, however few places there
	 * are: those of several windows are looked for at once, and that takes 0.2% of a CPU. */
	REST_FACTOR = 500,
};

void daemon_lines_release(struct daemon_lines *lines)
{
	for (size_t i = 0; i < lines->binaries.count; i++) {
		free(lines->binaries.items[i].path);
		vec_release(&lines->binaries.items[i].places);
	}
	intern_release(&lines->build_ids);
	vec_release(&lines->binaries);
	idmap_release(&lines->known);
}

static u64 known_key(u32 id, u64 place)
{
	return (u64)id << PLACE_BITS | place;
}

/* But for the places that are still to be looked for. */
static void forget_known(struct daemon_lines *lines)
{
	idmap_release(&lines->known);
	for (u32 id = 1; id <= lines->binaries.count; id++) {
		const struct binary_lines *binary = &lines->binaries.items[id - 1];

		for (size_t i = 0; i < binary->places.count; i++)
			*idmap_place(&lines->known, known_key(id, binary->places.items[i])) = 1;
	}
}

/* So many that wait are there only if nothing can be written for long. */
static void forget_places(struct daemon_lines *lines)
{
	idmap_release(&lines->known);
	for (size_t i = 0; i < lines->binaries.count; i++)
		vec_release(&lines->binaries.items[i].places);
}

static void forget_old(struct daemon_lines *lines, u64 now_ns)
{
	if (lines->known.count >= KNOWN_MAX || now_ns - lines->since_ns >= lines->again_ns) {
		forget_known(lines);
		lines->since_ns = now_ns;
	}
	if (lines->known.count >= KNOWN_MAX)
		forget_places(lines);
	if (lines->binaries.count >= BINARIES_MAX && !lines->waiting)
		daemon_lines_release(lines);
}

void daemon_lines_add(struct daemon_lines *lines, const struct sampled_code *code, u64 now_ns)
{
	const struct mapping *mapping = code->binary;
	struct binary_lines *binary;
	u32 id;

	forget_old(lines, now_ns);
	id = intern_bytes(&lines->build_ids, mapping->build_id, mapping->build_id_bytes);
	if (id > lines->binaries.count)
		*vec_add(&lines->binaries) = (struct binary_lines){0};
	binary = &lines->binaries.items[id - 1];
	/* Of one without lines nothing is noted for as long as that is known. */
	if (now_ns < binary->rest_ns && !binary->path)
		return;
	free(binary->path);
	binary->path = must_copy(mapping->path);
	binary->pid = mapping->pid;
	binary->build_id_bytes = mapping->build_id_bytes;
	for (size_t i = 0; i < code->count; i++) {
		u32 *known = idmap_place(&lines->known, known_key(id, code->places[i]));

		if (!*known)
			*vec_add(&binary->places) = code->places[i];
		*known = 1;
	}
}

bool daemon_lines_take(struct daemon_lines *lines, u32 id, u64 now_ns, struct wanted *ret_wanted)
{
	struct binary_lines *binary = &lines->binaries.items[id - 1];
	struct mapping mapping = {
		.pid = binary->pid, .path = binary->path, .build_id_bytes = binary->build_id_bytes};

	if (binary->is_waiting || now_ns < binary->rest_ns || !binary->places.count)
		return false;
	memcpy(mapping.build_id, intern_view(&lines->build_ids, id), mapping.build_id_bytes);
	*ret_wanted = wanted_of(WANT_LINES, id, &mapping);
	ret_wanted->address_count = binary->places.count;
	ret_wanted->addresses = TAKE(binary->places.items);
	vec_release(&binary->places);
	binary->is_waiting = true;
	lines->waiting++;
	return true;
}

/* They are wanted again. */
static void forget(struct daemon_lines *lines, const struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->address_count; i++)
		idmap_remove(&lines->known, known_key(wanted->id, wanted->addresses[i]));
}

static void leave_alone(struct daemon_lines *lines, struct binary_lines *binary)
{
	binary->failures = 0;
	binary->rest_ns = clock_ns(CLOCK_MONOTONIC) + lines->again_ns;
	free(TAKE(binary->path));
	vec_release(&binary->places);
}

void daemon_lines_note(struct daemon_lines *lines, const struct wanted *wanted,
		       const struct lines_outcome *outcome)
{
	struct binary_lines *binary = &lines->binaries.items[wanted->id - 1];
	bool is_gone = outcome->error == -ENOENT && ++binary->failures < FAILURES_MAX;
	/* Of other places all may be in this file. */
	bool is_done = !outcome->error || names_cache_rest_is_kept(outcome->error);

	binary->is_waiting = false;
	lines->waiting--;
	binary->rest_ns = clock_ns(CLOCK_MONOTONIC) + outcome->cost_ns * REST_FACTOR;
	if (is_done)
		binary->failures = 0;
	else
		forget(lines, wanted);
	if (!is_done && !outcome->is_unwritten && !is_gone)
		leave_alone(lines, binary);
}
