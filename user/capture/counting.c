/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the tables of counts as memory. While a window is filled only the programs write it; after
 * the turn only we do.
 */
#include "capture/counting.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/idmap.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/vec.h"
#include "bpfprof/aggregate.h"
#include "capture/grace_period.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* How long before the turn a sample may have begun that is counted behind it: a virtual CPU can be
 * taken away from its guest. */
enum { STRAGGLER_NS = 100000000 };

/* Frames of a chain: words.items[first_word] and following, those of the kernel first. */
struct chain_row {
	struct chain_hash hash;
	size_t first_word;
	struct chain_part part;
};

/* The chains of one window. */
struct chain_book {
	struct idmap by_hash; /* half of the hash, or a key behind it, → row + 1 */
	VEC(struct chain_row) rows;
	VEC(u64) words;
};

struct counted {
	u32 cpu;
	struct count_entry *entry;
};

struct counting {
	struct count_maps maps;
	struct count_entry *counts;
	struct chain_hash *chains;
	struct chain_log *logs;
	size_t slot_count; /* of all CPUs and windows */
	bool has_chain;
	struct chain_book books[AGGREGATE_WINDOWS];
	VEC(struct counted) counted;
	VEC(struct sort_key) order, order_room; /* of these, by time */
	VEC(struct frame) frames;		/* of one sample */
	u64 turned_ns;
	u64 malformed;
};

/* --- chains --- */

static bool is_chain(const struct chain_row *row, struct chain_hash hash)
{
	return row->hash.low == hash.low && row->hash.high == hash.high;
}

/* Where the row of a chain is, or is to be, noted. Half of the hash tells nearly all apart. */
static u32 *place_of(struct chain_book *book, struct chain_hash hash)
{
	u64 key = hash.low;
	u32 *place = idmap_place(&book->by_hash, key);

	while (*place && !is_chain(&book->rows.items[*place - 1], hash))
		place = idmap_place(&book->by_hash, ++key);
	return place;
}

void counting_take_chain(struct counting *counting, u32 window, const struct sample_header *header,
			 const u64 *frames)
{
	u32 frame_count = (u32)header->kernel_frames + header->user_frames;
	struct chain_part part = chain_part_of(header, frame_count ? frames[0] : 0,
					       header->context);
	struct chain_hash hash = chain_hash_of(counting->maps.hash_seed, part, frames + part.first);
	struct chain_book *book = &counting->books[window % AGGREGATE_WINDOWS];
	u32 *place = place_of(book, hash);

	if (*place)
		return; /* from another CPU */
	*vec_add(&book->rows) = (struct chain_row){hash, book->words.count, part};
	*place = (u32)book->rows.count;
	for (u32 i = part.first; i < frame_count; i++)
		*vec_add(&book->words) = frames[i];
}

/* The record at the start of these bytes. Returns how many it takes, 0 if it is none. */
static size_t take_logged(struct counting *counting, const u8 *bytes)
{
	const struct sample_record *record = (const void *)bytes;
	const struct sample_header *header = &record->header;
	size_t length = sizeof(*header) +
			((size_t)header->kernel_frames + header->user_frames) * sizeof(u64);
	u32 window = header->kind - (u32)RECORD_CHAIN;

	if (window >= AGGREGATE_WINDOWS || length > CHAIN_LOG_RECORD_BYTES)
		return 0;
	counting_take_chain(counting, window, header, record->frames);
	return length;
}

void counting_read_logs(struct counting *counting)
{
	for (u32 cpu = 0; cpu < counting->maps.cpus; cpu++) {
		struct chain_log *log = &counting->logs[cpu];
		u64 written = __atomic_load_n(&log->written, __ATOMIC_ACQUIRE);
		u64 read = log->read;

		while (read < written) {
			size_t length = take_logged(counting, log->bytes + read % CHAIN_LOG_BYTES);

			counting->malformed += !length;
			read = length ? read + length : written;
		}
		if (read != log->read) /* else the CPU keeps the line */
			__atomic_store_n(&log->read, read, __ATOMIC_RELEASE);
	}
}

