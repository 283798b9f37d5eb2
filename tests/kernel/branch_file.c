/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a perf.data of samples whose LBR is scripted: this program calls 43 functions deep, and
 * samples itself at each depth on the way down and up, with what a CPU of 32 branch records would
 * hold there. They go the way of a recording: snapshot in BPF, ring, maybe stitching, writer.
 *
 * usage: branch_file raw|stitched|killed|plain FILE
 *
 * killed is stitched, but the recorder dies of SIGKILL before it can finish the file; plain writes
 * branch stacks as of record -b, without call chains.
 */
#include "kernel/scripted_branches.h"

#include "cmd/live_stitching.h"
#include "host/host.h"
#include "perfdata/perfdata.h"

#include <execinfo.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { LEVELS = 43, REGISTERS = 32, CALLS_MAX = 64 };

/* A call on the stack. */
struct call {
	u64 from, to, back; /* the CALL, what it calls, where that returns */
};

/* The outermost first. */
static struct call calls[CALLS_MAX];
static size_t call_count;
static u64 innermost; /* an address in the function that the last call leads to */

int main(int argc, char **argv);

/* Takes the CALL before a return address apart; x86-64. Where one through a register goes to is not
 * said: there is only the C library's to main(). */
static struct call call_before(u64 back)
{
	const u8 *code = (const u8 *)(uintptr_t)back;
	s32 distance;
	u64 place;

	memcpy(&distance, code - 4, sizeof(distance));
	place = back + (u64)(s64)distance;
	if (code[-5] == 0xe8)
		return (struct call){back - 5, place, back};
	if (code[-6] == 0xff && code[-5] == 0x15) /* of the word there */
		return (struct call){back - 6, *(u64 *)(uintptr_t)place, back};
	return (struct call){back - 2, (u64)(uintptr_t)main, back};
}

static __attribute__((noinline)) void note_calls(void)
{
	void *backs[CALLS_MAX];
	int count = backtrace(backs, CALLS_MAX);

	for (int i = count - 1; i > 0; i--) /* 0 is in here */
		calls[call_count++] = call_before((u64)(uintptr_t)backs[i]);
	innermost = (u64)(uintptr_t)backs[0];
}

/* level_42() calls level_41() calls … level_0(). */
#define LEVEL(number, below)                                       \
	static __attribute__((noinline)) void level_##number(void) \
	{                                                          \
		below();                                           \
		__asm__ volatile("");                              \
	}
LEVEL(0, note_calls)
LEVEL(1, level_0)
LEVEL(2, level_1)
LEVEL(3, level_2)
LEVEL(4, level_3)
LEVEL(5, level_4)
LEVEL(6, level_5)
LEVEL(7, level_6)
LEVEL(8, level_7)
LEVEL(9, level_8)
LEVEL(10, level_9)
LEVEL(11, level_10)
LEVEL(12, level_11)
LEVEL(13, level_12)
LEVEL(14, level_13)
LEVEL(15, level_14)
LEVEL(16, level_15)
LEVEL(17, level_16)
LEVEL(18, level_17)
LEVEL(19, level_18)
LEVEL(20, level_19)
LEVEL(21, level_20)
LEVEL(22, level_21)
LEVEL(23, level_22)
LEVEL(24, level_23)
LEVEL(25, level_24)
LEVEL(26, level_25)
LEVEL(27, level_26)
LEVEL(28, level_27)
LEVEL(29, level_28)
LEVEL(30, level_29)
LEVEL(31, level_30)
LEVEL(32, level_31)
LEVEL(33, level_32)
LEVEL(34, level_33)
LEVEL(35, level_34)
LEVEL(36, level_35)
LEVEL(37, level_36)
LEVEL(38, level_37)
LEVEL(39, level_38)
LEVEL(40, level_39)
LEVEL(41, level_40)
LEVEL(42, level_41)

/* The registers: a ring in which the newest call lies in `newest`. */
struct lbr_registers {
	struct call ring[REGISTERS];
	u32 newest, count;
};

static void push(struct lbr_registers *registers, struct call call)
{
	registers->newest = (registers->newest + 1) % REGISTERS;
	registers->ring[registers->newest] = call;
	if (registers->count < REGISTERS)
		registers->count++;
}

static void pop(struct lbr_registers *registers)
{
	registers->newest = (registers->newest + REGISTERS - 1) % REGISTERS;
	if (registers->count)
		registers->count--;
}

