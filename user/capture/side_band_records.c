/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of the kernel's dummy events, as events.
 *
 * Source of the layouts: include/uapi/linux/perf_event.h, enum perf_event_type.
 */
#include "capture/side_band.h"

#include "base/cursor.h"
#include "base/memory.h"
#include "bpfprof/counters.h"

#include <linux/perf_event.h>
#include <string.h>

enum { TRAILER_BYTES = 24 }; /* pid, tid, time, cpu, reserved */

/* A record between its header and its trailer, and what the trailer said. */
struct body {
	struct cursor cursor;
	u16 misc;
	u32 pid, tid;
	u64 time_ns;
	const struct mapping_ids *ids;
};

static int decode_comm(struct body *body, struct event_sink *sink, struct side_band_counts *counts)
{
	struct thread_name name = {.time_ns = body->time_ns};

	(void)counts;
	name.pid = cursor_u32(&body->cursor);
	name.tid = cursor_u32(&body->cursor);
	name.is_exec = body->misc & PERF_RECORD_MISC_COMM_EXEC;
	name.name = cursor_text(&body->cursor, cursor_left(&body->cursor));
	return body->cursor.overrun ? 0 : sink_call(sink, on_name, &name);
}

static struct thread_life read_life(struct body *body)
{
	struct thread_life life = {.time_ns = body->time_ns};

	life.pid = cursor_u32(&body->cursor);
	life.parent_pid = cursor_u32(&body->cursor);
	life.tid = cursor_u32(&body->cursor);
	life.parent_tid = cursor_u32(&body->cursor);
	return life;
}

static int decode_fork(struct body *body, struct event_sink *sink, struct side_band_counts *counts)
{
	struct thread_life life = read_life(body);

	(void)counts;
	return body->cursor.overrun ? 0 : sink_call(sink, on_fork, &life);
}

static int decode_exit(struct body *body, struct event_sink *sink, struct side_band_counts *counts)
{
	struct thread_life life = read_life(body);

	(void)counts;
	return body->cursor.overrun ? 0 : sink_call(sink, on_exit, &life);
}

