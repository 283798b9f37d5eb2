/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The branch stack of one sample: what the CPU remembers of its last branches or calls, as the
 * kernel has read it before it called us, with hw_idx, the register that the newest lies in.
 *
 * bpf_read_branch_records() gives the entries without hw_idx. So they are read from where the
 * kernel has them, by way of the context, of which the verifier shows programs only a part. The
 * address is the same for both; bpf_cast_to_kern_ctx() would only tell the verifier so, and costs
 * every recording that libbpf reads all types of the kernel for it.
 */
#ifndef BRANCH_STACK_BPF_H
#define BRANCH_STACK_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>

/* Whether the context can lead to the branch stack in this kernel. */
static __always_inline bool knows_branch_stack(void)
{
	return bpf_core_field_exists(struct bpf_perf_event_data_kern, data) &&
	       bpf_core_field_exists(struct perf_sample_data, br_stack) &&
	       bpf_core_field_exists(struct perf_branch_stack, hw_idx);
}

/* Where the kernel has put the branch stack of this overflow; NULL: it took none. Until Linux 6.0
 * the pointer is NULL then, since 6.1 it is whatever was there before, and a flag tells. */
static __always_inline const struct perf_branch_stack *find_branch_stack(
	const struct bpf_perf_event_data_kern *context)
{
	const struct perf_sample_data *data = BPF_CORE_READ(context, data);

	if (bpf_core_field_exists(data->sample_flags) &&
	    !(BPF_CORE_READ(data, sample_flags) & PERF_SAMPLE_BRANCH_STACK))
		return NULL;
	return BPF_CORE_READ(data, br_stack);
}

/* Where the branch stack goes in the record: behind its frames. NULL: never. */
static __always_inline u64 *branch_place(struct sample_record *record)
{
	u32 frames = record->header.kernel_frames + record->header.user_frames;

	barrier_var(frames); /* or clang checks the sum and adds the parts */
	if (frames > RECORD_FRAMES_MAX)
		return NULL;
	return record->frames + frames;
}

/* Counts what was wrong with a stack that says it has `count` entries. */
static __always_inline void count_branches(u64 count_of_entries)
{
	u32 state = branch_stack_judge(count_of_entries, settings.branch_depth);

	if (state == BRANCHES_TRUNCATED)
		count(COUNTER_branches_truncated);
	else if (state == BRANCHES_GARBAGE)
		count(COUNTER_branches_garbage);
}

/* Copies the stack that the kernel has behind `context` into the record. */
static __always_inline void copy_branches(const struct bpf_perf_event_data_kern *context,
					  struct sample_record *record)
{
	const struct perf_branch_stack *stack = find_branch_stack(context);
	u64 *words = branch_place(record), entries;
	u32 taken;

	if (!stack || !words) {
		count(COUNTER_branches_missing);
		return;
	}
	if (bpf_core_read(&entries, sizeof(entries), &stack->nr) ||
	    bpf_core_read(words, sizeof(*words), &stack->hw_idx)) {
		count(COUNTER_branches_garbage);
		return;
	}
	count_branches(entries);
	if (entries > BRANCH_STACK_BELIEVED)
		return;
	taken = branch_stack_taken(entries, settings.branch_depth);
	barrier_var(taken);
	if (taken > BRANCH_STACK_MAX)
		return;
	if (bpf_probe_read_kernel(words + BRANCH_INDEX_WORDS,
				  taken * sizeof(struct perf_branch_entry), &stack->entries)) {
		count(COUNTER_branches_garbage);
		return;
	}
	record->header.branch_words = branch_stack_words(taken);
}

/* The same by the helper, which does not know hw_idx. */
static __always_inline void copy_branches_by_helper(struct bpf_perf_event_data *ctx,
						    struct sample_record *record)
{
	u64 *words = branch_place(record);
	u32 entries;
	s64 bytes;

	if (!words)
		return;
	bytes = bpf_read_branch_records(ctx, words + BRANCH_INDEX_WORDS,
					BRANCH_STACK_MAX * sizeof(struct perf_branch_entry), 0);
	if (bytes < 0) {
		count(COUNTER_branches_missing);
		return;
	}
	count(COUNTER_branches_no_index);
	entries = (u32)bytes / sizeof(struct perf_branch_entry);
	count_branches(entries);
	*words = BRANCH_INDEX_UNKNOWN;
	record->header.branch_words = branch_stack_words(
		branch_stack_taken(entries, settings.branch_depth));
}

/* Takes the branch stack into the record, whose frames are there already. Not inlined: from there
 * on the frames are a number in a map, see struct user_walk. */
static __noinline void take_branches(struct bpf_perf_event_data *ctx, struct sample_record *record)
{
	if (knows_branch_stack())
		copy_branches((const void *)ctx, record);
	else
		copy_branches_by_helper(ctx, record);
}

#endif
