/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples that wait for a table: our own stack, told as the BPF programs would, and recordings of
 * files that nobody has seen before.
 */
#include "capture/late_stacks.h"

#include "base/file.h"
#include "kernel/unwind_asking.h"

#include <execinfo.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum { SEGMENTS = 8, FRAMES_MAX = 127, PROGRAM_RUNS = 5 };

#define TAKEN_NS 1000ULL

static const u64 patience_ns = 1000000000;

/* What was handed on. */
static struct {
	struct event_sink sink;
	u32 count;
	struct sample last;
	struct frame frames[2 * FRAMES_MAX];
} seen;

static struct late_stacks *late;
static struct event_sink *samples;

static int see_sample(struct event_sink *self, const struct sample *sample)
{
	(void)self;
	seen.count++;
	seen.last = *sample;
	for (u32 i = 0; i < sample->frame_count; i++)
		seen.frames[i] = sample->frames[i];
	return 0;
}

static void open_late(void)
{
	open_tables(SEGMENTS);
	memset(&seen, 0, sizeof(seen));
	seen.sink.on_sample = see_sample;
	late = late_stacks_new(tables, FRAMES_MAX);
	samples = late_stacks_samples(late, &seen.sink);
}

static int close_late(void **state)
{
	late_stacks_free(TAKE(late));
	return close_tables(state);
}

/* Tells what we have mapped, as the kernel would have told it. */
static void tell_mappings(u32 pid)
{
	CLEANUP(freep) char *lines = NULL;
	struct event_sink *sink = late_stacks_processes(late);
	struct mapping mapping;
	struct bytes text = {0};
	char path[MAPS_PATH_BYTES];

	assert_int_equal(file_read("/proc/self/maps", 1 << 20, &lines, &text.length), 0);
	text.start = (const u8 *)lines;
	while (proc_maps_next(&text, (u32)getpid(), path, &mapping) > 0) {
		mapping.pid = pid;
		assert_int_equal(sink_call(sink, on_mapping, &mapping), 0);
	}
}

static void put_registers(const ucontext_t *context, struct unwind_frame *frame)
{
#if defined(__x86_64__)
	static const int by_dwarf[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15};

	for (u32 i = 0; i < ARRAY_COUNT(by_dwarf); i++)
		frame->registers[i] = (u64)context->uc_mcontext.gregs[by_dwarf[i]];
	frame->pc = (u64)context->uc_mcontext.gregs[REG_RIP];
	frame->fp = frame->registers[X86_64_FP];
	frame->sp = frame->registers[X86_64_SP];
#else
	memcpy(frame->registers, context->uc_mcontext.regs, 31 * sizeof(u64));
	frame->pc = context->uc_mcontext.pc;
	frame->fp = frame->registers[ARM64_FP];
	frame->sp = context->uc_mcontext.sp;
	frame->lr = frame->registers[ARM64_LR];
#endif
	frame->has_registers = 1;
	frame->rbx_at = UNWIND_IN_REGISTERS;
}

/* Takes a sample of this function, of which the programs have found the first frame only, and what
 * is left of its stack. Returns how many frames `addresses` has: those of our callers. */
static __attribute__((noinline)) int take_ourselves(u32 pid, void **addresses)
{
	CLEANUP(freep) struct stack_rest *rest = must_alloc(sizeof(*rest));
	struct frame frame = {.space = SPACE_USER};
	struct sample sample = {.time_ns = TAKEN_NS,
				.pid = pid,
				.tid = pid,
				.space = SPACE_USER,
				.cut = CUT_NOT_ANALYSED,
				.frame_count = 1,
				.frames = &frame};
	CLEANUP(closep) int memory = -1;
	ucontext_t context;

	assert_int_equal(getcontext(&context), 0);
	rest->kind = RECORD_STACK_REST;
	rest->time_ns = TAKEN_NS;
	rest->pid = rest->tid = pid;
	put_registers(&context, &rest->frame);
	frame.address = sample.address = rest->frame.pc;
	rest->stack_start = rest->frame.sp;
	/* The program's name is the last thing that a new process finds on its stack. */
	rest->stack_bytes = (u32)(getauxval(AT_EXECFN) - rest->stack_start);
	if (rest->stack_bytes > REST_STACK_BYTES)
		rest->stack_bytes = REST_STACK_BYTES;
	/* Not by memcpy(): ASan watches that, and what lies between our variables. */
	memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(memory, rest->stack, rest->stack_bytes, (off_t)rest->stack_start),
			 rest->stack_bytes);
	late_stacks_take_rest(late, rest);
	assert_int_equal(sink_call(samples, on_sample, &sample), 0);
	return backtrace(addresses, FRAMES_MAX);
}

