/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of counts become samples again: filled here as the programs do it, in plain memory.
 */
#include "base/memory.h"
#include "bpfprof/aggregate.h"
#include "capture/counting.h"
#include "unit/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 32, CPUS = 2, SEED = 99 };

struct taken {
	struct event_sink sink;
	struct sample samples[64];
	struct frame frames[64][8];
	u32 count;
};

struct fixture {
	struct count_maps maps;
	struct count_entry *entries;
	struct chain_log *logs; /* of each CPU */
	u64 context; /* those of the samples that are counted next, see struct chain_part */
	u32 turn;
	struct counting *counting;
	struct taken taken;
};

static int take(struct event_sink *self, const struct sample *sample)
{
	struct taken *taken = (struct taken *)self;

	assert_in_range(sample->frame_count, 0, 8);
	taken->samples[taken->count] = *sample;
	for (u32 i = 0; i < sample->frame_count; i++)
		taken->frames[taken->count][i] = sample->frames[i];
	taken->count++;
	return 0;
}

static int memory_of(size_t bytes)
{
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static void *map_of(int fd, size_t bytes)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(start != MAP_FAILED);
	return start;
}

static int setup(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));
	size_t slots = SLOTS * CPUS * AGGREGATE_WINDOWS;

	fixture->maps = (struct count_maps){
		.counts_fd = memory_of(slots * sizeof(struct count_entry)),
		.chains_fd = memory_of(slots * sizeof(struct chain_hash)),
		.logs_fd = memory_of(CPUS * sizeof(struct chain_log)),
		.slots = SLOTS,
		.cpus = CPUS,
		.hash_seed = SEED,
		.turn = &fixture->turn,
	};
	fixture->entries = map_of(fixture->maps.counts_fd, slots * sizeof(struct count_entry));
	fixture->logs = map_of(fixture->maps.logs_fd, CPUS * sizeof(struct chain_log));
	fixture->taken.sink.on_sample = take;
	assert_int_equal(counting_open(&fixture->maps, true, &fixture->counting), 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	counting_close(fixture->counting);
	munmap(fixture->entries, SLOTS * CPUS * AGGREGATE_WINDOWS * sizeof(struct count_entry));
	munmap(fixture->logs, CPUS * sizeof(struct chain_log));
	close(fixture->maps.counts_fd);
	close(fixture->maps.chains_fd);
	close(fixture->maps.logs_fd);
	free(fixture);
	return 0;
}

static struct count_entry *entry_at(void *first, u32 slot)
{
	return (struct count_entry *)first + (slot & (SLOTS - 1));
}

/* Brings the chain of a sample as the programs would. */
static void bring_chain(struct fixture *fixture, u32 window, struct sample_header header,
			const u64 *frames)
{
	header.context = fixture->context;
	counting_take_chain(fixture->counting, window, &header, frames);
}

/* Counts a sample as the programs would on this CPU, in the window that is filled. */
static void count_one(struct fixture *fixture, u32 cpu, struct sample_header header,
		      const u64 *frames)
{
	u32 count = header.kernel_frames + header.user_frames;
	struct chain_part part = chain_part_of(&header, count ? frames[0] : 0, fixture->context);
	struct count_key key = {
		.chain = chain_hash_of(SEED, part, frames + part.first),
		.address = header.address,
		.pid = header.pid,
		.tid = header.tid,
		.source = header.source,
		.mode = header.mode,
		.end = header.end,
		.walked = header.walked,
		.has_leaf = (u8)part.first,
	};
	u32 window = fixture->turn % AGGREGATE_WINDOWS;
	size_t first = ((size_t)cpu * AGGREGATE_WINDOWS + window) * SLOTS;

	count_add(count_find(&key, entry_at, fixture->entries + first), &key, header.period,
		  header.time_ns);
}

static const u64 frames[] = {0xffff0001, 0xffff0002, 0x1001, 0x1002};
static const struct sample_header in_kernel = {
	.source = 2,
	.time_ns = 50,
	.address = 0xffff0001,
	.period = 10,
	.pid = 6,
	.tid = 7,
	.kernel_frames = 2,
	.user_frames = 2,
	.mode = MODE_KERNEL,
	.end = END_COMPLETE,
	.walked = WALKER_EH_FRAME,
};

static void turn_and_take(struct fixture *fixture)
{
	fixture->taken.count = 0;
	assert_int_equal(counting_turn(fixture->counting), 0);
	assert_int_equal(counting_hand_over(fixture->counting, &fixture->taken.sink), 0);
}

