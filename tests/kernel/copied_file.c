/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of the recording as a proof, in front of the unwinder.
 */
#include "kernel/copied_file.h"

#include "cmd/unwinding.h"
#include "perfdata/perfdata.h"

#include <string.h>

struct prover {
	struct passing_sink passing; /* first: both have one address */
	const struct event_source *sources;
	void (*on_proof)(void *context, const struct proof_record *proof);
	void *context;
	struct proof_record proof;
};

/* By the kernel's numbers, whose order is that of arch/x86/include/uapi/asm/perf_regs.h, those of
 * DWARF; none: of segments and flags. */
static int dwarf_number(u32 number)
{
#if defined(__x86_64__)
	static const int of_first[] = {0, 3, 2, 1, 4, 5, 6, 7, UNWIND_REGISTERS};

	if (number < ARRAY_COUNT(of_first))
		return of_first[number];
	return number >= 16 && number < 24 ? (int)number - 8 : -1;
#else
	return number <= UNWIND_REGISTERS ? (int)number : -1;
#endif
}

static int prove(struct event_sink *self, const struct sample *sample)
{
	struct prover *prover = (struct prover *)self;
	struct proof_record *proof = &prover->proof;
	u64 recorded = prover->sources[sample->source].user_registers, value;

	*proof = (struct proof_record){
		.time_ns = sample->time_ns, .pid = sample->pid, .tid = sample->tid};
	for (u32 number = 0; number < 64; number++)
		if (sample_register(sample, recorded, number, &value) && dwarf_number(number) >= 0)
			proof->registers[dwarf_number(number)] = value;
	proof->stack_bytes = sample->stack_bytes < PROOF_STACK_BYTES ? sample->stack_bytes
								     : PROOF_STACK_BYTES;
	if (proof->stack_bytes) {
		memcpy(proof->stack, sample->user_stack, proof->stack_bytes);
		prover->on_proof(prover->context, proof);
	}
	return sink_call(prover->passing.next, on_sample, sample);
}

int copied_file_read(const char *path, struct event_sink *sink,
		     void (*on_proof)(void *context, const struct proof_record *proof),
		     void *context)
{
	static struct prover prover;
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	CLEANUP(sample_unwinder_freep) struct sample_unwinder *unwinder = NULL;
	int error = perfdata_open(path, &data);
	u32 count;

	if (error)
		return error;
	prover.sources = perfdata_sources(data, &count);
	prover.on_proof = on_proof;
	prover.context = context;
	passing_sink_init(&prover.passing, unwinding_before(sink, data, NULL, false, &unwinder));
	prover.passing.sink.on_sample = prove;
	return perfdata_read(data, &prover.passing.sink);
}