/* The 24 bytes that are a device and inode, or a build id. */
static void read_identity(struct body *body, struct mapping *mapping)
{
	u8 length;
	const u8 *id;

	if (!body->ids->from_kernel || !(body->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		mapping->major = cursor_u32(&body->cursor);
		mapping->minor = cursor_u32(&body->cursor);
		mapping->inode = cursor_u64(&body->cursor);
		mapping->inode_generation = cursor_u64(&body->cursor);
		return;
	}
	length = cursor_u8(&body->cursor);
	cursor_take(&body->cursor, 3);
	id = cursor_take(&body->cursor, BUILD_ID_MAX_BYTES);
	if (!id || length > BUILD_ID_MAX_BYTES)
		return;
	memcpy(mapping->build_id, id, length);
	mapping->build_id_bytes = length;
}

static struct mapping read_place(struct body *body)
{
	struct mapping mapping = {.time_ns = body->time_ns, .space = SPACE_USER};

	if ((body->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		mapping.space = SPACE_KERNEL;
	mapping.is_data = body->misc & PERF_RECORD_MISC_MMAP_DATA;
	mapping.pid = cursor_u32(&body->cursor);
	mapping.tid = cursor_u32(&body->cursor);
	mapping.start = cursor_u64(&body->cursor);
	mapping.bytes = cursor_u64(&body->cursor);
	mapping.file_offset = cursor_u64(&body->cursor);
	return mapping;
}

static int decode_mmap(struct body *body, struct event_sink *sink, struct side_band_counts *counts)
{
	struct mapping mapping = read_place(body);

	(void)counts;
	mapping.path = cursor_text(&body->cursor, cursor_left(&body->cursor));
	return body->cursor.overrun ? 0 : sink_call(sink, on_mapping, &mapping);
}

static int decode_mmap2(struct body *body, struct event_sink *sink, struct side_band_counts *counts)
{
	struct mapping mapping = read_place(body);

	(void)counts;
	read_identity(body, &mapping);
	mapping.protection = cursor_u32(&body->cursor);
	mapping.flags = cursor_u32(&body->cursor);
	mapping.path = cursor_text(&body->cursor, cursor_left(&body->cursor));
	if (body->cursor.overrun)
		return 0;
	if (body->ids->files && !mapping.is_data)
		file_ids_fill(body->ids->files, -1, &mapping);
	return sink_call(sink, on_mapping, &mapping);
}

static int decode_lost(struct body *body, struct event_sink *sink, struct side_band_counts *counts)
{
	struct loss loss = {
		.time_ns = body->time_ns,
		.reason = COUNTER_side_band_lost,
		.source = ~0u,
	};

	cursor_u64(&body->cursor); /* id: of the event that would have written */
	loss.count = cursor_u64(&body->cursor);
	if (body->cursor.overrun)
		return 0;
	counts->lost += loss.count;
	return sink_call(sink, on_loss, &loss);
}

static int decode_throttle(struct body *body, struct event_sink *sink,
			   struct side_band_counts *counts)
{
	(void)body;
	(void)sink;
	counts->throttled++;
	return 0;
}

static int decode_kernel_symbol(struct body *body, struct event_sink *sink,
				struct side_band_counts *counts)
{
	struct kernel_symbol symbol = {.time_ns = body->time_ns};

	(void)counts;
	symbol.start = cursor_u64(&body->cursor);
	symbol.bytes = cursor_u32(&body->cursor);
	symbol.type = cursor_u16(&body->cursor);
	symbol.flags = cursor_u16(&body->cursor);
	symbol.name = cursor_text(&body->cursor, cursor_left(&body->cursor));
	return body->cursor.overrun ? 0 : sink_call(sink, on_kernel_symbol, &symbol);
}

static int decode_bpf_program(struct body *body, struct event_sink *sink,
			      struct side_band_counts *counts)
{
	struct bpf_program program = {.time_ns = body->time_ns};
	const u8 *tag;

	(void)counts;
	program.type = cursor_u16(&body->cursor);
	program.flags = cursor_u16(&body->cursor);
	program.id = cursor_u32(&body->cursor);
	tag = cursor_take(&body->cursor, sizeof(program.tag));
	if (!tag)
		return 0;
	memcpy(program.tag, tag, sizeof(program.tag));
	return sink_call(sink, on_bpf_program, &program);
}

static int decode_cgroup(struct body *body, struct event_sink *sink,
			 struct side_band_counts *counts)
{
	struct cgroup_name cgroup = {.time_ns = body->time_ns};

	(void)counts;
	cgroup.id = cursor_u64(&body->cursor);
	cgroup.path = cursor_text(&body->cursor, cursor_left(&body->cursor));
	return body->cursor.overrun ? 0 : sink_call(sink, on_cgroup, &cgroup);
}

typedef int decode_function(struct body *body, struct event_sink *sink,
			    struct side_band_counts *counts);

/* By record type. Others are not asked for, or say nothing that we keep. */
static decode_function *const decoders[] = {
	[PERF_RECORD_MMAP] = decode_mmap,
	[PERF_RECORD_LOST] = decode_lost,
	[PERF_RECORD_COMM] = decode_comm,
	[PERF_RECORD_EXIT] = decode_exit,
	[PERF_RECORD_THROTTLE] = decode_throttle,
	[PERF_RECORD_FORK] = decode_fork,
	[PERF_RECORD_MMAP2] = decode_mmap2,
	[PERF_RECORD_KSYMBOL] = decode_kernel_symbol,
	[PERF_RECORD_BPF_EVENT] = decode_bpf_program,
	[PERF_RECORD_CGROUP] = decode_cgroup,
};

/*
 * Where a record's trailer begins, after `bytes` of it at the latest. Records about kernel code say
 * that they are longer than they are where several recordings listen: the kernel adds a trailer to
 * the length for each of them in turn. What is behind the true one is whatever was there.
 * Source: perf_event_ksymbol_output() and perf_event_bpf_output() of kernel/events/core.c, which
 * lack what perf_event_mmap_output() does at its end.
 */
static size_t trailer_at(u32 type, const u8 *record, size_t bytes)
{
	enum { SYMBOL_NAME_AT = 24, PROGRAM_BYTES = 24 };
	size_t last = bytes - TRAILER_BYTES, at = last;

	if (type == PERF_RECORD_BPF_EVENT)
		at = PROGRAM_BYTES;
	if (type == PERF_RECORD_KSYMBOL && last > SYMBOL_NAME_AT)
		at = SYMBOL_NAME_AT +
		     (strnlen((const char *)record + SYMBOL_NAME_AT, last - SYMBOL_NAME_AT) +
		      sizeof(u64)) /
			     sizeof(u64) * sizeof(u64);
	return at < last ? at : last;
}

u64 side_band_time(const void *record, size_t bytes)
{
	const struct perf_event_header *header = record;
	u64 time_ns;

	memcpy(&time_ns, (const u8 *)record + trailer_at(header->type, record, bytes) + sizeof(u64),
	       sizeof(time_ns));
	return time_ns;
}

int side_band_decode(const void *record, size_t bytes, const struct mapping_ids *ids,
		     struct event_sink *sink, struct side_band_counts *counts)
{
	struct cursor whole = cursor_of((struct bytes){.start = record, .length = bytes});
	struct body body = {.cursor = whole, .ids = ids};
	struct cursor trailer = whole;
	u32 type = cursor_u32(&body.cursor);
	int error = 0;

	body.misc = cursor_u16(&body.cursor);
	if (cursor_u16(&body.cursor) != bytes || bytes < SIDE_BAND_LEAST_BYTES) {
		counts->malformed++;
		return 0;
	}
	trailer.next = whole.next + trailer_at(type, record, bytes);
	body.cursor.end = trailer.next;
	body.pid = cursor_u32(&trailer);
	body.tid = cursor_u32(&trailer);
	body.time_ns = cursor_u64(&trailer);
	if (type < ARRAY_COUNT(decoders) && decoders[type])
		error = decoders[type](&body, sink, counts);
	if (body.cursor.overrun)
		counts->malformed++;
	return error;
}