static void counts_come_as_one_sample_with_its_stack(void **state)
{
	struct fixture *fixture = *state;
	const struct sample *sample = &fixture->taken.samples[0];
	struct sample_header header = in_kernel;

	bring_chain(fixture, 0, header, frames);
	for (; header.time_ns < 53; header.time_ns++)
		count_one(fixture, 1, header, frames);
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 1);
	assert_int_equal(sample->count, 3);
	assert_int_equal(sample->weight, 30);
	assert_int_equal(sample->time_ns, 52);
	assert_int_equal(sample->cpu, 1);
	assert_int_equal(sample->source, 2);
	assert_int_equal(sample->pid, 6);
	assert_int_equal(sample->tid, 7);
	assert_int_equal(sample->address, frames[0]);
	assert_int_equal(sample->space, SPACE_KERNEL);
	assert_int_equal(sample->cut, CUT_COMPLETE);
	assert_int_equal(sample->walked, WALK_EH_FRAME);
	assert_int_equal(sample->frame_count, 4);
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(fixture->taken.frames[0][i].address, frames[i]);
		assert_int_equal(fixture->taken.frames[0][i].space,
				 i < 2 ? SPACE_KERNEL : SPACE_USER);
	}
}

static void a_chain_is_shared_by_the_leaves_it_calls(void **state)
{
	struct fixture *fixture = *state;
	struct sample_header header = in_kernel;
	u64 other[] = {0xffff0003, 0xffff0002, 0x1001, 0x1002};

	bring_chain(fixture, 0, header, frames);
	count_one(fixture, 0, header, frames);
	header.address = other[0];
	header.time_ns = 40;
	count_one(fixture, 0, header, other);
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 2);
	assert_int_equal(fixture->taken.samples[0].time_ns, 40); /* in order of time */
	assert_int_equal(fixture->taken.frames[0][0].address, other[0]);
	assert_int_equal(fixture->taken.frames[0][3].address, frames[3]);
	assert_int_equal(fixture->taken.frames[1][0].address, frames[0]);
	assert_int_equal(counting_malformed(fixture->counting), 0);
}

static void a_sample_without_frames_is_counted_too(void **state)
{
	struct fixture *fixture = *state;
	struct sample_header header = in_kernel;

	header.kernel_frames = header.user_frames = 0;
	bring_chain(fixture, 0, header, frames);
	count_one(fixture, 0, header, frames);
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 1);
	assert_int_equal(fixture->taken.samples[0].frame_count, 0);
	assert_int_equal(fixture->taken.samples[0].address, frames[0]);
}

static void a_sample_of_another_cgroup_is_another_sample(void **state)
{
	struct fixture *fixture = *state;
	struct sample_header header = in_kernel;

	for (header.cgroup = 1; header.cgroup <= 2; header.cgroup++) {
		bring_chain(fixture, 0, header, frames);
		count_one(fixture, 0, header, frames);
		count_one(fixture, 0, header, frames);
		header.time_ns++;
	}
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 2);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(fixture->taken.samples[i].cgroup, i + 1);
		assert_int_equal(fixture->taken.samples[i].count, 2);
		assert_int_equal(fixture->taken.frames[i][3].address, frames[3]);
	}
}

/* Puts the chain into the CPU's log as the programs would. */
static void log_chain(struct fixture *fixture, u32 cpu, struct sample_header header,
		      const u64 *chain)
{
	struct chain_log *log = &fixture->logs[cpu];
	struct sample_record *record = (void *)(log->bytes + log->written % CHAIN_LOG_BYTES);
	size_t bytes = (header.kernel_frames + header.user_frames) * sizeof(u64);

	header.kind = RECORD_CHAIN + fixture->turn % AGGREGATE_WINDOWS;
	header.context = fixture->context;
	record->header = header;
	memcpy(record->frames, chain, bytes);
	log->written += sizeof(header) + bytes;
}

/* Of a file that has been mapped where another was, or under another name of the thread. */
static void a_sample_of_another_context_is_another_sample_with_its_own_time(void **state)
{
	struct fixture *fixture = *state;
	struct sample_header header = in_kernel;

	for (u32 i = 0; i < 6; i++) {
		fixture->context = 1 + i % 2;
		header.time_ns = i < 5 ? 50 + i : 90;
		log_chain(fixture, 0, header, frames);
		count_one(fixture, 0, header, frames);
	}
	counting_read_logs(fixture->counting);
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 2);
	assert_int_equal(fixture->taken.samples[0].time_ns, 54);
	assert_int_equal(fixture->taken.samples[1].time_ns, 90);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(fixture->taken.samples[i].count, 3);
		assert_int_equal(fixture->taken.samples[i].weight, 30);
		assert_int_equal(fixture->taken.frames[i][3].address, frames[3]);
	}
}