/* Lets the sample that was taken learn what is mapped. */
static void place(void)
{
	struct side_band *silent = side_band_new(1, (struct mapping_ids){0});
	int error = late_stacks_drain_side_band(late, silent, TAKEN_NS + 1, &seen.sink);

	side_band_free(silent);
	assert_int_equal(error, 0);
}

/* Has tables made until nothing waits for one any more, at a time that is long gone. */
static void make_tables(void)
{
	while (late_stacks_round_ns(late, ~0ULL) != ~0ULL) {
		unwind_tables_work(tables, TAKEN_NS + 1);
		assert_int_equal(late_stacks_work(late, TAKEN_NS + 1), 0);
	}
}

static void a_sample_waits_for_the_table_and_is_whole_then(void **state)
{
	void *addresses[FRAMES_MAX];
	u32 pid = (u32)getpid();
	int count;

	open_late();
	tell_mappings(pid);
	count = take_ourselves(pid, addresses);
	place();
	assert_int_equal(late_stacks_work(late, TAKEN_NS + 1), 0);
	assert_int_equal(seen.count, 0);
	assert_int_equal(late_stacks_round_ns(late, TAKEN_NS + 5), TAKEN_NS);
	make_tables();
	assert_int_equal(seen.count, 1);
	assert_int_equal(late_stacks_round_ns(late, TAKEN_NS + 5), TAKEN_NS + 5);
	assert_int_equal(seen.last.cut, CUT_COMPLETE);
	assert_int_equal(seen.last.walked, WALK_EH_FRAME);
	/* Of the innermost frame each knows another place. */
	assert_true(seen.last.frame_count >= 4);
	for (u32 i = 1; i < seen.last.frame_count; i++)
		assert_int_equal(seen.frames[seen.last.frame_count - i].address,
				 addresses[count - (int)i]);
	(void)state;
}

static void what_is_corrected_in_the_counters_is_the_sample(void **state)
{
	u64 counters[COUNTER_COUNT] = {[COUNTER_user_stack_not_analysed] = 1};
	void *addresses[FRAMES_MAX];

	open_late();
	tell_mappings((u32)getpid());
	take_ourselves((u32)getpid(), addresses);
	place();
	make_tables();
	late_stacks_totals(late, counters);
	assert_int_equal(counters[COUNTER_user_stack_not_analysed], 0);
	assert_int_equal(counters[COUNTER_user_stacks_whole], 1);
	(void)state;
}

static void a_sample_waits_for_a_second_and_is_handed_on_as_it_was(void **state)
{
	void *addresses[FRAMES_MAX];

	open_late();
	tell_mappings(1);
	take_ourselves(1, addresses);
	place();
	assert_int_equal(late_stacks_work(late, TAKEN_NS + patience_ns - 1), 0);
	assert_int_equal(seen.count, 0);
	assert_int_equal(late_stacks_work(late, TAKEN_NS + patience_ns), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last.cut, CUT_NOT_ANALYSED);
	assert_int_equal(seen.last.frame_count, 1);
	(void)state;
}

static void a_sample_of_a_process_that_nobody_knows_does_not_wait(void **state)
{
	void *addresses[FRAMES_MAX];

	open_late();
	take_ourselves(1, addresses);
	place();
	assert_int_equal(late_stacks_work(late, TAKEN_NS), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last.frame_count, 1);
	(void)state;
}

static void a_sample_without_rest_is_handed_on_at_once(void **state)
{
	struct sample sample = {.time_ns = TAKEN_NS, .tid = 1};

	open_late();
	assert_int_equal(sink_call(samples, on_sample, &sample), 0);
	assert_int_equal(seen.count, 1);
	(void)state;
}

/* --- recordings --- */

/* The program that runs: its table as it was read here, and where its code lies. */
static struct {
	struct unwind_table *table;
	u64 start, bytes, file_offset;
} program;

