/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One dummy event and one ring a CPU; the rings are merged by time.
 */
#include "capture/side_band.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/perf_open.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <xxhash.h>

enum {
	RECORD_MAX_BYTES = 65536, /* perf_event_header.size is 16 bits */
	ALL_RINGS_BYTES = 8 << 20,
	RING_MIN_BYTES = 64 << 10,
	RING_MAX_BYTES = 1 << 20, /* a quarter of a second of 4,000 execs on this CPU */
};

struct side_ring {
	u32 cpu;
	int fd;
	struct perf_event_mmap_page *control;
	const u8 *records; /* behind the control page */
	u64 tail, head;	   /* read up to; written up to, as of the start of this drain */
	u64 next_ns;	   /* time of the record at `tail` */
	u16 next_bytes;	   /* its size */
	u64 run_ns;	   /* how long the event had run at the last look */
};

struct side_band {
	u64 ring_bytes; /* a power of two */
	struct mapping_ids ids;
	VEC(struct side_ring) rings;
	struct side_band_counts counts;
	u8 whole[RECORD_MAX_BYTES]; /* a record that wraps around the end of its ring */
};

struct side_band *side_band_new(u32 cpu_count, struct mapping_ids ids)
{
	struct side_band *side_band = must_alloc(sizeof(*side_band));

	side_band->ids = ids;
	side_band->ring_bytes = RING_MAX_BYTES;
	while (side_band->ring_bytes > RING_MIN_BYTES &&
	       side_band->ring_bytes * cpu_count > ALL_RINGS_BYTES)
		side_band->ring_bytes /= 2;
	return side_band;
}

static u64 page_bytes(void)
{
	return (u64)sysconf(_SC_PAGESIZE);
}

static void close_ring(struct side_band *side_band, struct side_ring *ring)
{
	munmap(ring->control, page_bytes() + side_band->ring_bytes);
	close(ring->fd);
}

void side_band_free(struct side_band *side_band)
{
	if (!side_band)
		return;
	for (size_t i = 0; i < side_band->rings.count; i++)
		close_ring(side_band, &side_band->rings.items[i]);
	vec_release(&side_band->rings);
	free(side_band);
}

/* Opens with all that this kernel can tell, leaving out the newest first. */
static int open_with_all_it_knows(const struct side_band *side_band, u32 cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.bpf_event = 1,
		.cgroup = 1,
		.build_id = side_band->ids.from_kernel,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (u32)(side_band->ring_bytes / 4),
	};
	int fd = perf_open_cpu(&attr, cpu);

	if (fd == -EINVAL) { /* before 5.7, or without CONFIG_CGROUP_PERF */
		attr.cgroup = 0;
		fd = perf_open_cpu(&attr, cpu);
	}
	if (fd == -EINVAL) { /* before 5.1 */
		attr.ksymbol = attr.bpf_event = 0;
		fd = perf_open_cpu(&attr, cpu);
	}
	return fd;
}

