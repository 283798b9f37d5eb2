/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Takes the kernel stack of each overflow, has the kernel walk it too, and compares. */
#include "kernel_stack.bpf.h"
#include "made_up_rules.h"

#include <bpf/bpf_helpers.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

const volatile u32 own_pid = 0;

/* Of this process: overflows in the kernel; stacks that we walked; those that came out otherwise
 * than the kernel walks them. */
volatile u64 seen = 0, walked = 0, different = 0;

/* Rules for all the kernel's code, and where they are. */
struct made_up_rules made_up = {};
volatile u64 made_up_at = 0;

__noinline int differs(u32 row)
{
	struct scratch *scratch = scratch_here();

	if (!scratch || row > STACK_MAX_FRAMES)
		return 1;
	return scratch->record.frames[row] != scratch->record.frames[KERNELS_ROW + row];
}

static __always_inline bool is_same(struct bpf_perf_event_data *ctx, struct scratch *scratch,
				    u32 frames)
{
	s64 bytes = bpf_get_stack(ctx, scratch->record.frames + KERNELS_ROW,
				  settings.max_stack * sizeof(u64), 0);

	if (bytes <= 0 || (u64)bytes != frames * sizeof(u64))
		return false;
	for (u32 i = 0; i < STACK_MAX_FRAMES && i < frames; i++)
		if (differs(i))
			return false;
	return true;
}

SEC("perf_event")
int compare(struct bpf_perf_event_data *ctx)
{
	struct scratch *scratch = scratch_here();
	u32 frames, earlier;

	if (!scratch || is_user_mode(&ctx->regs) || bpf_get_current_pid_tgid() >> 32 != own_pid)
		return 0;
	__sync_fetch_and_add(&seen, 1);
	earlier = scratch->kernel_walk.walks;
	frames = take_kernel_stack(ctx, scratch);
	if (scratch->kernel_walk.walks != earlier)
		__sync_fetch_and_add(&walked, 1);
	barrier(); /* as in take_stacks() */
	if (!is_same(ctx, scratch, frames))
		__sync_fetch_and_add(&different, 1);
	return 0;
}

/* Most entries look as they should, but the last one, which all code has, says that the stack ends
 * there: its address is far below the kernel's. */
SEC("raw_tp")
int make_up_rules(void *ctx)
{
	const struct orc_entry *kernels = NULL;
	bool is_old = bpf_core_field_exists(kernels->end); /* before Linux 6.4 */

	(void)ctx;
	for (u32 i = 0; i < MADE_UP_RULES; i++) {
		made_up.addresses[i] = 0;
		made_up.entries[i][0] = sizeof(u64);
		made_up.entries[i][4] = ORC_REG_OLD_SP;
		made_up.entries[i][5] = is_old ? 0 : 2;
	}
	made_up.entries[MADE_UP_RULES - 1][4] = ORC_REG_UNDEFINED;
	made_up.entries[MADE_UP_RULES - 1][5] = is_old ? 4 : 1;
	made_up_at = (u64)&made_up;
	return 0;
}
