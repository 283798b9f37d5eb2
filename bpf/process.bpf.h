/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which process runs, and what this CPU remembers of it.
 */
#ifndef PROCESS_BPF_H
#define PROCESS_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>

enum { TURN_BITS = 32 }; /* of nanoseconds: files are looked up anew every four seconds */

/* A number that is another one whenever a mapping of the process has changed; 0 if this kernel has
 * none, or if one is being changed. */
static __always_inline u64 mapping_changes(const struct mm_struct *mm)
{
	const struct mm_struct___until_6_12 *older = (const void *)mm;

	if (bpf_core_field_exists(mm->mm_lock_seq.sequence))
		return mm->mm_lock_seq.sequence & 1 ? 0 : mm->mm_lock_seq.sequence + 1ULL;
	if (bpf_core_field_exists(older->mm_lock_seq))
		return (u32)older->mm_lock_seq + 1ULL;
	return 0;
}

/* A field of the running task. Read as it is, it costs a tenth of what a helper's call does. Linux
 * before 5.11 has no pointer to read it by. */
#define CURRENT_TASK_FIELD(field)                                                    \
	(bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf) \
		 ? bpf_get_current_task_btf()->field                                 \
		 : BPF_CORE_READ((const struct task_struct *)bpf_get_current_task(), field))

/* Has the CPU fetch the running thread's name. */
static __always_inline void ask_for_name(void)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		touch(bpf_get_current_task_btf()->comm);
}

/* Takes it into walk.context. */
static __always_inline void add_name(struct scratch *scratch)
{
	const u64 *name = scratch->name;
	u64 context = scratch->walk.context;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		name = (const void *)bpf_get_current_task_btf()->comm;
	else
		bpf_get_current_comm(scratch->name, sizeof(scratch->name));
	scratch->walk.context = context_add(context_add(context, name[0]), name[1]);
}

/* The running process and its mappings, as of now. */
static __always_inline struct mapping_stamp stamp_here(struct scratch *scratch, u64 time_ns)
{
	struct mapping_stamp stamp = {
		.turn = time_ns >> TURN_BITS,
		.pid = bpf_get_current_pid_tgid() >> 32,
		.epoch = unwind_epoch,
	};
	const struct task_struct *task;
	const struct mm_struct *mm;

	/* Linux before 5.11 has no number of changes either. */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)) {
		task = (const void *)bpf_get_current_task();
		scratch->walk.mm = (u64)BPF_CORE_READ(task, mm);
	} else {
		/* Read as they are, fields cost a tenth of what a helper's call does. */
		task = bpf_get_current_task_btf();
		mm = task->mm;
		scratch->walk.mm = (u64)mm;
		stamp.exec_id = task->self_exec_id;
		stamp.started = task->group_leader->start_time;
		if (mm)
			stamp.changes = mapping_changes(mm);
	}
	barrier(); /* for the verifier a number again, no pointer */
	stamp.mm = scratch->walk.mm;
	return stamp;
}

/* Whether they are of one process, and of one time as far as files go; its mappings may differ. */
static __always_inline bool is_same_process(const struct mapping_stamp *left,
					    const struct mapping_stamp *right)
{
	u64 difference = (left->mm ^ right->mm) | (left->exec_id ^ right->exec_id) |
			 (left->started ^ right->started) | (left->turn ^ right->turn) |
			 (left->pid ^ right->pid) | (left->epoch ^ right->epoch);

	return !difference;
}

static __always_inline struct known_process *known_process(struct scratch *scratch)
{
	return &scratch->processes[scratch->walk.process & (PROCESSES_KNOWN - 1)];
}

/* Notes which process runs. */
static __always_inline void note_process(struct scratch *scratch, u64 time_ns)
{
	scratch->stamp = stamp_here(scratch, time_ns);
	/* Structs of this size lie 1 or 2 KiB apart. */
	scratch->walk.process = scratch->walk.mm >> 6 ^ scratch->walk.mm >> 11 ^
				scratch->walk.mm >> 16;
}

/* note_process(), and has the CPU fetch what is known of the process. */
static __always_inline void ask_for_process(struct scratch *scratch, u64 time_ns)
{
	const struct known_process *process;

	note_process(scratch, time_ns);
	process = known_process(scratch);
	for (u32 i = 0; i < sizeof(*process) / LINE_BYTES; i++)
		touch((const u8 *)process + i * LINE_BYTES);
}

/* Has it fetch the rules that the last stack of the process was walked by. */
static __always_inline void ask_for_rules(struct scratch *scratch)
{
	const struct known_process *process = known_process(scratch);
	const struct known_rule *rule;

	for (u32 i = 0; i < RULES_AHEAD && i < process->frames; i++) {
		rule = known_rule_at(process->rules[i]);
		if (rule)
			touch(rule);
	}
}

/* Gets what this CPU knows of the running process ready: of another process it is forgotten; of one
 * that has mapped or unmapped something since, each mapping is to be proved before it is used. */
static __always_inline void begin_mappings(struct scratch *scratch)
{
	struct known_process *process;
	const struct mapping_stamp *now = &scratch->stamp;

	if (!settings.count_slots) /* else it was asked for */
		note_process(scratch, scratch->record.header.time_ns);
	process = known_process(scratch);
	if (!is_same_process(&process->stamp, now)) {
		process->next = 0;
		__builtin_memset(process->bytes, 0, sizeof(process->bytes));
	} else if (now->changes && process->stamp.changes == now->changes) {
		return;
	}
	process->proved = 0;
	process->stamp = *now;
}

#endif