static int note_program(struct event_sink *self, const struct mapping *mapping)
{
	(void)self;
	if (mapping->is_data || !strstr(mapping->path, "/fresh-"))
		return 0;
	program.start = mapping->start;
	program.bytes = mapping->bytes;
	program.file_offset = mapping->file_offset;
	return 0;
}

static void read_program(const char *path)
{
	CLEANUP(rule_set_release) struct rule_set rules;
	CLEANUP(file_unmap) struct bytes image = {0};

	unwind_table_freep(&program.table);
	program.bytes = 0;
	assert_int_equal(map_file(path, &image), 0);
	rule_set_init(&rules);
	assert_int_equal(unwind_table_read(image, &rules, UNWIND_RULE_MAX, &program.table), 0);
}

/* Whether the program has a rule for all of a stack. The compiler puts functions around it that run
 * constructors and destructors and have none. The first rule is none. */
static bool has_rules(const struct sample *sample, const struct frame *frames)
{
	for (u32 i = 0; i < sample->frame_count; i++) {
		u64 into = frames[i].address - program.start;

		if (into < program.bytes &&
		    !unwind_table_find(program.table, program.file_offset + into))
			return false;
	}
	return true;
}

/* How many user stacks of programs that were started by the command there are, of code that can be
 * walked, and how many of them are whole. */
static void count_stacks(const struct recording *recording, u32 command, u64 *ret_stacks,
			 u64 *ret_whole)
{
	for (size_t i = 0; i < recording->samples.count; i++) {
		const struct sample *sample = &recording->samples.items[i];
		size_t first = recording->first_frames.items[i];

		/* While the page of an `_init` is read in, nobody can look at its code. */
		if (sample->pid == command || sample->space != SPACE_USER ||
		    !has_rules(sample, recording->frames.items + first))
			continue;
		++*ret_stacks;
		*ret_whole += sample->cut == CUT_COMPLETE;
		if (sample->cut != CUT_COMPLETE)
			print_message("cut %u at %#lx after %u frames\n", sample->cut,
				      sample->address, sample->frame_count);
	}
}

/* Each run is of a program that nobody has seen, so its first sample meets code without a table. */
static void the_first_samples_of_a_file_never_seen_are_whole(void **state)
{
	CLEANUP(freep) char *forky = workload("forky"), *original = workload("nofp");
	u64 stacks = 0, whole = 0;

	skip_without_permission();
	for (u32 run = 0; run < PROGRAM_RUNS; run++) {
		CLEANUP(freep) char *name = must_format("fresh-%u", run);
		CLEANUP(freep) char *copy = copy_of(original, name);
		char *command[] = {forky, "1", "0", copy, "plain", "0.02", NULL};
		struct parsed_event clock = software(PERF_COUNT_SW_CPU_CLOCK, 4999, true);
		struct capture_settings settings = {
			.targets = {.command = command}, .events = &clock, .event_count = 1};
		CLEANUP(recording_release) struct recording recording = {0};
		u32 pid;

		read_program(copy);
		assert_int_equal(recording_open(&recording, &settings), 0);
		recording.sink.on_mapping = note_program;
		assert_int_equal(capture_start(recording.capture, &recording.sink), 0);
		pid = (u32)capture_command(recording.capture);
		recording_run(&recording, SIZE_MAX);
		recording_stop(&recording);
		assert_adds_up(&recording);
		assert_int_equal(recording.totals.counters[COUNTER_stack_not_kept], 0);
		count_stacks(&recording, pid, &stacks, &whole);
	}
	unwind_table_freep(&program.table);
	assert_true(stacks >= amount(100));
	/* An emulated machine may take longer than samples wait. */
	assert_true(whole >= stacks - (amount(1) ? 0 : stacks / 20));
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, close_late)
		TEST(a_sample_waits_for_the_table_and_is_whole_then),
		TEST(what_is_corrected_in_the_counters_is_the_sample),
		TEST(a_sample_waits_for_a_second_and_is_handed_on_as_it_was),
		TEST(a_sample_of_a_process_that_nobody_knows_does_not_wait),
		TEST(a_sample_without_rest_is_handed_on_at_once),
		cmocka_unit_test(the_first_samples_of_a_file_never_seen_are_whole),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
