/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chains on their way to user space: through the log of their CPU, and through the ring where that
 * has no room.
 */
#include "kernel/player.h"

enum { KINDS = 40, ROOM = 1000 };

/* Plays in this window. Returns how many chains were sent. */
static u32 play_in(const struct player *player, u32 window)
{
	u32 sent = 0;

	for (u32 i = 0; i < SCRIPTED_MAX; i++)
		player->scripts[i] = script_of(i, KINDS);
	player->skeleton->bss->aggregate_turn = window;
	play(player);
	for (u32 slot = 0; slot < SLOTS; slot++)
		sent += player->chains[window * SLOTS + slot].low != 0;
	return sent;
}

/* Whether the record brings a chain that was sent in this window. */
static bool is_sent(const struct player *player, u32 window, const struct sample_record *record)
{
	const struct sample_header *header = &record->header;
	struct chain_part part = chain_part_of(header, record->frames[0], header->context);
	struct chain_hash hash = chain_hash_of(SEED, part, record->frames + part.first);

	if (record->header.kind != RECORD_CHAIN + window)
		return false;
	for (u32 slot = 0; slot < SLOTS; slot++)
		if (!memcmp(&player->chains[window * SLOTS + slot], &hash, sizeof(hash)))
			return true;
	return false;
}

/* Reads the log as user space would. Returns how many chains of this window were in it. */
static u32 read_log(const struct player *player, u32 window)
{
	struct chain_log *log = player->log;
	u32 chains = 0;

	for (; log->read < log->written; chains++) {
		const struct sample_record *record = (const void *)(log->bytes +
								    log->read % CHAIN_LOG_BYTES);
		u32 frames = record->header.kernel_frames + record->header.user_frames;

		assert_true(is_sent(player, window, record));
		log->read += sizeof(record->header) + frames * sizeof(u64);
	}
	assert_int_equal(log->read, log->written);
	return chains;
}

struct ring_chains {
	const struct player *player;
	u32 window, count;
};

static int take_ring_chain(void *context, void *record, size_t bytes)
{
	struct ring_chains *chains = context;

	assert_true(bytes >= sizeof(struct sample_header));
	chains->count += is_sent(chains->player, chains->window, record);
	return 0;
}

/* How many chains of this window come out of the ring. */
static u32 read_ring(const struct player *player, u32 window)
{
	struct ring_chains chains = {player, window, 0};
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(player->skeleton->maps.ring),
						    take_ring_chain, &chains, NULL);

	assert_non_null(ring);
	assert_true(ring_buffer__consume(ring) >= 0);
	ring_buffer__free(ring);
	return chains.count;
}

static void chains_come_by_the_log_and_by_the_ring_where_it_is_full(void **state)
{
	struct player player = {0};
	u32 in_log, sent;

	player_open(&player);
	/* The last record goes over the end. */
	player.log->written = player.log->read = 5 * (u64)CHAIN_LOG_BYTES - 8;
	sent = play_in(&player, 0);
	in_log = read_log(&player, 0);
	assert_int_equal(in_log + read_ring(&player, 0), sent);
#if defined(__x86_64__)
	assert_int_equal(in_log, sent);
#endif
	player.log->read = player.log->written - (CHAIN_LOG_BYTES - ROOM);
	sent = play_in(&player, 1);
	assert_in_range(player.log->written - player.log->read, CHAIN_LOG_BYTES - ROOM,
			CHAIN_LOG_BYTES);
	player.log->read += CHAIN_LOG_BYTES - ROOM;
	in_log = read_log(&player, 1);
	assert_true(in_log < sent);
	assert_int_equal(in_log + read_ring(&player, 1), sent);
	assert_int_equal(counter_of(&player, COUNTER_samples_counted), 2 * SCRIPTED_MAX);
	player_release(&player);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_come_by_the_log_and_by_the_ring_where_it_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