static void book_release(struct chain_book *book)
{
	idmap_release(&book->by_hash);
	vec_release(&book->rows);
	vec_release(&book->words);
}

static void add_frame(struct counting *counting, u64 address, bool is_kernel)
{
	*vec_add(&counting->frames) = (struct frame){
		.address = address,
		.space = is_kernel ? SPACE_KERNEL : SPACE_USER,
	};
}

/* The chain of a key; NULL: it never came. */
static const struct chain_row *find_chain(const struct chain_book *book,
					  const struct count_key *key)
{
	u64 low = key->chain.low;
	u32 row;

	while ((row = idmap_get(&book->by_hash, low++)))
		if (is_chain(&book->rows.items[row - 1], key->chain))
			return &book->rows.items[row - 1];
	return NULL;
}

/* Makes the frames of a sample, leaf and callers. */
static void lay_frames(struct counting *counting, const struct chain_book *book,
		       const struct chain_row *row, const struct count_key *key)
{
	u32 count = row->part.kernel_frames + row->part.user_frames;

	counting->frames.count = 0;
	if (key->has_leaf)
		add_frame(counting, key->address, key->mode == MODE_KERNEL);
	for (u32 i = 0; i < count; i++)
		add_frame(counting, book->words.items[row->first_word + i],
			  i < row->part.kernel_frames);
}

/* --- windows --- */

int counting_turn(struct counting *counting)
{
	counting->turned_ns = clock_ns(CLOCK_MONOTONIC);
	__atomic_fetch_add(counting->maps.turn, 1, __ATOMIC_SEQ_CST);
	return grace_period_wait();
}

static u32 closed_window(const struct counting *counting)
{
	return (*counting->maps.turn + 1) % AGGREGATE_WINDOWS;
}

static size_t first_slot(const struct counting *counting, u32 cpu, u32 window)
{
	return ((size_t)cpu * AGGREGATE_WINDOWS + window) * counting->maps.slots;
}

static void collect(struct counting *counting, u32 cpu, u32 window)
{
	struct count_entry *entries = &counting->counts[first_slot(counting, cpu, window)];

	for (u32 slot = 0; slot < counting->maps.slots; slot++) {
		if (!entries[slot].count)
			continue;
		*vec_add(&counting->order) = (struct sort_key){entries[slot].time_ns,
							       (u32)counting->counted.count};
		*vec_add(&counting->counted) = (struct counted){cpu, &entries[slot]};
	}
}

static int send(struct counting *counting, const struct counted *counted, u32 window,
		struct event_sink *sink)
{
	const struct count_entry *entry = counted->entry;
	const struct count_key *key = &entry->key;
	const struct chain_book *book = &counting->books[window];
	const struct chain_row *chain = find_chain(book, key);
	struct sample sample = {
		.time_ns = entry->time_ns,
		.weight = entry->weight,
		.address = key->address,
		.source = key->source,
		.pid = key->pid,
		.tid = key->tid,
		.cpu = counted->cpu,
		.count = entry->count,
		.space = key->mode == MODE_USER ? SPACE_USER : SPACE_KERNEL,
		.cut = key->end,
		.walked = key->walked,
		.has_chain = counting->has_chain,
		.hw_idx = BRANCH_INDEX_UNKNOWN,
	};

	if (!chain) {
		counting->malformed += entry->count;
		return 0;
	}
	lay_frames(counting, book, chain, key);
	sample.cgroup = chain->part.cgroup;
	sample.frames = counting->frames.items;
	sample.frame_count = (u16)counting->frames.count;
	return sink_call(sink, on_sample, &sample);
}

/* Forgets what was counted, so that the window can be filled again. */
static void empty(struct counting *counting, u32 window)
{
	for (size_t i = 0; i < counting->counted.count; i++)
		*counting->counted.items[i].entry = (struct count_entry){0};
	counting->counted.count = counting->order.count = 0;
	for (u32 cpu = 0; cpu < counting->maps.cpus; cpu++)
		memset(&counting->chains[first_slot(counting, cpu, window)], 0,
		       counting->maps.slots * sizeof(*counting->chains));
	book_release(&counting->books[window]);
}

