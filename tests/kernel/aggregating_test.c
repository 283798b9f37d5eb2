/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting in the kernel: the tables are those that the same text makes here, nothing is lost where
 * they are full, and counts are what a plain recording sees one by one.
 */
#include "kernel/player.h"

#include <sys/mman.h>
#include <unistd.h>

/* --- scripted samples --- */

struct tables {
	struct count_entry counts[SLOTS];
	struct chain_hash chains[SLOTS];
	u32 counted, refused, chains_sent;
};

static struct count_entry *entry_at(void *tables, u32 slot)
{
	return &((struct tables *)tables)->counts[slot & (SLOTS - 1)];
}

static struct chain_hash *sent_at(void *tables, u32 slot)
{
	return &((struct tables *)tables)->chains[slot & (SLOTS - 1)];
}

static struct count_key key_of(const struct scripted_sample *script, u16 exec)
{
	const struct sample_header *header = &script->header;
	struct chain_part part = chain_part_of(header, script->frames[0], script->context);

	return (struct count_key){
		.chain = chain_hash_of(SEED, part, script->frames + part.first),
		.address = header->address,
		.pid = header->pid,
		.tid = header->tid,
		.source = header->source,
		.exec = exec,
		.mode = header->mode,
		.end = header->end,
		.walked = header->walked,
		.has_leaf = (u8)part.first,
	};
}

/* What the programs should do with the sample. */
static void expect(struct tables *tables, const struct scripted_sample *script, u16 exec)
{
	struct count_key key = key_of(script, exec);
	struct count_entry *entry = count_find(&key, entry_at, tables);
	struct chain_hash *chain = chain_find(key.chain, sent_at, tables);

	if (!entry || (!entry->count && !chain)) {
		tables->refused++;
		return;
	}
	tables->chains_sent += !entry->count && !chain->low;
	if (!entry->count)
		*chain = key.chain;
	count_add(entry, &key, script->header.period, script->header.time_ns);
	tables->counted++;
}

static u16 exec_of(const struct count_entry *counts)
{
	for (u32 slot = 0; slot < SLOTS; slot++)
		if (counts[slot].count)
			return counts[slot].key.exec;
	return 0;
}

/* Plays `kinds` different samples in this window, and compares what lies in the tables then. */
static void play_and_compare(struct player *player, u32 window, u32 kinds, struct tables *ret)
{
	struct tables expected = {0};

	for (u32 i = 0; i < SCRIPTED_MAX; i++)
		player->scripts[i] = script_of(i, kinds);
	player->skeleton->bss->aggregate_turn = window;
	play(player);
	for (u32 i = 0; i < SCRIPTED_MAX; i++)
		expect(&expected, &player->scripts[i], exec_of(player->counts + window * SLOTS));
	assert_memory_equal(player->counts + window * SLOTS, expected.counts,
			    sizeof(expected.counts));
	assert_memory_equal(player->chains + window * SLOTS, expected.chains,
			    sizeof(expected.chains));
	*ret = expected;
}

static void the_programs_count_as_the_same_text_does_here(void **state)
{
	struct player player = {0};
	struct tables first, second;

	player_open(&player);
	play_and_compare(&player, 0, 40, &first);
	assert_int_equal(first.refused, 0);
	play_and_compare(&player, 1, 30, &second);
	assert_memory_equal(player.counts, first.counts, sizeof(first.counts)); /* untouched */
	assert_int_equal(counter_of(&player, COUNTER_samples_counted), 2 * SCRIPTED_MAX);
	assert_int_equal(counter_of(&player, COUNTER_samples_sent), 0);
	player_release(&player);
	(void)state;
}

static void what_finds_no_room_is_sent_and_the_sum_is_whole(void **state)
{
	struct player player = {0};
	struct tables tables;

	player_open(&player);
	play_and_compare(&player, 0, SCRIPTED_MAX, &tables);
	assert_true(tables.refused > 0);
	assert_int_equal(tables.counted + tables.refused, SCRIPTED_MAX);
	assert_int_equal(counter_of(&player, COUNTER_samples_counted), tables.counted);
	assert_int_equal(counter_of(&player, COUNTER_samples_sent), tables.refused);
	assert_int_equal(counter_of(&player, COUNTER_aggregate_no_room), tables.refused);
	player_release(&player);
	(void)state;
}

/* --- live --- */

/* How many observations there were. */
static u64 observations(const struct recording *recording)
{
	u64 sum = 0;

	for (size_t i = 0; i < recording->samples.count; i++)
		sum += sample_count(&recording->samples.items[i]);
	return sum;
}

static void assert_counts_add_up(const struct recording *recording)
{
	const u64 *counters = recording->totals.counters;

	assert_int_equal(counters[COUNTER_overflows], sum_of(recording, SENT) +
							      sum_of(recording, SKIPPED) +
							      sum_of(recording, LOST));
	assert_int_equal(sum_of(recording, SENT), observations(recording));
	assert_int_equal(counters[COUNTER_overflows], recording->totals.overflows_expected);
	assert_int_equal(counters[COUNTER_lost_malformed], 0);
}

/* A process that waits until it is told to go, touches pages, and ends. */
struct toucher {
	pid_t pid;
	int go;
};

enum { PAGES = 2000, TURNS = 100, ENOUGH = 50 };

static __attribute__((noinline)) void touch(volatile u8 *page)
{
	*page = 1;
}

