/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of late stacks, from the innermost frame on.
 *
 * Sources for the registers' numbers: arch/x86/include/uapi/asm/perf_regs.h and
 * arch/arm64/include/uapi/asm/perf_regs.h of Linux.
 */
#include "unwind/sample_unwinder.h"

#include "base/memory.h"
#include "base/vec.h"
#include "unwind/code_files.h"

#include <string.h>

/* A frame takes 16 bytes of stack at least in code that calls, and at most 64 KiB are copied. */
enum { FRAMES_MAX = 65536 / 16 };

enum { DWARF_PC = UNWIND_REGISTERS, DWARF_REGISTERS };

/* What a machine calls its registers. */
struct machine {
	const char *arch;		  /* of uname(2) */
	u8 machine;			  /* enum unwind_machine */
	u8 fp, sp;			  /* DWARF numbers */
	u8 count;			  /* rows of `perf_numbers` that are registers */
	u8 perf_numbers[DWARF_REGISTERS]; /* by DWARF number, DWARF_PC for where it is */
};

static const struct machine machines[] = {
	{.arch = "x86_64",
	 .machine = UNWIND_X86_64,
	 .fp = X86_64_FP,
	 .sp = X86_64_SP,
	 .count = 16,
	 .perf_numbers = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, [DWARF_PC] = 8}},
	{.arch = "aarch64",
	 .machine = UNWIND_ARM64,
	 .fp = ARM64_FP,
	 .sp = ARM64_SP,
	 .count = 32,
	 .perf_numbers = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
			  11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
			  22, 23, 24, 25, 26, 27, 28, 29, 30, 31, [DWARF_PC] = 32}},
};

#if defined(__aarch64__)
static const char our_arch[] = "aarch64";
#else
static const char our_arch[] = "x86_64";
#endif

struct sample_unwinder {
	struct passing_sink passing;
	const struct event_source *sources;
	const struct machine *machine; /* NULL: one whose stacks we cannot walk */
	struct code_files *files;
	bool wants_files;
	VEC(struct frame) frames;
	u64 found[FRAMES_MAX];
};

static struct sample_unwinder *of_sink(struct event_sink *sink)
{
	return (struct sample_unwinder *)sink; /* it is the first member */
}

/* --- where the walk begins --- */

/* The frame that was interrupted. Returns false if the sample does not say where it is. */
static bool first_frame(const struct machine *machine, const struct sample *sample, u64 recorded,
			struct unwind_frame *ret_frame)
{
	struct unwind_frame frame = {.is_exact = 1, .has_registers = 1};
	bool has_rbx = true, has_fp = true;

	if (!sample_register(sample, recorded, machine->perf_numbers[DWARF_PC], &frame.pc) ||
	    !sample_register(sample, recorded, machine->perf_numbers[machine->sp], &frame.sp))
		return false;
	for (u32 i = 0; i < machine->count; i++) {
		if (sample_register(sample, recorded, machine->perf_numbers[i],
				    &frame.registers[i]))
			continue;
		frame.has_registers = 0;
		has_rbx &= i != X86_64_RBX;
		has_fp &= i != machine->fp;
	}
	frame.fp = frame.registers[machine->fp];
	frame.fp_is_lost = !has_fp;
	frame.rbx_at = has_rbx ? UNWIND_IN_REGISTERS : 0;
	frame.lr = frame.registers[ARM64_LR];
	frame.has_lr = machine->machine == UNWIND_ARM64 && frame.has_registers;
	*ret_frame = frame;
	return true;
}

/* --- why it ends --- */

/* Signal handlers may have one of their own, which alone was copied. */
static bool is_on_another_stack(const struct copied_walk *walk)
{
	return walk->frame.sp - walk->stack.start > walk->stack.length;
}

static u8 cut_of(u8 end, const struct copied_walk *walk, const struct sample *sample)
{
	if (end != END_NOT_ANALYSED)
		return end;
	if (walk->is_missed)
		return sample->stack_is_full || is_on_another_stack(walk) ? CUT_COPY_ENDS
									  : CUT_UNREADABLE;
	if (walk->state == CODE_NOWHERE && !walk->count)
		return CUT_NO_MAPPING;
	return walk->state == CODE_UNREAD ? CUT_NO_FILE : CUT_BROKEN;
}

/* --- samples --- */

/* Puts the kernel's frames and then `count` of those that were found into the frames. */
static void join(struct sample_unwinder *unwinder, struct sample *sample, u32 count)
{
	u32 before = sample_kernel_frames(sample);
	struct frame *frames;

	unwinder->frames.count = 0;
	vec_reserve(&unwinder->frames, (size_t)before + count);
	frames = unwinder->frames.items;
	if (before)
		memcpy(frames, sample->frames, before * sizeof(*frames));
	for (u32 i = 0; i < count; i++)
		frames[before + i] = (struct frame){.address = unwinder->found[i],
						    .space = SPACE_USER};
	sample->frames = frames;
	sample->frame_count = (u16)(before + count);
}