/* In order of time entries lie anywhere in memory, and so does what they lead to, step by step. */
static void expect(const struct counting *counting, const struct sort_key *order, size_t left,
		   u32 window)
{
	enum { FRAMES = 2, ROW = 4, SLOT = 6, ENTRY = 9 };
	const struct chain_book *book = &counting->books[window];
	const struct counted *counted = counting->counted.items;
	const struct chain_row *chain;
	u32 row;

	if (ENTRY < left)
		__builtin_prefetch(counted[order[ENTRY].row].entry);
	if (SLOT < left)
		idmap_expect(&book->by_hash, counted[order[SLOT].row].entry->key.chain.low);
	if (ROW < left) {
		row = idmap_get(&book->by_hash, counted[order[ROW].row].entry->key.chain.low);
		__builtin_prefetch(book->rows.items + (row ? row - 1 : 0));
	}
	chain = FRAMES < left ? find_chain(book, &counted[order[FRAMES].row].entry->key) : NULL;
	if (chain)
		__builtin_prefetch(book->words.items + chain->first_word);
}

/* Returns the order of what was counted, by time. */
static const struct sort_key *order_counted(struct counting *counting)
{
	vec_reserve(&counting->order_room, counting->order.count);
	return sort_by_key(counting->order.items, counting->order_room.items,
			   counting->order.count);
}

int counting_hand_over(struct counting *counting, struct event_sink *sink)
{
	u32 window = closed_window(counting);
	const struct sort_key *order;
	size_t count;
	int error = 0;

	for (u32 cpu = 0; cpu < counting->maps.cpus; cpu++)
		collect(counting, cpu, window);
	order = order_counted(counting);
	count = counting->counted.count;
	for (size_t i = 0; i < count && !error; i++) {
		expect(counting, order + i, count - i, window);
		error = send(counting, &counting->counted.items[order[i].row], window, sink);
	}
	empty(counting, window);
	return error;
}

u64 counting_round_ns(const struct counting *counting, u64 time_ns)
{
	if (counting && counting->turned_ns - STRAGGLER_NS < time_ns)
		return counting->turned_ns - STRAGGLER_NS;
	return time_ns;
}

u64 counting_malformed(const struct counting *counting)
{
	return counting ? counting->malformed : 0;
}

/* --- opening --- */

static void *map_table(int fd, size_t bytes)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return start == MAP_FAILED ? NULL : start;
}

int counting_open(const struct count_maps *maps, bool has_chain, struct counting **ret_counting)
{
	struct counting *counting = must_alloc(sizeof(*counting));
	size_t slots = (size_t)maps->slots * maps->cpus * AGGREGATE_WINDOWS;
	int error = 0;

	counting->maps = *maps;
	counting->slot_count = slots;
	counting->has_chain = has_chain;
	counting->turned_ns = clock_ns(CLOCK_MONOTONIC);
	counting->counts = map_table(maps->counts_fd, slots * sizeof(*counting->counts));
	if (counting->counts)
		counting->chains = map_table(maps->chains_fd, slots * sizeof(*counting->chains));
	if (counting->chains)
		counting->logs = map_table(maps->logs_fd, maps->cpus * sizeof(*counting->logs));
	if (!counting->logs) {
		error = fail(-errno, NULL, "cannot map the tables that samples are counted in");
		counting_close(counting);
		return error;
	}
	*ret_counting = counting;
	return 0;
}

void counting_close(struct counting *counting)
{
	if (!counting)
		return;
	if (counting->counts)
		munmap(counting->counts, counting->slot_count * sizeof(*counting->counts));
	if (counting->chains)
		munmap(counting->chains, counting->slot_count * sizeof(*counting->chains));
	if (counting->logs)
		munmap(counting->logs, counting->maps.cpus * sizeof(*counting->logs));
	for (u32 window = 0; window < AGGREGATE_WINDOWS; window++)
		book_release(&counting->books[window]);
	vec_release(&counting->counted);
	vec_release(&counting->order);
	vec_release(&counting->order_room);
	vec_release(&counting->frames);
	free(counting);
}
