/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers of the running thread in user mode: now, or where it entered the kernel.
 */
#ifndef USER_REGISTERS_BPF_H
#define USER_REGISTERS_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Source: include/linux/sched.h, unchanged since 2.6. */
enum { TASK_IS_KERNEL_THREAD = 0x00200000 };

/* No user address lies above; with 5-level page tables (or 52 bits) it takes asking for them. */
enum { USER_ADDRESS_BITS = 56 };

#if defined(__TARGET_ARCH_x86)
#define MACHINE UNWIND_X86_64

/* Source: arch/x86/include/asm/segment.h, __USER32_CS; page_64_types.h, THREAD_SIZE. */
enum { USER32_CODE_SEGMENT = 0x23, KERNEL_STACK_BYTES = 16384 };

static __always_inline bool is_user_mode(const bpf_user_pt_regs_t *regs)
{
	return regs->cs & 3;
}

/* The upper bits of cs are other things since FRED (Linux 6.9). */
static __always_inline bool is_32_bit(const bpf_user_pt_regs_t *regs)
{
	return (regs->cs & 0xffff) == USER32_CODE_SEGMENT;
}

static __always_inline u64 saved_registers_bytes(void)
{
	return sizeof(bpf_user_pt_regs_t);
}

/* By DWARF number. Source: psABI AMD64, figure 3.36. */
static __always_inline void copy_registers(const bpf_user_pt_regs_t *regs, u64 *registers)
{
	registers[0] = regs->rax;
	registers[1] = regs->rdx;
	registers[2] = regs->rcx;
	registers[3] = regs->rbx;
	registers[4] = regs->rsi;
	registers[5] = regs->rdi;
	registers[6] = regs->rbp;
	registers[7] = regs->rsp;
	registers[8] = regs->r8;
	registers[9] = regs->r9;
	registers[10] = regs->r10;
	registers[11] = regs->r11;
	registers[12] = regs->r12;
	registers[13] = regs->r13;
	registers[14] = regs->r14;
	registers[15] = regs->r15;
}
#elif defined(__TARGET_ARCH_arm64)
#define MACHINE UNWIND_ARM64

/* Source: arch/arm64/include/asm/memory.h, THREAD_SHIFT: 16 KiB, or a page if that is more. */
enum { KERNEL_STACK_BYTES = 16384 };

/* Source: arch/arm64/include/uapi/asm/ptrace.h: PSR_MODE_MASK, PSR_MODE32_BIT. */
static __always_inline bool is_user_mode(const bpf_user_pt_regs_t *regs)
{
	return (regs->pstate & 0xf) == 0;
}

static __always_inline bool is_32_bit(const bpf_user_pt_regs_t *regs)
{
	return regs->pstate & 0x10;
}

static __always_inline u64 saved_registers_bytes(void)
{
	return bpf_core_type_size(struct pt_regs___kernel);
}

/* By DWARF number: as they are numbered. */
static __always_inline void copy_registers(const bpf_user_pt_regs_t *regs, u64 *registers)
{
#pragma unroll
	for (u32 i = 0; i < ARM64_SP; i++)
		registers[i] = regs->regs[i];
	registers[ARM64_SP] = regs->sp;
}
#else
#error "registers of this architecture are not known"
#endif

/* Sets out from these registers. Returns false for a 32-bit task. */
static __always_inline bool start_from(const bpf_user_pt_regs_t *regs, struct unwind_frame *frame)
{
	copy_registers(regs, frame->registers);
	frame->pc = PT_REGS_IP(regs);
	frame->sp = PT_REGS_SP(regs);
	frame->fp = PT_REGS_FP(regs);
	frame->is_exact = 1;
	frame->has_registers = 1;
	frame->rbx_at = UNWIND_IN_REGISTERS;
	frame->has_lr = MACHINE == UNWIND_ARM64;
	frame->lr = MACHINE == UNWIND_ARM64 ? frame->registers[ARM64_LR] : 0;
	frame->fp_is_lost = 0;
	frame->sp_is_lost = 0;
	return !is_32_bit(regs);
}

/* Where the kernel keeps the registers of the running thread while it is not in user mode. Linux
 * before 5.15 does not tell; they lie at the top of the thread's kernel stack. */
static __always_inline const void *saved_registers(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	u64 stack_bytes = KERNEL_STACK_BYTES;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	if (MACHINE == UNWIND_ARM64 && 1ULL << settings.page_bits > stack_bytes)
		stack_bytes = 1ULL << settings.page_bits;
	return BPF_CORE_READ(task, stack) + stack_bytes - saved_registers_bytes();
}

/* Where the running thread is in user mode: now, or where it entered the kernel. False if that is
 * not known, or if it is a 32-bit task. */
static __always_inline bool find_user_registers(struct bpf_perf_event_data *ctx,
						struct scratch *scratch)
{
	bpf_user_pt_regs_t *saved = (void *)scratch->window; /* not in use yet, and large enough */

	_Static_assert(sizeof(*saved) <= sizeof(scratch->window), "no room for registers");
	if (is_user_mode(&ctx->regs))
		return start_from(&ctx->regs, &scratch->walk.frame);
	if (bpf_probe_read_kernel(saved, sizeof(*saved), saved_registers()))
		return false;
	return start_from(saved, &scratch->walk.frame) && is_user_mode(saved) &&
	       scratch->walk.frame.pc >> USER_ADDRESS_BITS == 0;
}

#endif
