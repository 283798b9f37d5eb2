/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of the kernel's dummy events as events, built here byte by byte as perf_event.h has them.
 */
#include "capture/side_band.h"
#include "unit/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* A record under construction. */
static struct {
	u8 bytes[512];
	u16 length;
} built;

static void add(const void *bytes, size_t length)
{
	memcpy(built.bytes + built.length, bytes, length);
	built.length = (u16)(built.length + length);
}

static void add_u32(u32 value)
{
	add(&value, sizeof(value));
}

static void add_u64(u64 value)
{
	add(&value, sizeof(value));
}

static void begin(u32 type, u16 misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	built.length = 0;
	add(&header, sizeof(header));
}

/* Pads to 8 bytes, adds the trailer and says how long the record is. */
static void end(u64 time_ns)
{
	static const u8 zeros[8];

	add(zeros, (size_t)(-built.length & 7));
	add_u32(10);
	add_u32(11);
	add_u64(time_ns);
	add_u64(0);
	memcpy(built.bytes + offsetof(struct perf_event_header, size), &built.length, 2);
}

/* What the sink was given last. */
static struct {
	struct mapping mapping;
	struct thread_name name;
	struct thread_life life;
	struct kernel_symbol symbol;
	struct loss loss;
	u32 calls;
	char text[64];
} seen;

static int see_mapping(struct event_sink *self, const struct mapping *mapping)
{
	(void)self;
	seen.calls++;
	seen.mapping = *mapping;
	snprintf(seen.text, sizeof(seen.text), "%s", mapping->path);
	return 0;
}

static int see_name(struct event_sink *self, const struct thread_name *name)
{
	(void)self;
	seen.calls++;
	seen.name = *name;
	snprintf(seen.text, sizeof(seen.text), "%s", name->name);
	return 0;
}

static int see_fork(struct event_sink *self, const struct thread_life *life)
{
	(void)self;
	seen.calls++;
	seen.life = *life;
	return -EPIPE;
}

static int see_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	(void)self;
	seen.calls++;
	seen.symbol = *symbol;
	snprintf(seen.text, sizeof(seen.text), "%s", symbol->name);
	return 0;
}

static int see_loss(struct event_sink *self, const struct loss *loss)
{
	(void)self;
	seen.calls++;
	seen.loss = *loss;
	return 0;
}

static struct event_sink sink = {.on_mapping = see_mapping,
				 .on_name = see_name,
				 .on_fork = see_fork,
				 .on_kernel_symbol = see_symbol,
				 .on_loss = see_loss};
static struct side_band_counts counts;
static struct mapping_ids ids;

static int reset(void **state)
{
	memset(&seen, 0, sizeof(seen));
	counts = (struct side_band_counts){0};
	ids = (struct mapping_ids){.from_kernel = true};
	(void)state;
	return 0;
}

static int decode(void)
{
	return side_band_decode(built.bytes, built.length, &ids, &sink, &counts);
}

static void build_mapping(u16 misc)
{
	begin(PERF_RECORD_MMAP2, misc);
	add_u32(100);
	add_u32(101);
	add_u64(0x400000);
	add_u64(0x1000);
	add_u64(0x2000);
}

static void mapping_with_build_id_is_handed_over(void **state)
{
	static const u8 id[20] = {1, 2, 3, [19] = 20};
	static const u8 length_and_padding[4] = {20};

	build_mapping(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	add(length_and_padding, 4);
	add(id, sizeof(id));
	add_u32(5);
	add_u32(2);
	add("/bin/true", 10);
	end(777);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.mapping.pid, 100);
	assert_int_equal(seen.mapping.start, 0x400000);
	assert_int_equal(seen.mapping.file_offset, 0x2000);
	assert_int_equal(seen.mapping.time_ns, 777);
	assert_int_equal(seen.mapping.protection, 5);
	assert_int_equal(seen.mapping.build_id_bytes, 20);
	assert_memory_equal(seen.mapping.build_id, id, 20);
	assert_string_equal(seen.text, "/bin/true");
	(void)state;
}

static void mapping_without_build_id_has_its_inode(void **state)
{
	build_mapping(PERF_RECORD_MISC_USER);
	add_u32(254);
	add_u32(1);
	add_u64(4711);
	add_u64(8);
	add_u32(5);
	add_u32(2);
	add("//anon", 7);
	end(1);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.mapping.major, 254);
	assert_int_equal(seen.mapping.inode, 4711);
	assert_int_equal(seen.mapping.inode_generation, 8);
	assert_int_equal(seen.mapping.build_id_bytes, 0);
	(void)state;
}

/* The kernel leaks the mark from events of other tools. */
static void a_build_id_that_was_not_asked_for_is_the_inode(void **state)
{
	ids.from_kernel = false;
	build_mapping(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	add_u32(8);
	add_u32(1);
	add_u64(4711);
	add_u64(9);
	add_u32(5);
	add_u32(2);
	add("/bin/true", 10);
	end(1);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.mapping.major, 8);
	assert_int_equal(seen.mapping.inode, 4711);
	assert_int_equal(seen.mapping.build_id_bytes, 0);
	(void)state;
}

static void build_id_longer_than_any_is_left_out(void **state)
{
	static const u8 identity[24] = {21};

	build_mapping(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	add(identity, sizeof(identity));
	add_u32(5);
	add_u32(2);
	add("/x", 3);
	end(1);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.mapping.build_id_bytes, 0);
	assert_string_equal(seen.text, "/x");
	(void)state;
}

