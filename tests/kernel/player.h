/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plays scripted samples to the programs that count.
 */
#ifndef TESTS_KERNEL_PLAYER_H
#define TESTS_KERNEL_PLAYER_H

#include "aggregating.h"
#include "aggregating.skel.h"
#include "bpfprof/aggregate.h"
#include "kernel/counter_sum.h"
#include "kernel/recording.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

enum { SLOTS = 64, SEED = 4711, RING_BYTES = 1 << 20 };

struct player {
	struct aggregating_bpf *skeleton;
	struct scripted_sample *scripts;
	struct count_entry *counts; /* of the CPU 0, first window, then second */
	struct chain_hash *chains;
	struct chain_log *log; /* of the CPU 0 */
};

static inline void *map_of(const struct bpf_map *map, size_t bytes)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	assert_true(start != MAP_FAILED);
	return start;
}

static inline void player_open(struct player *player)
{
	skip_without_permission();
	player->skeleton = aggregating_bpf__open();
	assert_non_null(player->skeleton);
	player->skeleton->rodata->settings = (struct program_settings){
		.ring_bytes = RING_BYTES,
		.ring_wake_bytes = RING_BYTES,
		.hash_seed = SEED,
		.count_slots = SLOTS,
		.count_cpus = 1,
	};
	bpf_map__set_max_entries(player->skeleton->maps.ring, RING_BYTES);
	bpf_map__set_max_entries(player->skeleton->maps.counters, (u32)libbpf_num_possible_cpus());
	bpf_map__set_max_entries(player->skeleton->maps.counts, SLOTS * AGGREGATE_WINDOWS);
	bpf_map__set_max_entries(player->skeleton->maps.chains_sent, SLOTS * AGGREGATE_WINDOWS);
	if (aggregating_bpf__load(player->skeleton)) /* before Linux 5.14 */
		skip();
	player->scripts = map_of(player->skeleton->maps.scripted,
				 SCRIPTED_MAX * sizeof(*player->scripts));
	player->counts = map_of(player->skeleton->maps.counts,
				SLOTS * AGGREGATE_WINDOWS * sizeof(*player->counts));
	player->chains = map_of(player->skeleton->maps.chains_sent,
				SLOTS * AGGREGATE_WINDOWS * sizeof(*player->chains));
	player->log = map_of(player->skeleton->maps.chain_logs, sizeof(*player->log));
}

static inline void player_release(struct player *player)
{
	if (player->scripts)
		munmap(player->scripts, SCRIPTED_MAX * sizeof(*player->scripts));
	if (player->counts)
		munmap(player->counts, SLOTS * AGGREGATE_WINDOWS * sizeof(*player->counts));
	if (player->chains)
		munmap(player->chains, SLOTS * AGGREGATE_WINDOWS * sizeof(*player->chains));
	if (player->log)
		munmap(player->log, sizeof(*player->log));
	aggregating_bpf__destroy(player->skeleton);
}

static inline void play(const struct player *player)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(player->skeleton->progs.take_all), &options),
		0);
	assert_int_equal(options.retval, 0);
}

static inline u64 counter_of(const struct player *player, u32 counter)
{
	return counter_sum(player->skeleton->maps.counters, counter);
}

/* Sample `number` of `kinds` different ones; chains of each length, with and without the leaf. */
static inline struct scripted_sample script_of(u32 number, u32 kinds)
{
	u32 kind = number % kinds;
	struct scripted_sample script = {
		.header = {.kind = RECORD_SAMPLE,
			   .source = kind % 3,
			   .time_ns = number + 1,
			   .address = 0x401000 + kind,
			   .period = 1000 + kind,
			   .pid = 10,
			   .tid = 11 + kind % 2,
			   .cgroup = kind % 3,
			   .kernel_frames = kind % 4,
			   .user_frames = kind % (SCRIPTED_FRAMES - 3),
			   .mode = kind % 4 ? MODE_KERNEL : MODE_USER,
			   .end = END_COMPLETE,
			   .walked = WALKER_EH_FRAME},
		.context = kind % 7,
	};

	for (u32 i = 0; i < SCRIPTED_FRAMES; i++)
		script.frames[i] = 0x401000 + kind + i * 0x1357;
	if (kind % 5 == 0)
		script.frames[0]++; /* the chain begins elsewhere */
	return script;
}

#endif
