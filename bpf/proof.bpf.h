/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For tests: what a user stack was walked from, so that somebody else can walk it too.
 */
#ifndef PROOF_BPF_H
#define PROOF_BPF_H

#include "maps.bpf.h"
#include "user_registers.bpf.h"

/* Pieces of stack that are read at a time; the last one may be cut. */
enum { PROOF_PIECE_BYTES = 256 };

/* Sends the registers that the walk has begun with and the stack from there on. If the ring has no
 * room there is no proof: who asked for it sees the sample without. */
static __always_inline void send_proof(const struct scratch *scratch)
{
	const struct sample_header *header = &scratch->record.header;
	u32 row = header->kernel_frames;
	struct proof_record *proof = bpf_ringbuf_reserve(&ring, sizeof(*proof), 0);
	u64 sp;

	if (!proof)
		return;
	proof->kind = RECORD_PROOF;
	proof->stack_bytes = 0;
	proof->time_ns = header->time_ns;
	proof->pid = header->pid;
	proof->tid = header->tid;
	__builtin_memcpy(proof->registers, scratch->walk.frame.registers,
			 sizeof(scratch->walk.frame.registers));
	if (row < sizeof(scratch->record.frames) / sizeof(u64))
		proof->registers[UNWIND_REGISTERS] = scratch->record.frames[row];
	sp = proof->registers[MACHINE == UNWIND_X86_64 ? X86_64_SP : ARM64_SP];
	for (u32 at = 0; at < PROOF_STACK_BYTES; at += PROOF_PIECE_BYTES) {
		if (bpf_probe_read_user(proof->stack + at, PROOF_PIECE_BYTES,
					(const void *)(sp + at)))
			break;
		proof->stack_bytes = at + PROOF_PIECE_BYTES;
	}
	bpf_ringbuf_submit(proof, 0);
}

#endif
