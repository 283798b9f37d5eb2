/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts scripted samples: each becomes the record that an overflow fills, and goes the way that it
 * goes from there.
 */
#include "aggregating.h"
#include "sample.bpf.h"

#include <bpf/bpf_helpers.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRIPTED_MAX);
	__type(key, u32);
	__type(value, struct scripted_sample);
} scripted SEC(".maps");

/* Takes one sample. */
__noinline int take_scripted(u32 number)
{
	struct scripted_sample *script = bpf_map_lookup_elem(&scripted, &number);
	struct scratch *scratch = scratch_here();

	if (!script || !scratch)
		return 1;
	scratch->record.header = script->header;
	scratch->walk.context = script->context;
	__builtin_memcpy(scratch->record.frames, script->frames, sizeof(script->frames));
	if (count_sample(scratch))
		return 0;
	send_sample(&scratch->record);
	return 0;
}

SEC("syscall")
int take_all(void *ctx)
{
	(void)ctx;
	for (u32 i = 0; i < SCRIPTED_MAX; i++)
		if (take_scripted(i))
			return 1;
	return 0;
}
