/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event attributes: 64 to 144 bytes and more, of either endianness, and their names.
 */
#include "perfdata/attr.h"

#include "base/memory.h"

#include <errno.h>

/* Bit fields start at the other end of the word there. */
static u64 flags_turned(u64 flags)
{
	u64 turned = 0;

	for (unsigned int bit = 0; bit < 64; bit++)
		if (flags & (1ull << (63 - bit)))
			turned |= 1ull << bit;
	/* precise_ip is the only field of two bits: its own bits keep their order */
	turned &= ~(3ull << ATTR_precise);
	return turned | ((flags >> (62 - ATTR_precise)) & 3) << ATTR_precise;
}

u64 branch_flags_turned(u64 flags)
{
	/* mispred, predicted, in_tx, abort, cycles, type, spec, new_type, priv */
	static const u8 widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
	unsigned int at = 0;
	u64 turned = 0;

	for (size_t i = 0; i < ARRAY_COUNT(widths); at += widths[i++]) {
		u64 mask = (1ull << widths[i]) - 1;

		turned |= ((flags >> (64 - at - widths[i])) & mask) << at;
	}
	return turned;
}

static void read_members(struct cursor *cursor, struct wire_attr *attr)
{
	attr->type = cursor_u32(cursor);
	attr->size_bytes = cursor_u32(cursor);
	attr->config = cursor_u64(cursor);
	attr->period_or_frequency = cursor_u64(cursor);
	attr->sample_type = cursor_u64(cursor);
	attr->read_format = cursor_u64(cursor);
	attr->flags = cursor_u64(cursor);
	attr->wakeup = cursor_u32(cursor);
	attr->breakpoint_type = cursor_u32(cursor);
	attr->config1 = cursor_u64(cursor);
	attr->config2 = cursor_u64(cursor);
	attr->branch_sample_type = cursor_u64(cursor);
	attr->regs_user = cursor_u64(cursor);
	attr->stack_user_bytes = cursor_u32(cursor);
	attr->clock_id = (s32)cursor_u32(cursor);
	attr->regs_interrupt = cursor_u64(cursor);
	attr->aux_watermark = cursor_u32(cursor);
	attr->max_stack = cursor_u16(cursor);
}

int attr_read(struct cursor *cursor, struct wire_attr *ret_attr)
{
	u8 whole[sizeof(struct wire_attr)] = {0};
	struct cursor ahead = *cursor, members;
	struct wire_attr attr = {0};
	const u8 *from;
	u32 size_bytes;

	cursor_u32(&ahead);
	size_bytes = cursor_u32(&ahead);
	if (!size_bytes)
		size_bytes = ATTR_MIN_BYTES;
	if (size_bytes < ATTR_MIN_BYTES || size_bytes > ATTR_MAX_BYTES)
		return -EBADMSG;
	from = cursor_take(cursor, size_bytes);
	if (!from)
		return -EBADMSG;
	memcpy(whole, from, size_bytes < sizeof(whole) ? size_bytes : sizeof(whole));
	members = cursor_of((struct bytes){whole, sizeof(whole)});
	members.swap = cursor->swap;
	read_members(&members, &attr);
	attr.size_bytes = size_bytes;
	if (cursor->swap)
		attr.flags = flags_turned(attr.flags);
	*ret_attr = attr;
	return 0;
}

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const cache_names[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

/* Accesses and misses of load, store, prefetch. */
static const char *const cache_operations[3][2] = {
	{"loads", "load-misses"},
	{"stores", "store-misses"},
	{"prefetches", "prefetch-misses"},
};

static void append_cache_name(u64 config, struct text *text)
{
	u64 cache = config & 0xff, operation = (config >> 8) & 0xff, result = (config >> 16) & 0xff;

	if (cache >= ARRAY_COUNT(cache_names) || operation >= 3 || result >= 2)
		text_append(text, "invalid-cache");
	else
		text_appendf(text, "%s-%s", cache_names[cache],
			     cache_operations[operation][result]);
}

enum { TYPE_HARDWARE, TYPE_SOFTWARE, TYPE_TRACEPOINT, TYPE_CACHE, TYPE_RAW, TYPE_BREAKPOINT };

static void append_breakpoint_name(const struct wire_attr *attr, struct text *text)
{
	text_appendf(text, "mem:0x%llx:", (unsigned long long)attr->config1);
	if (attr->breakpoint_type & 1)
		text_append(text, "r");
	if (attr->breakpoint_type & 2)
		text_append(text, "w");
	if (attr->breakpoint_type & 4)
		text_append(text, "x");
}

static void append_base_name(const struct wire_attr *attr, struct text *text)
{
	if (attr->type == TYPE_HARDWARE && attr->config < ARRAY_COUNT(hardware_names))
		text_append(text, hardware_names[attr->config]);
	else if (attr->type == TYPE_SOFTWARE && attr->config < ARRAY_COUNT(software_names))
		text_append(text, software_names[attr->config]);
	else if (attr->type == TYPE_CACHE)
		append_cache_name(attr->config, text);
	else if (attr->type == TYPE_BREAKPOINT)
		append_breakpoint_name(attr, text);
	else if (attr->type == TYPE_TRACEPOINT)
		text_append(text, "unknown tracepoint");
	else if (attr->type == TYPE_RAW)
		text_appendf(text, "raw 0x%llx", (unsigned long long)attr->config);
	else if (attr->type == TYPE_HARDWARE)
		text_append(text, "unknown-hardware");
	else if (attr->type == TYPE_SOFTWARE)
		text_append(text, "unknown-software");
	else
		text_appendf(text, "unknown attr type: %u", attr->type);
}

void attr_append_name(const struct wire_attr *attr, struct text *text)
{
	static const u64 side_bits = ATTR_BIT(exclude_kernel) | ATTR_BIT(exclude_user) |
				     ATTR_BIT(exclude_hypervisor);
	unsigned int precise = (attr->flags >> ATTR_precise) & 3;
	bool sides = attr->flags & side_bits;
	bool guest_excluded = attr->flags & ATTR_BIT(exclude_guest);
	char modifiers[16];
	size_t count = 0;

	append_base_name(attr, text);
	if (attr->type == TYPE_TRACEPOINT)
		return;
	if (sides && !(attr->flags & ATTR_BIT(exclude_kernel)))
		modifiers[count++] = 'k';
	if (sides && !(attr->flags & ATTR_BIT(exclude_user)))
		modifiers[count++] = 'u';
	if (sides && !(attr->flags & ATTR_BIT(exclude_hypervisor)))
		modifiers[count++] = 'h';
	for (unsigned int i = 0; i < precise; i++)
		modifiers[count++] = 'p';
	/* perf leaves guests out by itself as soon as one of the others is given */
	if ((attr->flags & ATTR_BIT(exclude_host)) || guest_excluded == (sides || precise)) {
		if (!(attr->flags & ATTR_BIT(exclude_host)))
			modifiers[count++] = 'H';
		if (!guest_excluded)
			modifiers[count++] = 'G';
	}
	if (!count)
		return;
	text_append(text, ":");
	text_append_bytes(text, modifiers, count);
}
