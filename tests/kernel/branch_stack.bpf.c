/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the snapshot of branch stacks on scripted ones: each becomes memory that looks like what the
 * kernel has at an overflow, and the record goes through the ring as every other.
 */
#include "branch_stack.h"
#include "branch_stack.bpf.h"
#include "sample.bpf.h"

#include <bpf/bpf_helpers.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIPTS_MAX);
	__type(key, u32);
	__type(value, struct script);
} scripts SEC(".maps");

enum { DATA_WORDS = 64 };

/* The context of one overflow, laid out as this kernel does. */
struct stage {
	u64 context[4];
	u64 data[DATA_WORDS];
	u64 stack[2 + SCRIPT_ENTRIES * 3];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stage);
} stages SEC(".maps");

/* Where no memory is: behind the user's half of the address space. */
#define NOWHERE 0xffff000000000000ULL

static __always_inline u64 stack_address(const struct stage *stage, u64 trick)
{
	if (trick == TRICK_NULL)
		return 0;
	return trick == TRICK_INVALID ? NOWHERE : (u64)stage->stack;
}

/* What is not set keeps what it was before, as in the kernel. */
static __always_inline void set_stage(struct stage *stage, const struct script *script)
{
	u32 at = bpf_core_field_offset(struct bpf_perf_event_data_kern, data);
	u64 flags = script->trick == TRICK_UNSAID ? 0 : PERF_SAMPLE_BRANCH_STACK;

	if (at / sizeof(u64) < sizeof(stage->context) / sizeof(u64))
		stage->context[at / sizeof(u64)] = (u64)stage->data;
	at = bpf_core_field_offset(struct perf_sample_data, br_stack);
	if (at / sizeof(u64) < DATA_WORDS)
		stage->data[at / sizeof(u64)] = stack_address(stage, script->trick);
	if (bpf_core_field_exists(struct perf_sample_data, sample_flags)) {
		at = bpf_core_field_offset(struct perf_sample_data, sample_flags);
		if (at / sizeof(u64) < DATA_WORDS)
			stage->data[at / sizeof(u64)] = flags;
	} else if (script->trick == TRICK_UNSAID) {
		at = bpf_core_field_offset(struct perf_sample_data, br_stack);
		if (at / sizeof(u64) < DATA_WORDS)
			stage->data[at / sizeof(u64)] = 0; /* how these kernels say it */
	}
	stage->stack[0] = script->nr;
	stage->stack[1] = script->hw_idx;
	__builtin_memcpy(stage->stack + 2, script->entries, sizeof(script->entries));
}

/* Takes one sample. */
__noinline int play_script(u32 number)
{
	struct script *script = bpf_map_lookup_elem(&scripts, &number);
	struct scratch *scratch = scratch_here();
	u32 zero = 0;
	struct stage *stage = bpf_map_lookup_elem(&stages, &zero);

	if (!script || !scratch || !stage)
		return 1;
	scratch->record.header = script->header;
	__builtin_memcpy(scratch->record.frames, script->frames, sizeof(script->frames));
	set_stage(stage, script);
	copy_branches((const void *)stage->context, &scratch->record);
	send_sample(&scratch->record);
	return 0;
}

/* On a real overflow, the way that remains where the context cannot be read. */
SEC("perf_event")
int take_by_helper(struct bpf_perf_event_data *ctx)
{
	struct scratch *scratch = scratch_here();

	if (!scratch)
		return 0;
	__builtin_memset(&scratch->record.header, 0, sizeof(scratch->record.header));
	scratch->record.header.kind = RECORD_SAMPLE;
	scratch->record.header.time_ns = bpf_ktime_get_ns();
	scratch->record.header.mode = MODE_USER;
	copy_branches_by_helper(ctx, &scratch->record);
	send_sample(&scratch->record);
	return 0;
}

SEC("syscall")
int play_scripts(void *ctx)
{
	(void)ctx;
	for (u32 i = 0; i < SCRIPTS_MAX; i++)
		if (play_script(i))
			return 1;
	return 0;
}
