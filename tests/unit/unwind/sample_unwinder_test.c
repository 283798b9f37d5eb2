/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of samples with copied stacks, where there is nothing to walk by. */
#include "unwind/sample_unwinder.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <string.h>

enum { PID = 5, PERF_REGISTERS = 33, PC = 0x401234, KERNEL_FRAMES = 2 };

/* What the last sample was. */
struct collector {
	struct event_sink sink;
	struct sample sample;
	struct frame frames[8];
};

static u64 registers[PERF_REGISTERS], stack[4];
static const struct frame kernel_and_user[] = {
	{.address = 0xffffffff81000000, .space = SPACE_KERNEL},
	{.address = 0xffffffff81000100, .space = SPACE_KERNEL},
	{.address = 0x777, .space = SPACE_USER}, /* as the kernel found it, by frame pointers */
};
static struct event_source source = {
	.has_chain = true,
	.has_copied_stack = true,
	.user_registers = (1ULL << PERF_REGISTERS) - 1,
};
static struct collector collector;

static int collect(struct event_sink *sink, const struct sample *sample)
{
	assert_true(sample->frame_count <= ARRAY_COUNT(collector.frames));
	collector.sample = *sample;
	if (sample->frame_count)
		memcpy(collector.frames, sample->frames,
		       sample->frame_count * sizeof(*sample->frames));
	(void)sink;
	return 0;
}

/* A sample in the kernel with all that a walk needs. */
static struct sample sample_make(void)
{
	return (struct sample){
		.pid = PID,
		.space = SPACE_KERNEL,
		.address = kernel_and_user[0].address,
		.has_chain = true,
		.chain_key = 1,
		.frames = kernel_and_user,
		.frame_count = ARRAY_COUNT(kernel_and_user),
		.user_abi = USER_ABI_64,
		.stack_bytes = sizeof(stack),
		.user_registers = (const u8 *)registers,
		.user_stack = (const u8 *)stack,
	};
}

static bool wants_files;

/* Lets an unwinder for this machine have the sample, in a process that has mapped `path`. */
static void send(const char *arch, const char *path, const struct sample *sample)
{
	struct sample_unwinder_settings settings = {.arch = arch, .wants_files = wants_files};
	CLEANUP(sample_unwinder_freep) struct sample_unwinder *unwinder = NULL;
	struct mapping mapping = {
		.pid = PID, .space = SPACE_USER, .start = 0x400000, .bytes = 0x10000, .path = path};

	collector = (struct collector){.sink.on_sample = collect};
	unwinder = sample_unwinder_new(&settings, &source, &collector.sink);
	sink_call(sample_unwinder_sink(unwinder), on_mapping, &mapping);
	sink_call(sample_unwinder_sink(unwinder), on_sample, sample);
}

static void expect_user_frame(u64 address, u8 cut)
{
	assert_int_equal(collector.sample.frame_count, KERNEL_FRAMES + 1);
	assert_int_equal(collector.frames[0].address, kernel_and_user[0].address);
	assert_int_equal(collector.frames[KERNEL_FRAMES].address, address);
	assert_int_equal(collector.frames[KERNEL_FRAMES].space, SPACE_USER);
	assert_int_equal(collector.sample.cut, cut);
	assert_int_equal(collector.sample.chain_key, 0); /* that was of other frames */
}

static void user_frames_of_the_walk_take_the_place_of_the_kernels(void **unused)
{
	struct sample sample = sample_make();

	memset(registers, 0, sizeof(registers));
	registers[8] = PC;
	send("x86_64", "/nowhere/at/all", &sample);
	expect_user_frame(PC, CUT_NO_FILE);
	(void)unused;
}

static void without_its_file_there_is_no_user_frame_if_so_wanted(void **unused)
{
	struct sample sample = sample_make();

	memset(registers, 0, sizeof(registers));
	registers[8] = PC;
	wants_files = true;
	send("x86_64", "/nowhere/at/all", &sample);
	wants_files = false;
	assert_int_equal(collector.sample.frame_count, KERNEL_FRAMES);
	assert_int_equal(collector.sample.cut, CUT_NO_FILE);
	(void)unused;
}

static void registers_have_the_numbers_of_the_machine_that_was_recorded(void **unused)
{
	struct sample sample = sample_make();

	memset(registers, 0, sizeof(registers));
	registers[32] = PC;
	send("aarch64", "/nowhere/at/all", &sample);
	expect_user_frame(PC, CUT_NO_FILE);
	(void)unused;
}

static void a_file_of_another_machine_is_not_the_one_that_ran(void **unused)
{
	struct sample sample = sample_make();

	memset(registers, 0, sizeof(registers));
#if defined(__x86_64__)
	registers[32] = PC;
	send("aarch64", "/proc/self/exe", &sample);
#else
	registers[8] = PC;
	send("x86_64", "/proc/self/exe", &sample);
#endif
	expect_user_frame(PC, CUT_NO_FILE);
	(void)unused;
}

static void machines_without_a_walk_show_where_they_were(void **unused)
{
	struct sample sample = sample_make();

	sample.space = SPACE_USER;
	sample.address = PC;
	send("s390x", "/nowhere/at/all", &sample);
	expect_user_frame(PC, CUT_UNSUPPORTED);
	(void)unused;
}

static void code_of_32_bits_says_so(void **unused)
{
	struct sample sample = sample_make();

	sample.user_abi = USER_ABI_32;
	sample.space = SPACE_USER;
	sample.address = PC;
	send("x86_64", "/nowhere/at/all", &sample);
	expect_user_frame(PC, CUT_32_BIT);
	(void)unused;
}

static void a_thread_of_the_kernel_has_no_user_stack(void **unused)
{
	struct sample sample = sample_make();

	sample.user_abi = USER_ABI_NONE;
	sample.stack_bytes = 0;
	send("x86_64", "/nowhere/at/all", &sample);
	assert_int_equal(collector.sample.frame_count, KERNEL_FRAMES);
	assert_int_equal(collector.sample.cut, CUT_NONE);
	(void)unused;
}

static void events_without_copies_are_left_as_they_are(void **unused)
{
	struct sample sample = sample_make();

	source.has_copied_stack = false;
	send("x86_64", "/nowhere/at/all", &sample);
	source.has_copied_stack = true;
	assert_int_equal(collector.sample.frame_count, KERNEL_FRAMES + 1);
	assert_int_equal(collector.frames[KERNEL_FRAMES].address, 0x777);
	assert_int_equal(collector.sample.cut, CUT_UNKNOWN);
	assert_int_equal(collector.sample.chain_key, 1);
	(void)unused;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_frames_of_the_walk_take_the_place_of_the_kernels),
		cmocka_unit_test(without_its_file_there_is_no_user_frame_if_so_wanted),
		cmocka_unit_test(registers_have_the_numbers_of_the_machine_that_was_recorded),
		cmocka_unit_test(a_file_of_another_machine_is_not_the_one_that_ran),
		cmocka_unit_test(machines_without_a_walk_show_where_they_were),
		cmocka_unit_test(code_of_32_bits_says_so),
		cmocka_unit_test(a_thread_of_the_kernel_has_no_user_stack),
		cmocka_unit_test(events_without_copies_are_left_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
