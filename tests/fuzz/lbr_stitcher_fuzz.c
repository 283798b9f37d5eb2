/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the stitcher: branch stacks, register numbers, frame pointers, and the lives of threads in
 * any order.
 *
 * The first byte says how to stitch; each of the others begins an event and takes what it needs. No
 * binary can be read, so every frame that comes out has been in some sample that went in.
 */
#include "base/cursor.h"
#include "base/memory.h"
#include "lbr/lbr.h"

#include <stdlib.h>

enum { CALLS = 16, ENTRIES_MAX = 200, CALLERS_MAX = 8, THREADS = 4, FRAMES_MAX = 4096 };

/* What was put in: the calls of which a stack can consist. */
struct seen {
	struct event_sink sink;
	struct lbr_stitcher *stitcher;
	bool calls[CALLS];
	u64 leaf;
	u64 stacks;
};

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static u64 address_of(u8 number)
{
	static const u64 odd[] = {0, 0xffffffff81000000, 1ULL << 47, ~0ULL};

	return number % 64 == 63 ? odd[number / 64] : 0x401000 + number % CALLS * 16U;
}

static bool is_seen(const struct seen *seen, u64 from)
{
	for (u8 i = 0; i < CALLS; i++)
		if (address_of(i) == from)
			return seen->calls[i];
	return false;
}

static int check_sample(struct event_sink *sink, const struct sample *sample)
{
	struct seen *seen = (struct seen *)sink;
	size_t count;
	const u64 *calls = lbr_stitcher_calls(seen->stitcher, &count);

	if (sample->frame_count > FRAMES_MAX || sample->frame_count != count + 2 ||
	    sample->frames[0].space != SPACE_KERNEL || sample->frames[1].address != seen->leaf)
		abort();
	for (size_t i = 0; i < count; i++)
		if (!is_seen(seen, calls[i]) || sample->frames[i + 2].address <= calls[i])
			abort();
	seen->stacks++;
	return 0;
}

static u32 read_entries(struct cursor *cursor, struct seen *seen, struct branch *entries)
{
	u32 count = cursor_u8(cursor) % ENTRIES_MAX;

	for (u32 i = 0; i < count; i++) {
		u8 from = cursor_u8(cursor);

		if (cursor->overrun)
			return i;
		entries[i] = (struct branch){address_of(from), address_of(cursor_u8(cursor)), 0};
		if (from % 64 != 63)
			seen->calls[from % CALLS] = true;
	}
	return count;
}

static void send_sample(struct cursor *cursor, struct seen *seen, struct event_sink *sink)
{
	struct branch entries[ENTRIES_MAX];
	struct frame frames[2 + CALLERS_MAX] = {
		{.address = 0xffffffff81000000, .space = SPACE_KERNEL}};
	struct sample sample = {.has_chain = true, .frames = frames, .branches = entries};
	u32 callers = cursor_u8(cursor) % CALLERS_MAX;

	sample.tid = sample.pid = 1 + cursor_u8(cursor) % THREADS;
	sample.time_ns = 1 + cursor_u8(cursor);
	/* With a key that nobody asked about, only what is new is learned. */
	sample.chain_key = sample.time_ns % 2 ? 3 : 0;
	sample.hw_idx = cursor_u8(cursor);
	if (sample.hw_idx > 200)
		sample.hw_idx = ~0ULL - (sample.hw_idx & 1) * 77;
	for (u32 i = 0; i <= callers; i++)
		frames[1 + i] = (struct frame){.address = address_of(cursor_u8(cursor)) + 2,
					       .space = SPACE_USER};
	sample.frame_count = (u16)(2 + callers);
	seen->leaf = frames[1].address;
	sample.branch_count = (u16)read_entries(cursor, seen, entries);
	sink_call(sink, on_sample, &sample);
}

static void send_event(struct cursor *cursor, struct seen *seen, struct event_sink *sink)
{
	u8 kind = cursor_u8(cursor), tid = 1 + kind / 16 % THREADS;
	struct thread_life life = {.pid = tid, .tid = tid, .parent_pid = 1, .parent_tid = 1};
	struct thread_name name = {.pid = tid, .tid = tid, .is_exec = kind & 128, .name = "a"};
	struct loss loss = {.count = 1};
	struct mapping mapping = {.pid = tid,
				  .tid = tid,
				  .space = SPACE_USER,
				  .start = 0x401000,
				  .bytes = kind,
				  .path = "/nowhere/at/all"};

	if (kind % 16 < 11)
		send_sample(cursor, seen, sink);
	else if (kind % 16 == 11)
		sink_call(sink, on_name, &name);
	else if (kind % 16 == 12)
		sink_call(sink, on_fork, &life);
	else if (kind % 16 == 13)
		sink_call(sink, on_exit, &life);
	else if (kind % 16 == 14)
		sink_call(sink, on_loss, &loss);
	else
		sink_call(sink, on_mapping, &mapping);
}

static void send_all(struct bytes bytes, struct seen *seen, struct event_sink *sink)
{
	struct cursor cursor = cursor_of(bytes);

	while (cursor_left(&cursor))
		send_event(&cursor, seen, sink);
}

/* By one, or by two of which the second hears the same again. */
static void learn(struct bytes events, struct seen *seen, bool has_parts)
{
	struct lbr_stitcher *part = NULL;

	send_all(events, seen, lbr_stitcher_learning_sink(seen->stitcher));
	if (!has_parts)
		return;
	part = lbr_stitcher_for_part(seen->stitcher);
	send_all(events, seen, lbr_stitcher_follower(part));
	send_all(events, seen, lbr_stitcher_learning_sink(part));
	lbr_stitcher_learn_from(seen->stitcher, part);
	lbr_stitcher_free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const struct event_source source = {
		.name = "cycles", .has_chain = true, .has_branches = true, .branch_bits = 1 << 11};
	struct seen seen = {.sink.on_sample = check_sample};
	struct lbr_settings settings = {0};
	struct bytes events = {bytes + 1, length - 1};

	if (!length)
		return 0;
	settings.tier = bytes[0] & 1 ? LBR_LIKELY : LBR_CERTAIN;
	settings.depth = bytes[0] & 2 ? bytes[0] >> 3 : 32;
	seen.stitcher = lbr_stitcher_new(&settings, &seen.sink);
	lbr_stitcher_set_sources(seen.stitcher, &source, 1);
	if (bytes[0] & 4)
		learn(events, &seen, bytes[0] & 128);
	send_all(events, &seen, lbr_stitcher_sink(seen.stitcher));
	if (lbr_stitcher_tally(seen.stitcher)->stacks != seen.stacks)
		abort();
	lbr_stitcher_free(seen.stitcher);
	return 0;
}