int side_band_open_cpu(struct side_band *side_band, u32 cpu)
{
	int fd = open_with_all_it_knows(side_band, cpu);
	void *start;

	if (fd == -ENODEV)
		return fd;
	if (fd < 0)
		return fail(fd, "run as root, or with CAP_PERFMON",
			    "cannot watch processes on CPU %u", cpu);
	start = mmap(NULL, page_bytes() + side_band->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (start == MAP_FAILED) {
		int error = -errno;

		close(fd);
		return fail(error, "raise sysctl kernel.perf_event_mlock_kb, or run as root",
			    "cannot map the process records of CPU %u", cpu);
	}
	*vec_add(&side_band->rings) = (struct side_ring){
		.cpu = cpu,
		.fd = fd,
		.control = start,
		.records = (const u8 *)start + page_bytes(),
	};
	return 0;
}

static struct side_ring *find_ring(const struct side_band *side_band, u32 cpu)
{
	for (size_t i = 0; i < side_band->rings.count; i++)
		if (side_band->rings.items[i].cpu == cpu)
			return &side_band->rings.items[i];
	return NULL;
}

void side_band_close_cpu(struct side_band *side_band, u32 cpu)
{
	struct side_ring *ring = find_ring(side_band, cpu);

	if (!ring)
		return;
	close_ring(side_band, ring);
	*ring = side_band->rings.items[--side_band->rings.count];
}

int side_band_fd(const struct side_band *side_band, u32 cpu)
{
	const struct side_ring *ring = find_ring(side_band, cpu);

	return ring ? ring->fd : -1;
}

/* 0 if it cannot be told. The CPU is asked, if the event runs. */
static u64 run_ns_of(const struct side_ring *ring)
{
	u64 values[2]; /* a count, the time */

	return read(ring->fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

void side_band_look(struct side_band *side_band)
{
	for (size_t i = 0; i < side_band->rings.count; i++)
		side_band->rings.items[i].run_ns = run_ns_of(&side_band->rings.items[i]);
}

bool side_band_goes_on(const struct side_band *side_band, u32 cpu)
{
	const struct side_ring *ring = find_ring(side_band, cpu);

	return ring && run_ns_of(ring) > ring->run_ns;
}

/* Gives the kernel the room before `tail`. */
static void step_to(struct side_ring *ring, u64 tail)
{
	ring->tail = tail;
	__atomic_store_n(&ring->control->data_tail, tail, __ATOMIC_RELEASE);
}

/* The record at the tail, whose size is known, in one piece. */
static const void *next_record(struct side_band *side_band, const struct side_ring *ring)
{
	u64 offset = ring->tail & (side_band->ring_bytes - 1);
	u64 until_end = side_band->ring_bytes - offset;

	if (ring->next_bytes <= until_end)
		return ring->records + offset;
	memcpy(side_band->whole, ring->records + offset, until_end);
	memcpy(side_band->whole + until_end, ring->records, ring->next_bytes - until_end);
	return side_band->whole;
}

/* Finds the record at the tail: its size and when it was written (~0: there is none). Records are
 * 8-byte aligned, so that headers never wrap. */
static void look_ahead(struct side_band *side_band, struct side_ring *ring)
{
	u64 mask = side_band->ring_bytes - 1;
	const struct perf_event_header *header = (const void *)(ring->records +
								(ring->tail & mask));

	ring->next_ns = ~0ULL;
	if (ring->tail == ring->head)
		return;
	ring->next_bytes = header->size;
	if (header->size < SIDE_BAND_LEAST_BYTES || header->size % 8 ||
	    header->size > ring->head - ring->tail) {
		side_band->counts.malformed++;
		step_to(ring, ring->head); /* nothing behind a damaged record can be found */
		return;
	}
	ring->next_ns = side_band_time(next_record(side_band, ring), ring->next_bytes);
}

static struct side_ring *ring_with_oldest(struct side_band *side_band)
{
	struct side_ring *oldest = NULL;

	for (size_t i = 0; i < side_band->rings.count; i++) {
		struct side_ring *ring = &side_band->rings.items[i];

		if (ring->next_ns != ~0ULL && (!oldest || ring->next_ns < oldest->next_ns))
			oldest = ring;
	}
	return oldest;
}

/* Hands over the oldest record of `ring` and frees its room. */
static int deliver(struct side_band *side_band, struct side_ring *ring, side_band_take *take,
		   void *context)
{
	enum { AHEAD_BYTES = 512 }; /* the kernel wrote that on another CPU, or long ago */
	u64 ahead = (ring->tail + AHEAD_BYTES) & (side_band->ring_bytes - 1);
	int error;

	__builtin_prefetch(ring->records + ahead);
	__builtin_prefetch(ring->records + (ahead ^ 64));
	error = take(context, next_record(side_band, ring), ring->next_bytes);
	step_to(ring, ring->tail + ring->next_bytes);
	look_ahead(side_band, ring);
	return error;
}

int side_band_each(struct side_band *side_band, u64 until_ns, side_band_take *take, void *context)
{
	struct side_ring *ring;

	for (size_t i = 0; i < side_band->rings.count; i++) {
		ring = &side_band->rings.items[i];
		ring->head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
		look_ahead(side_band, ring);
	}
	while ((ring = ring_with_oldest(side_band)) && ring->next_ns < until_ns) {
		int error = deliver(side_band, ring, take, context);

		if (error)
			return error;
	}
	return 0;
}

int side_band_tell(struct side_band *side_band, const void *record, size_t bytes,
		   struct event_sink *sink)
{
	return side_band_decode(record, bytes, &side_band->ids, sink, &side_band->counts);
}

u64 side_band_file(const struct side_band *side_band, const void *record, size_t bytes)
{
	/* Source: include/uapi/linux/perf_event.h, PERF_RECORD_MMAP2: device, inode, generation. */
	enum { IDENTITY_AT = 40, IDENTITY_BYTES = 24 };

	if (side_band->ids.from_kernel || bytes < IDENTITY_AT + IDENTITY_BYTES)
		return 0;
	return XXH3_64bits((const u8 *)record + IDENTITY_AT, IDENTITY_BYTES);
}

struct telling {
	struct side_band *side_band;
	struct event_sink *sink;
};

static int tell_record(void *context, const void *record, size_t bytes)
{
	struct telling *telling = context;

	return side_band_tell(telling->side_band, record, bytes, telling->sink);
}

int side_band_drain(struct side_band *side_band, u64 until_ns, struct event_sink *sink)
{
	struct telling telling = {side_band, sink};

	return side_band_each(side_band, until_ns, tell_record, &telling);
}

struct side_band_counts side_band_counts(const struct side_band *side_band)
{
	return side_band->counts;
}