static __attribute__((noreturn)) void wait_and_touch(int go, size_t page_bytes)
{
	volatile u8 *pages = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u8 byte;

	madvise((void *)pages, PAGES * page_bytes, MADV_NOHUGEPAGE);
	if (read(go, &byte, 1) == 1)
		for (u32 i = 0; i < PAGES; i++)
			touch(pages + i * page_bytes);
	_exit(0);
}

static struct toucher toucher_start(void)
{
	struct toucher toucher;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	toucher.pid = fork();
	if (!toucher.pid) {
		close(ends[1]);
		wait_and_touch(ends[0], (size_t)sysconf(_SC_PAGESIZE));
	}
	close(ends[0]);
	toucher.go = ends[1];
	return toucher;
}

static void toucher_finish(struct toucher *toucher)
{
	assert_int_equal(write(toucher->go, "", 1), 1);
	assert_int_equal(waitpid(toucher->pid, NULL, 0), toucher->pid);
	close(toucher->go);
}

/* How often an address was observed, and by how many samples. */
struct observed {
	u64 count;
	size_t samples;
};

static struct observed observed_at(const struct recording *recording, u64 address)
{
	struct observed observed = {0};

	for (size_t i = 0; i < recording->samples.count; i++) {
		const struct sample *sample = &recording->samples.items[i];

		if (sample->address != address)
			continue;
		observed.count += sample_count(sample);
		observed.samples++;
	}
	return observed;
}

/* The address that was observed most. */
static u64 busiest_address(const struct recording *recording)
{
	u64 address = 0, most = 0;

	for (size_t i = 0; i < recording->samples.count; i++) {
		u64 here = recording->samples.items[i].address;
		u64 count = observed_at(recording, here).count;

		if (count > most) {
			most = count;
			address = here;
		}
	}
	return address;
}

static void counts_are_what_a_plain_recording_sees_one_by_one(void **state)
{
	struct parsed_event faults = software(PERF_COUNT_SW_PAGE_FAULTS, 1, false);
	struct toucher toucher;
	struct capture_settings settings = {
		.events = &faults, .event_count = 1, .call_graph = CALL_GRAPH_FP};
	struct recording plain, counted;
	u64 address;

	skip_without_permission();
	toucher = toucher_start();
	settings.targets = (struct capture_targets){.pids = (u32 *)&toucher.pid, .pid_count = 1};
	assert_int_equal(recording_start(&plain, &settings), 0);
	settings.aggregate = true;
	assert_int_equal(recording_start(&counted, &settings), 0);
	toucher_finish(&toucher);
	recording_stop(&counted);
	recording_stop(&plain);
	assert_adds_up(&plain);
	assert_counts_add_up(&counted);
	address = busiest_address(&counted);
	assert_int_equal(observed_at(&plain, address).samples, PAGES);
	assert_int_equal(observed_at(&counted, address).count, PAGES);
	/* One for each CPU that it ran on. */
	assert_in_range(observed_at(&counted, address).samples, 1,
			(u64)sysconf(_SC_NPROCESSORS_CONF));
	recording_release(&plain);
	recording_release(&counted);
	(void)state;
}

static void turning_under_load_keeps_the_sum(void **state)
{
	struct parsed_event clock = software(PERF_COUNT_SW_CPU_CLOCK, 4999, true);
	CLEANUP(freep) char *path = workload("spin");
	char *command[] = {path, "600", "2", NULL};
	struct capture_settings settings = {
		.events = &clock,
		.event_count = 1,
		.aggregate = true,
		.call_graph = CALL_GRAPH_FP, /* no sample waits for a table */
		.targets.command = command};
	struct recording recording;

	skip_without_permission();
	assert_int_equal(recording_start(&recording, &settings), 0);
	for (u32 i = 0; i < amount(TURNS) || recording.samples.count < ENOUGH; i++)
		assert_int_equal(capture_turn(recording.capture), 0);
	kill(capture_command(recording.capture), SIGKILL);
	waitpid(capture_command(recording.capture), NULL, 0);
	recording_stop(&recording);
	assert_counts_add_up(&recording);
	assert_true(recording.totals.counters[COUNTER_samples_counted] > 0);
	recording_release(&recording);
	(void)state;
}

static void without_room_to_count_samples_come_one_by_one(void **state)
{
	struct parsed_event faults = software(PERF_COUNT_SW_PAGE_FAULTS, 1, false);
	CLEANUP(freep) char *path = workload("forky");
	char *command[] = {path, "50", NULL};
	struct capture_settings settings = {.events = &faults,
					    .event_count = 1,
					    .aggregate = true,
					    .call_graph = CALL_GRAPH_FP,
					    .count_bytes = 1,
					    .targets.command = command};
	struct recording recording;

	skip_without_permission();
	assert_int_equal(recording_start(&recording, &settings), 0);
	recording_run(&recording, SIZE_MAX);
	recording_stop(&recording);
	assert_counts_add_up(&recording);
	assert_true(recording.totals.counters[COUNTER_aggregate_no_room] > 0);
	assert_true(recording.totals.counters[COUNTER_samples_sent] > 0);
	assert_true(recording.totals.counters[COUNTER_samples_counted] > 0);
	assert_int_equal(sum_of(&recording, LOST), 0);
	recording_release(&recording);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_programs_count_as_the_same_text_does_here),
		cmocka_unit_test(what_finds_no_room_is_sent_and_the_sum_is_whole),
		cmocka_unit_test(counts_are_what_a_plain_recording_sees_one_by_one),
		cmocka_unit_test(turning_under_load_keeps_the_sum),
		cmocka_unit_test(without_room_to_count_samples_come_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