/* A sample of `depth` calls. */
static void script_sample(struct script *script, const struct lbr_registers *registers,
			  size_t depth)
{
	static u64 time_ns;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!time_ns)
		time_ns = (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
	*script = (struct script){
		.header = {.kind = RECORD_SAMPLE,
			   .time_ns = time_ns += 1000000,
			   .address = depth < call_count ? calls[depth].back : innermost,
			   .period = 1000000,
			   .pid = (u32)getpid(),
			   .tid = (u32)getpid(),
			   .user_frames = 1,
			   .end = END_NO_TABLE,
			   .mode = MODE_USER},
		.nr = registers->count,
		.hw_idx = registers->newest,
	};
	script->frames[0] = script->header.address;
	for (u32 i = 0; i < registers->count; i++) {
		u32 slot = (registers->newest + REGISTERS - i) % REGISTERS;

		script->entries[i] = (struct script_entry){registers->ring[slot].from,
							   registers->ring[slot].to, 0};
	}
}

/* Down and up until the scripts are full. */
static void script_all(struct script *scripts)
{
	struct lbr_registers registers = {.newest = 7};
	size_t depth = 0;
	bool is_down = true;

	for (u32 i = 0; i < SCRIPTS_MAX; i++) {
		if (depth == call_count)
			is_down = false;
		else if (depth <= 4) /* not above main() */
			is_down = true;
		do {
			if (is_down)
				push(&registers, calls[depth++]);
			else
				pop(&registers), depth--;
		} while (depth < 3);
		script_sample(&scripts[i], &registers, depth);
	}
}

/* What is left of a recording, by the first argument. */
enum kind { RAW, STITCHED, KILLED, PLAIN, KINDS };

static void write_file(const struct event_source *source, enum kind kind, const char *path)
{
	bool is_stitched = kind == STITCHED || kind == KILLED;
	CLEANUP(player_release) struct player player = {0};
	struct perfdata_writer_settings settings = {
		.path = path,
		.sources = source,
		.source_count = 1,
		.clock_id = CLOCK_MONOTONIC,
		.branch_depth = REGISTERS,
	};
	struct live_stitching *stitching = is_stitched ? live_stitching_new(&settings) : NULL;
	struct perfdata_writer *writer;
	struct event_sink *sink;
	struct file_ids *files = file_ids_new((struct id_reader){0});
	struct scan_result scan;
	u32 pid = (u32)getpid();
	struct scan_request request = {.pids = &pid, .pid_count = 1, .files = files};

	assert_int_equal(perfdata_writer_open(&settings, &writer), 0);
	sink = perfdata_writer_sink(writer);
	if (is_stitched)
		sink = live_stitching_sink(stitching, sink);
	assert_int_equal(processes_scan(&request, sink, &scan), 0);
	player_open(&player, REGISTERS);
	script_all(player.scripts);
	play(&player, sink);
	assert_int_equal(sink_call(sink, on_round, ~0ULL), 0);
	assert_int_equal(perfdata_writer_flush(writer), 0);
	if (kind == KILLED)
		raise(SIGKILL);
	assert_int_equal(perfdata_writer_close(writer), 0);
	if (is_stitched) {
		assert_int_equal(live_stitching_finish(stitching, &(struct perfdata_extra){0}), 0);
		live_stitching_print(stitching);
	}
	file_ids_free(files);
	live_stitching_free(stitching);
}

int main(int argc, char **argv)
{
	static const char *const kinds[KINDS] = {"raw", "stitched", "killed", "plain"};
	enum kind kind = RAW;
	struct event_source source = {
		.name = "cycles:u",
		.type = PERF_TYPE_HARDWARE,
		.rate = 1000000,
		.exclude_kernel = true,
		.has_chain = true,
		.has_branches = true,
		.has_time = true,
		.has_cpu = true,
		.has_period = true,
		.branch_bits = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
			       PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
			       PERF_SAMPLE_BRANCH_HW_INDEX,
	};

	level_42(); /* before all branches: the compiler may not make two calls of one */
	while (argc == 3 && kind < KINDS && strcmp(argv[1], kinds[kind]))
		kind++;
	if (argc != 3 || kind == KINDS)
		return 2;
	if (kind == PLAIN) {
		source.has_chain = false;
		source.branch_bits = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	}
	write_file(&source, kind, argv[2]);
	return 0;
}