static void build_name(const char *name, size_t bytes)
{
	begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	add_u32(5);
	add_u32(6);
	add(name, bytes);
}

static void name_from_exec_says_so(void **state)
{
	build_name("true", 5);
	end(9);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.name.pid, 5);
	assert_int_equal(seen.name.tid, 6);
	assert_true(seen.name.is_exec);
	assert_string_equal(seen.text, "true");
	(void)state;
}

static void name_without_end_is_malformed(void **state)
{
	build_name("abcdefgh", 8);
	end(9);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(counts.malformed, 1);
	(void)state;
}

static void refusal_of_the_sink_is_passed_on(void **state)
{
	begin(PERF_RECORD_FORK, 0);
	add_u32(20);
	add_u32(10);
	add_u32(21);
	add_u32(11);
	add_u64(5);
	end(5);
	assert_int_equal(decode(), -EPIPE);
	assert_int_equal(seen.life.pid, 20);
	assert_int_equal(seen.life.parent_pid, 10);
	assert_int_equal(seen.life.tid, 21);
	assert_int_equal(seen.life.parent_tid, 11);
	(void)state;
}

static void kernel_symbol_is_handed_over(void **state)
{
	begin(PERF_RECORD_KSYMBOL, 0);
	add_u64(0xffffffffc0000000);
	add_u32(64);
	add("\1\0\1\0", 4);
	add("bpf_prog_x", 11);
	end(5);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.symbol.start, 0xffffffffc0000000);
	assert_int_equal(seen.symbol.bytes, 64);
	assert_int_equal(seen.symbol.type, 1);
	assert_int_equal(seen.symbol.flags, 1);
	(void)state;
}

/* As the kernel does for the second of those who listen, and the third. */
static void length_that_is_too_long_does_not_move_the_time(void **state)
{
	for (u32 listeners = 1; listeners <= 3; listeners++) {
		begin(PERF_RECORD_KSYMBOL, 0);
		add_u64(0xffffffffc0000000);
		add_u32(64);
		add("\1\0\1\0", 4);
		add("bpf_prog_with_name_of_24", 25);
		end(5);
		for (u32 i = 1; i < listeners; i++)
			for (u32 word = 0; word < 3; word++)
				add_u64(0xdeadbeefdeadbeef);
		memcpy(built.bytes + offsetof(struct perf_event_header, size), &built.length, 2);
		assert_int_equal(decode(), 0);
		assert_int_equal(side_band_time(built.bytes, built.length), 5);
		assert_int_equal(seen.symbol.time_ns, 5);
		assert_string_equal(seen.text, "bpf_prog_with_name_of_24");
	}
	(void)state;
}

/* Or the records behind it would wait for what was there before it. */
static void program_that_is_too_long_has_its_time(void **state)
{
	begin(PERF_RECORD_BPF_EVENT, 0);
	add("\2\0\0\0", 4);
	add_u32(99);
	add_u64(0x1234);
	end(5);
	for (u32 word = 0; word < 3; word++)
		add_u64(0x6800020000000a);
	memcpy(built.bytes + offsetof(struct perf_event_header, size), &built.length, 2);
	assert_int_equal(side_band_time(built.bytes, built.length), 5);
	assert_int_equal(decode(), 0);
	(void)state;
}

static void lost_records_are_counted_and_said(void **state)
{
	begin(PERF_RECORD_LOST, 0);
	add_u64(1);
	add_u64(17);
	end(5);
	assert_int_equal(decode(), 0);
	assert_int_equal(counts.lost, 17);
	assert_int_equal(seen.loss.count, 17);
	(void)state;
}

static void throttling_is_counted(void **state)
{
	begin(PERF_RECORD_THROTTLE, 0);
	add_u64(1);
	add_u64(2);
	add_u64(3);
	end(5);
	assert_int_equal(decode(), 0);
	assert_int_equal(counts.throttled, 1);
	(void)state;
}

static void record_cut_anywhere_is_malformed(void **state)
{
	build_name("true", 5);
	end(9);
	for (u16 bytes = 0; bytes < built.length; bytes++)
		assert_int_equal(side_band_decode(built.bytes, bytes, &ids, &sink, &counts), 0);
	assert_int_equal(counts.malformed, built.length);
	assert_int_equal(seen.calls, 0);
	(void)state;
}

static void unknown_record_is_passed_over(void **state)
{
	begin(77, 0);
	end(5);
	assert_int_equal(decode(), 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(counts.malformed, 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(mapping_with_build_id_is_handed_over, reset),
		cmocka_unit_test_setup(mapping_without_build_id_has_its_inode, reset),
		cmocka_unit_test_setup(a_build_id_that_was_not_asked_for_is_the_inode, reset),
		cmocka_unit_test_setup(build_id_longer_than_any_is_left_out, reset),
		cmocka_unit_test_setup(name_from_exec_says_so, reset),
		cmocka_unit_test_setup(name_without_end_is_malformed, reset),
		cmocka_unit_test_setup(refusal_of_the_sink_is_passed_on, reset),
		cmocka_unit_test_setup(kernel_symbol_is_handed_over, reset),
		cmocka_unit_test_setup(length_that_is_too_long_does_not_move_the_time, reset),
		cmocka_unit_test_setup(program_that_is_too_long_has_its_time, reset),
		cmocka_unit_test_setup(lost_records_are_counted_and_said, reset),
		cmocka_unit_test_setup(throttling_is_counted, reset),
		cmocka_unit_test_setup(record_cut_anywhere_is_malformed, reset),
		cmocka_unit_test_setup(unknown_record_is_passed_over, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
