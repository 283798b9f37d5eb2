/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every map: what is in it, who writes it, who reads it, what decides its size.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include "scratch.bpf.h"

#include <bpf/bpf_helpers.h>

/* Fixed before load by user/capture/bpf_object.c. */
const volatile struct program_settings settings = {};

/* Samples on their way. Written here, read by user/capture/ring.c, which sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} ring SEC(".maps");

/* What is left of stacks (see struct stack_rest): many times what a sample takes, for a moment.
 * They have a ring of their own, so that no sample finds no room for them. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} rest_ring SEC(".maps");

/* One element a CPU, not a per-CPU map: user space reads it as memory. A look-up by system call
 * would keep our own programs from running meanwhile (bpf_disable_instrumentation()). */
#define MEMORY_ARRAY(name, element)                \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, u32);                  \
		__type(value, element);            \
	} name SEC(".maps")

MEMORY_ARRAY(counters, struct cpu_counters);

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* To each of a CPU's known processes, what is only looked at when it has mapped something since. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROCESSES_KNOWN);
	__type(key, u32);
	__type(value, struct seen_process);
} processes_seen SEC(".maps");

/* Where a CPU gets ready what is left of a stack. Nobody else looks at it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_rest);
} rests SEC(".maps");

/* Who is profiled, if not everybody; see filter.bpf.h for the keys. User space writes the pids and
 * threads it was asked for, on_fork() what they start, on_free() takes out what is gone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u8);
} followed SEC(".maps");

/* The space of words that unwind tables lie in, a segment of 1 MiB at a time. User space adds the
 * segments and writes them as memory. */
struct unwind_chunk {
	u32 words[UNWIND_CHUNK_WORDS];
};

struct unwind_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_SEGMENT_CHUNKS);
	__uint(key_size, sizeof(u32));
	__uint(value_size,
	       sizeof(struct unwind_chunk)); /* as __type() clang leaves it out of BTF */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SEGMENTS_MAX);
	__type(key, u32);
	__array(values, struct unwind_segment);
} unwind_segments SEC(".maps");

/* What the programs of a CPU found in tables of late, each rule in the line that its place says.
 * Numbers of tables are not used again, so it is never out of date. Written and read here only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_RULES_KNOWN);
	__type(key, u32);
	__type(value, struct known_rule);
} known_rules SEC(".maps");

/* The kernel's own unwind rules that stacks were walked by of late, a union kernel_rule each: a
 * word, so that all CPUs share them without a lock. Written and read here only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERNEL_RULES_KNOWN);
	__type(key, u32);
	__type(value, u64);
} known_kernel_rules SEC(".maps");

/* What is known of the files that samples lie in; see struct unwind_file for who writes what. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file);
} unwind_files SEC(".maps");

/* Raised by user space after every change of `unwind_files`: what a CPU remembers of mappings from
 * before is forgotten. Words that are free again are not written before some drains have passed. */
volatile u32 unwind_epoch = 0;

/* What is counted, and which chains were sent: of each CPU the slots of one window, then those of
 * the other. Written here while the window is filled; read and cleared by user space
 * (user/capture/counting.c), as memory, when it no longer is. */
MEMORY_ARRAY(counts, struct count_entry);
MEMORY_ARRAY(chains_sent, struct chain_hash);

/* Chains on their way to user space (user/capture/counting.c), of each CPU. */
MEMORY_ARRAY(chain_logs, struct chain_log);

/* Raised by user space: the window that is filled has its lowest bit. */
volatile u32 aggregate_turn = 0;

/* The period of clocks of which user space has changed it, by source; 0: it has not. The kernel
 * goes on telling the first one: perf_swevent_hrtimer() in kernel/events/core.c, last_period. */
volatile u64 changed_periods[SOURCES_MAX] = {};

/* Has the CPU fetch what lies there, without waiting for it. */
static __always_inline void touch(const void *at)
{
	(void)*(const volatile u64 *)at;
}

/* This CPU's scratch. */
static __always_inline struct scratch *scratch_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* In which of its rules this CPU remembers that for a place in a table. */
static __always_inline u32 known_rule_row(u32 table, u64 offset)
{
	u64 hash = (offset ^ (u64)table << 40) * 0x9e3779b97f4a7c15ULL;

	return hash >> (64 - UNWIND_RULES_KNOWN_BITS);
}

static __always_inline struct known_rule *known_rule_at(u32 row)
{
	u32 index = bpf_get_smp_processor_id() * UNWIND_RULES_KNOWN + row;

	return bpf_map_lookup_elem(&known_rules, &index);
}

/* Counts `counter` on this CPU. */
static __always_inline void count(u32 counter)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_counters *here = bpf_map_lookup_elem(&counters, &cpu);

	if (here && counter < COUNTER_COUNT)
		here->counts[counter]++;
}

#endif
