/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plays scripted branch stacks through the BPF text and the ring of a recording, as samples.
 */
#ifndef TESTS_KERNEL_SCRIPTED_BRANCHES_H
#define TESTS_KERNEL_SCRIPTED_BRANCHES_H

#include "branch_stack.h"
#include "branch_stack.skel.h"
#include "capture/ring.h"
#include "kernel/counter_sum.h"
#include "kernel/recording.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

struct player {
	struct branch_stack_bpf *skeleton;
	struct script *scripts; /* SCRIPTS_MAX, as the programs see them */
	struct ring *ring;
};

static inline void player_release(struct player *player)
{
	ring_close(player->ring);
	if (player->scripts)
		munmap(player->scripts, SCRIPTS_MAX * sizeof(struct script));
	branch_stack_bpf__destroy(player->skeleton);
}

/* Prepares the programs for a CPU of `depth` branch records; skips the test where that is not
 * allowed. */
static inline void player_prepare(struct player *player, u8 depth)
{
	enum { RING_BYTES = 4 << 20 };

	skip_without_permission();
	player->skeleton = branch_stack_bpf__open();
	assert_non_null(player->skeleton);
	player->skeleton->rodata->settings = (struct program_settings){
		.branch_depth = depth, .ring_bytes = RING_BYTES, .ring_wake_bytes = RING_BYTES};
	bpf_map__set_max_entries(player->skeleton->maps.ring, RING_BYTES);
	bpf_map__set_max_entries(player->skeleton->maps.counters, (u32)libbpf_num_possible_cpus());
}

/* The same, loaded to play scripts; skips the test before Linux 5.14. */
static inline void player_open(struct player *player, u8 depth)
{
	player_prepare(player, depth);
	bpf_program__set_autoload(player->skeleton->progs.take_by_helper, false);
	if (branch_stack_bpf__load(player->skeleton))
		skip();
	player->scripts = mmap(NULL, SCRIPTS_MAX * sizeof(struct script), PROT_READ | PROT_WRITE,
			       MAP_SHARED, bpf_map__fd(player->skeleton->maps.scripts), 0);
	assert_true(player->scripts != MAP_FAILED);
	assert_int_equal(ring_open(bpf_map__fd(player->skeleton->maps.ring), true, &player->ring),
			 0);
}

/* Plays all scripts once, and hands the samples to `sink`. */
static inline void play(struct player *player, struct event_sink *sink)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int fd = bpf_program__fd(player->skeleton->progs.play_scripts);

	assert_int_equal(bpf_prog_test_run_opts(fd, &options), 0);
	assert_int_equal(options.retval, 0);
	assert_int_equal(ring_drain(player->ring, sink), 0);
	assert_int_equal(ring_malformed(player->ring), 0);
}

/* A counter of the programs, of all CPUs. */
static inline u64 counter_of(const struct player *player, u32 counter)
{
	return counter_sum(player->skeleton->maps.counters, counter);
}

static inline u64 random_word(u64 *seed)
{
	*seed ^= *seed << 13; /* xorshift; Marsaglia 2003 */
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Sample `number` of a script: each depth up to `depth` in turn, random words, frames before it;
 * each tenth register is unknown. */
static inline void script_random(struct script *script, u32 number, u32 depth)
{
	u64 seed = (number + 1) * 0x9e3779b97f4a7c15ULL;

	*script = (struct script){
		.header = {.kind = RECORD_SAMPLE,
			   .time_ns = number + 1,
			   .kernel_frames = number % 3,
			   .user_frames = number % 5,
			   .mode = MODE_USER},
		.nr = number % (depth + 1),
		.hw_idx = number % 10 ? random_word(&seed) % depth : ~0ULL,
	};
	for (u32 i = 0; i < ARRAY_COUNT(script->frames); i++)
		script->frames[i] = random_word(&seed);
	for (u32 i = 0; i < SCRIPT_ENTRIES; i++)
		script->entries[i] = (struct script_entry){random_word(&seed), random_word(&seed),
							   random_word(&seed)};
}

#endif
