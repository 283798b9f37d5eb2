/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that are loaded before we record: with functions and a long name, and one of a kind for
 * which the kernel writes trampolines. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

static __noinline int a_function_with_a_name_of_some_length(int number)
{
	return number + (int)bpf_get_prandom_u32();
}

SEC("raw_tp/sched_process_fork")
int a_program_with_a_name_of_some_length(const void *ctx __attribute__((unused)))
{
	return a_function_with_a_name_of_some_length(1) + a_function_with_a_name_of_some_length(2);
}

SEC("tp_btf/sched_process_fork")
int traced(const void *ctx __attribute__((unused)))
{
	return 0;
}
