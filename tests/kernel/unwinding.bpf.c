/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the parts of the unwinder on questions of the test: BPF_PROG_TEST_RUN of each program
 * answers all questions in the map.
 */
#include "unwinding.h"
#include "user_stack.bpf.h"

#include <bpf/bpf_helpers.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

/* Where the table of the questions is. */
const volatile struct unwind_place place = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, QUESTIONS_MAX);
	__type(key, u32);
	__type(value, struct question);
} questions SEC(".maps");

/* Which rule holds at a file offset? */
__noinline int answer_rule(u32 number)
{
	struct question *question = bpf_map_lookup_elem(&questions, &number);
	struct unwind_place here = {place.first_word, place.rule_count, place.first_page,
				    place.page_count};
	const struct unwind_rule *rule;

	if (!question)
		return 1;
	rule = unwind_find(&here, question->asked, read_chunk, NULL);
	question->has_answer = rule != NULL;
	if (rule)
		question->rule = *rule;
	return 0;
}

/* Which mapping of the calling process holds an address? */
__noinline int answer_mapping(u32 number)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	struct question *question = bpf_map_lookup_elem(&questions, &number);
	struct scratch *scratch = scratch_here();
	const struct vm_area_struct *vma;

	if (!question || !scratch)
		return 1;
	scratch->walk.mm = (u64)BPF_CORE_READ(task, mm);
	question->has_answer = search_vma(question->asked) == VMA_FOUND;
	vma = (const void *)scratch->walk.vma;
	if (!question->has_answer)
		return 0;
	question->start = BPF_CORE_READ(vma, vm_start);
	question->end = BPF_CORE_READ(vma, vm_end);
	return 0;
}

/* Which mapping of code holds an address, for a walk that begins now, and of which file is it? */
__noinline int answer_code(u32 number)
{
	struct question *question = bpf_map_lookup_elem(&questions, &number);
	struct scratch *scratch = scratch_here();
	struct known_process *process;
	const struct seen_mapping *seen;
	u32 row, learned;

	if (!question || !scratch)
		return 1;
	begin_mappings(scratch);
	process = known_process(scratch);
	learned = process->next;
	row = find_mapping(scratch, question->asked);
	question->has_answer = row < MAPPINGS_KNOWN;
	if (!question->has_answer)
		return 0;
	seen = seen_mapping(scratch, row);
	question->start = process->starts[row & (MAPPINGS_KNOWN - 1)];
	question->end = question->start + process->bytes[row & (MAPPINGS_KNOWN - 1)];
	question->file_offset = process->mappings[row & (MAPPINGS_KNOWN - 1)].file_offset;
	question->inode = seen ? seen->number : 0;
	question->was_known = process->next == learned;
	return 0;
}

SEC("syscall")
int answer_rules(void *ctx)
{
	(void)ctx;
	for (u32 i = 0; i < QUESTIONS_MAX; i++)
		if (answer_rule(i))
			return 1;
	return 0;
}

SEC("syscall")
int answer_mappings(void *ctx)
{
	(void)ctx;
	for (u32 i = 0; i < QUESTIONS_MAX; i++)
		if (answer_mapping(i))
			return 1;
	return 0;
}

SEC("syscall")
int answer_codes(void *ctx)
{
	(void)ctx;
	return answer_code(0);
}

/* Whether the kernel tells what mapping_differs() goes by. */
SEC("syscall")
int can_prove_mappings(void *ctx)
{
	(void)ctx;
	return knows_detached();
}
