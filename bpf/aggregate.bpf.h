/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting samples that are alike, instead of sending each.
 *
 * Each CPU has tables of its own, which only it writes, so there is nothing to lock: counts, and
 * the chains it has sent in this window. There are two sets of them. User space says by a word in
 * memory which one is to be filled, waits until no program runs that has begun before that, and
 * reads the other.
 */
#ifndef AGGREGATE_BPF_H
#define AGGREGATE_BPF_H

#include "bpfprof/aggregate.h"
#include "filter.bpf.h"
#include "maps.bpf.h"
#include "process.bpf.h"
#include "send.bpf.h"
#include "user_registers.bpf.h"

enum {
	CHAIN_STEPS_MAX = RECORD_FRAMES_MAX / CHAIN_STEP_WORDS + 1,
	/* User space must not see that a record was written before it sees the record: x86 keeps
	 * its stores in order, and programs cannot ask Arm to before Linux 5.12. There chains go
	 * through the ring. */
	HAS_LOG = MACHINE == UNWIND_X86_64,
};

/* A count_entry_at; the table is where its first slot is. */
static __always_inline struct count_entry *count_slot(void *first, u32 slot)
{
	u32 index = *(const u32 *)first + (slot & (settings.count_slots - 1));

	return bpf_map_lookup_elem(&counts, &index);
}

/* A chain_at, likewise. */
static __always_inline struct chain_hash *chain_slot(void *first, u32 slot)
{
	u32 index = *(const u32 *)first + (slot & (settings.count_slots - 1));

	return bpf_map_lookup_elem(&chains_sent, &index);
}

/* Takes the frames from `at` on into the hash of the chain. Global, see move_window(). */
__noinline int hash_step(u32 at)
{
	struct scratch *scratch = scratch_here();
	struct chain_hash hash;

	if (!scratch || at > RECORD_FRAMES_MAX)
		return 1;
	hash = scratch->key.chain;
	for (u32 i = 0; i < CHAIN_STEP_WORDS; i++)
		hash = chain_hash_add(hash, scratch->record.frames[at + i]);
	scratch->key.chain = hash;
	return 0;
}

/* The hash of the callers into scratch->key. */
static __always_inline void hash_chain(struct scratch *scratch, struct chain_part part)
{
	u32 end = part.first + part.kernel_frames + part.user_frames;

	if (end > RECORD_FRAMES_MAX) /* never: for the verifier */
		return;
	for (u32 i = 0; i < CHAIN_STEP_WORDS; i++)
		scratch->record.frames[end + i] = 0;
	scratch->key.chain = chain_hash_begin(settings.hash_seed, part);
	for (u32 i = 0; i < CHAIN_STEPS_MAX && part.first < end; i++) {
		hash_step(part.first);
		part.first += CHAIN_STEP_WORDS;
	}
	scratch->key.chain = chain_hash_end(scratch->key.chain);
}

static __always_inline void fill_key(struct scratch *scratch)
{
	const struct sample_header *header = &scratch->record.header;
	struct chain_part part = chain_part_of(header, scratch->record.frames[0],
					       scratch->walk.context);
	struct count_key *key = &scratch->key;

	key->address = header->address;
	key->pid = header->pid;
	key->tid = header->tid;
	key->source = header->source;
	key->exec = (u16)CURRENT_TASK_FIELD(self_exec_id);
	key->mode = header->mode;
	key->end = header->end;
	key->walked = header->walked;
	key->has_leaf = (u8)part.first;
	hash_chain(scratch, part);
}

static __always_inline struct chain_log *log_of(u32 cpu)
{
	return HAS_LOG ? bpf_map_lookup_elem(&chain_logs, &cpu) : NULL;
}

/* Has the CPU fetch where its log ends. */
static __always_inline void ask_for_log(u32 cpu)
{
	const struct chain_log *log = log_of(cpu);

	if (!HAS_LOG)
		bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA); /* the same of the ring */
	if (!log)
		return;
	touch(&log->written);
	touch(&log->read);
}

/* Puts the record into the CPU's log. Returns false if it has no room there. */
static __always_inline bool log_chain(const struct scratch *scratch)
{
	const struct sample_header *header = &scratch->record.header;
	u32 bytes = sizeof(*header) + (header->kernel_frames + header->user_frames) * sizeof(u64);
	struct chain_log *log = log_of(header->cpu);
	u64 written;

	if (!log || bytes > CHAIN_LOG_RECORD_BYTES)
		return false;
	written = log->written;
	if (written + bytes - log->read > CHAIN_LOG_BYTES ||
	    bpf_probe_read_kernel(&log->bytes[written & (CHAIN_LOG_BYTES - 1)], bytes,
				  &scratch->record))
		return false;
	barrier();
	*(volatile u64 *)&log->written = written + bytes;
	return true;
}

/* Sends the chain of the record, unless this CPU has sent it in this window. Returns whether user
 * space has it now, or soon. */
static __always_inline bool send_chain(struct scratch *scratch, u32 first_slot, u32 window)
{
	struct chain_hash hash = scratch->key.chain;
	struct chain_hash *sent = chain_find(hash, chain_slot, &first_slot);
	struct sample_header *header = &scratch->record.header;
	u64 period = header->period;
	u32 lost;

	if (!sent) {
		count(COUNTER_aggregate_no_room);
		return false;
	}
	if (sent->low)
		return true;
	header->kind = RECORD_CHAIN + window;
	header->context = scratch->walk.context;
	lost = log_chain(scratch) ? 0 : send_record(&scratch->record);
	header->kind = RECORD_SAMPLE;
	header->period = period;
	if (!lost)
		*sent = hash;
	return !lost;
}

/* Counts the sample in the record. Returns false if that cannot be: then it is to be sent. Not
 * inlined: see struct user_walk. */
static __noinline bool count_sample(struct scratch *scratch)
{
	const struct sample_header *header = &scratch->record.header;
	u32 window = aggregate_turn % AGGREGATE_WINDOWS;
	u32 first_slot = (header->cpu * AGGREGATE_WINDOWS + window) * settings.count_slots;
	const struct chain_hash *chain;
	struct count_entry *entry;

	if (header->kind != RECORD_SAMPLE || header->cpu >= settings.count_cpus)
		return false;
	fill_key(scratch);
	chain = chain_slot(&first_slot, (u32)scratch->key.chain.high);
	if (chain) /* mostly it is looked at next */
		touch(chain);
	entry = count_find(&scratch->key, count_slot, &first_slot);
	if (!entry) {
		count(COUNTER_aggregate_no_room);
		return false;
	}
	if (!entry->count && !send_chain(scratch, first_slot, window))
		return false;
	count_add(entry, &scratch->key, header->period, header->time_ns);
	count(COUNTER_samples_counted);
	return true;
}

#endif