static void each_window_is_handed_over_once_and_with_its_own_chains(void **state)
{
	struct fixture *fixture = *state;
	u64 rounds[8] = {0};

	for (u32 round = 0; round < 5; round++) {
		struct sample_header header = in_kernel;
		u64 chain[] = {0xffff0001, 0xffff0002 + round, 0x1001, 0x1002};

		bring_chain(fixture, fixture->turn % 2, header, chain);
		for (u32 i = 0; i <= round; i++)
			count_one(fixture, i % CPUS, header, chain);
		turn_and_take(fixture);
		for (u32 i = 0; i < fixture->taken.count; i++) {
			assert_int_equal(fixture->taken.frames[i][1].address, chain[1]);
			rounds[round] += fixture->taken.samples[i].count;
		}
		assert_int_equal(rounds[round], round + 1);
	}
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 0);
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 0);
}

static void chains_come_out_of_logs_round_and_round(void **state)
{
	struct fixture *fixture = *state;
	struct sample_header header = in_kernel;
	const size_t bytes = sizeof(header) + sizeof(frames);
	u32 rounds = 3 * CHAIN_LOG_BYTES / bytes;

	for (u32 round = 0; round < rounds; round++) {
		u64 chain[] = {0xffff0001, 0xffff0002 + round, 0x1001, 0x1002};
		u32 cpu = round % 7 % CPUS;

		log_chain(fixture, cpu, header, chain);
		count_one(fixture, cpu, header, chain);
		assert_int_equal(counting_turn(fixture->counting), 0);
		counting_read_logs(fixture->counting);
		fixture->taken.count = 0;
		assert_int_equal(counting_hand_over(fixture->counting, &fixture->taken.sink), 0);
		assert_int_equal(fixture->taken.count, 1);
		assert_int_equal(fixture->taken.frames[0][1].address, chain[1]);
		assert_int_equal(fixture->logs[cpu].read, fixture->logs[cpu].written);
	}
	assert_int_equal(counting_malformed(fixture->counting), 0);
}

static void a_log_of_what_is_no_chain_is_counted_and_passed_over(void **state)
{
	struct fixture *fixture = *state;
	struct chain_log *log = fixture->logs;

	log->written = 160;
	counting_read_logs(fixture->counting);
	assert_int_equal(counting_malformed(fixture->counting), 1);
	assert_int_equal(log->read, 160);
	log_chain(fixture, 0, in_kernel, frames);
	count_one(fixture, 0, in_kernel, frames);
	counting_read_logs(fixture->counting);
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 1);
	assert_int_equal(counting_malformed(fixture->counting), 1);
}

static void a_count_whose_chain_never_came_is_lost_and_counted(void **state)
{
	struct fixture *fixture = *state;

	bring_chain(fixture, 1, in_kernel, frames); /* of the other window */
	count_one(fixture, 0, in_kernel, frames);
	count_one(fixture, 0, in_kernel, frames);
	turn_and_take(fixture);
	assert_int_equal(fixture->taken.count, 0);
	assert_int_equal(counting_malformed(fixture->counting), 2);
}

static void nothing_behind_the_turn_is_promised(void **state)
{
	struct fixture *fixture = *state;
	u64 at_first = counting_round_ns(fixture->counting, ~0ULL);

	assert_true(at_first < ~0ULL);
	assert_int_equal(counting_round_ns(fixture->counting, 5), 5);
	assert_int_equal(counting_round_ns(NULL, ~0ULL), ~0ULL);
	turn_and_take(fixture);
	assert_true(counting_round_ns(fixture->counting, ~0ULL) > at_first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_come_as_one_sample_with_its_stack),
		TEST(a_chain_is_shared_by_the_leaves_it_calls),
		TEST(a_sample_without_frames_is_counted_too),
		TEST(a_sample_of_another_cgroup_is_another_sample),
		TEST(a_sample_of_another_context_is_another_sample_with_its_own_time),
		TEST(each_window_is_handed_over_once_and_with_its_own_chains),
		TEST(chains_come_out_of_logs_round_and_round),
		TEST(a_log_of_what_is_no_chain_is_counted_and_passed_over),
		TEST(a_count_whose_chain_never_came_is_lost_and_counted),
		TEST(nothing_behind_the_turn_is_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