static u32 walk(struct sample_unwinder *unwinder, struct sample *sample)
{
	const struct machine *machine = unwinder->machine;
	struct copied_walk walk = {
		.doubt = END_NO_TABLE,
		.takes_calls = true,
		.frames = unwinder->found,
		.most = FRAMES_MAX,
	};
	struct copied_walk_world world;
	u8 end;

	if (!first_frame(machine, sample, unwinder->sources[sample->source].user_registers,
			 &walk.frame))
		return 0;
	unwinder->found[0] = walk.frame.pc;
	walk.stack = (struct copied_stack){
		.start = walk.frame.sp,
		.length = sample->stack_bytes,
		.bytes = sample->user_stack,
	};
	world = code_files_world(unwinder->files, sample->pid);
	end = copied_walk_go_on(&walk, &world);
	sample->cut = cut_of(end, &walk, sample);
	sample->walked = walk.walked ? walk.walked : WALK_EH_FRAME;
	if (unwinder->wants_files && sample->cut == CUT_NO_FILE && walk.count <= 1)
		return 0;
	return walk.count ? walk.count : 1;
}

/* Of what cannot be walked: where it was interrupted, if that was not in the kernel. */
static u32 take_address(struct sample_unwinder *unwinder, struct sample *sample)
{
	if (sample->user_abi == USER_ABI_32)
		sample->cut = CUT_32_BIT;
	else if (unwinder->machine && sample->space == SPACE_USER)
		sample->cut = CUT_UNREADABLE;
	else /* of a thread of the kernel, or of one that exec() has taken the stack away from */
		sample->cut = unwinder->machine ? CUT_NONE : CUT_UNSUPPORTED;
	if (sample->space != SPACE_USER)
		return 0;
	unwinder->found[0] = sample->address;
	return 1;
}

static bool can_walk(const struct sample_unwinder *unwinder, const struct sample *sample)
{
	return unwinder->machine && sample->user_abi == USER_ABI_64 && sample->stack_bytes;
}

static int take_sample(struct event_sink *self, const struct sample *sample)
{
	struct sample_unwinder *unwinder = of_sink(self);
	struct sample walked = *sample;
	u32 count;

	if (!unwinder->sources[sample->source].has_copied_stack)
		return sink_call(unwinder->passing.next, on_sample, sample);
	count = can_walk(unwinder, sample) ? walk(unwinder, &walked)
					   : take_address(unwinder, &walked);
	join(unwinder, &walked, count);
	walked.chain_key = 0; /* that of the kernel's frames alone */
	return sink_call(unwinder->passing.next, on_sample, &walked);
}

/* --- processes --- */

#define LEARN(member, type)                                                                   \
	static int learn_##member(struct event_sink *self, const struct type *event)          \
	{                                                                                     \
		struct sample_unwinder *unwinder = of_sink(self);                             \
		int error = sink_call(code_files_sink(unwinder->files), on_##member, event);  \
                                                                                              \
		return error ? error : sink_call(unwinder->passing.next, on_##member, event); \
	}
LEARN(mapping, mapping)
LEARN(name, thread_name)
LEARN(fork, thread_life)
LEARN(exit, thread_life)

/* --- opening --- */

static const struct machine *machine_of(const char *arch)
{
	for (size_t i = 0; i < ARRAY_COUNT(machines); i++)
		if (!strcmp(machines[i].arch, arch))
			return &machines[i];
	return NULL;
}

struct sample_unwinder *sample_unwinder_new(const struct sample_unwinder_settings *settings,
					    const struct event_source *sources,
					    struct event_sink *next)
{
	struct sample_unwinder *unwinder = must_alloc(sizeof(*unwinder));
	struct code_files_settings files = {
		.symfs = settings->symfs && settings->symfs[0] ? settings->symfs : NULL,
		.recorded_until_ns = settings->recorded_until_ns,
	};

	unwinder->machine = machine_of(settings->arch ? settings->arch : our_arch);
	files.machine = unwinder->machine ? unwinder->machine->machine : UNWIND_X86_64;
	files.has_our_vdso = settings->has_our_kernel && unwinder->machine == machine_of(our_arch);
	unwinder->files = code_files_new(&files);
	unwinder->sources = sources;
	unwinder->wants_files = settings->wants_files;
	passing_sink_init(&unwinder->passing, next);
	unwinder->passing.sink.on_sample = take_sample;
	unwinder->passing.sink.on_mapping = learn_mapping;
	unwinder->passing.sink.on_name = learn_name;
	unwinder->passing.sink.on_fork = learn_fork;
	unwinder->passing.sink.on_exit = learn_exit;
	return unwinder;
}

void sample_unwinder_free(struct sample_unwinder *unwinder)
{
	if (!unwinder)
		return;
	code_files_free(unwinder->files);
	vec_release(&unwinder->frames);
	free(unwinder);
}

void sample_unwinder_freep(struct sample_unwinder **unwinder)
{
	sample_unwinder_free(*unwinder);
}

struct event_sink *sample_unwinder_sink(struct sample_unwinder *unwinder)
{
	return &unwinder->passing.sink;
}
