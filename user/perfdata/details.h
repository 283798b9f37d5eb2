/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sample's record holds beside what every consumer of samples wants.
 */
#ifndef PERFDATA_DETAILS_H
#define PERFDATA_DETAILS_H

#include "base/cursor.h"

/* Registers of the sampled task, of the kind of CPU that the file was recorded on. */
struct registers {
	u64 abi;	 /* PERF_SAMPLE_REGS_ABI_*: 0 none, 1 of 32 bits, 2 of 64 */
	u64 mask;	 /* which ones; their numbers are those of <asm/perf_regs.h> */
	const u8 *words; /* one for each set bit, lowest first, in our byte order; NULL: none */
};

/* Members that were not recorded are zero. Bytes lie in the recording. */
struct sample_details {
	u16 misc; /* of the record's header */
	u64 id;	  /* of the event on its CPU */
	u64 stream_id;
	u64 weight;
	u16 instruction_latency, pipeline_stage_cycles; /* beside the weight */
	u64 data_source;				/* union perf_mem_data_src */
	u64 transaction, physical_address;
	u64 data_page_bytes, code_page_bytes;
	struct registers user_registers, interrupt_registers;
	struct bytes chain; /* words in the recording's byte order, markers among them */
	struct bytes raw;
	u64 user_stack_room; /* bytes that the record keeps for it; 0: none was taken */
	struct bytes aux;
};

#endif
