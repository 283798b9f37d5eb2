/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's unwind rules (ORC) lie between symbols of its linker script. Sources:
 * include/asm-generic/vmlinux.lds.h (ORC_UNWIND_TABLE), arch/x86/kernel/unwind_orc.c, Linux 5.10
 * and 6.18.
 */
#include "host/kernel_rules.h"

#include "base/file.h"
#include "base/memory.h"
#include "host/kernel_lines.h"

#include <string.h>

enum { KALLSYMS_MAX_BYTES = 256 << 20 };

enum {
	TEXT_START,
	TEXT_END,
	ADDRESSES,
	ADDRESSES_END,
	ENTRIES,
	GRAPH_TRAMPOLINE,
	PROBE_TRAMPOLINE,
	SYMBOL_COUNT,
};

/* Where functions return to that are traced: for these the kernel's walker knows the caller. The
 * second has had three names. */
static const struct {
	const char *name;
	int number;
} symbols[] = {
	{"_stext", TEXT_START},
	{"_etext", TEXT_END},
	{"__start_orc_unwind_ip", ADDRESSES},
	{"__stop_orc_unwind_ip", ADDRESSES_END},
	{"__start_orc_unwind", ENTRIES},
	{"return_to_handler", GRAPH_TRAMPOLINE},
	{"kretprobe_trampoline", PROBE_TRAMPOLINE},
	{"__kretprobe_trampoline", PROBE_TRAMPOLINE},
	{"arch_rethook_trampoline", PROBE_TRAMPOLINE},
};

struct kernel_rules kernel_rules_find(struct bytes kallsyms)
{
	u64 found[SYMBOL_COUNT] = {0};
	struct kernel_line line;

	while (kernel_line_next(&kallsyms, &line)) {
		for (size_t i = 0; i < ARRAY_COUNT(symbols); i++)
			if (!line.module[0] && !strcmp(line.name, symbols[i].name))
				found[symbols[i].number] = line.address;
	}
	if (!found[TEXT_START] || found[TEXT_END] <= found[TEXT_START] || !found[ENTRIES] ||
	    !found[ADDRESSES] || found[ADDRESSES_END] <= found[ADDRESSES])
		return (struct kernel_rules){0};
	return (struct kernel_rules){
		.addresses = found[ADDRESSES],
		.entries = found[ENTRIES],
		.text_start = found[TEXT_START],
		.text_end = found[TEXT_END],
		.trampolines = {found[GRAPH_TRAMPOLINE], found[PROBE_TRAMPOLINE]},
		.count = (u32)((found[ADDRESSES_END] - found[ADDRESSES]) / sizeof(s32)),
	};
}

struct kernel_rules kernel_rules_here(void)
{
	CLEANUP(freep) char *text = NULL;
	struct bytes kallsyms = {0};

	if (file_read("/proc/kallsyms", KALLSYMS_MAX_BYTES, &text, &kallsyms.length))
		return (struct kernel_rules){0};
	kallsyms.start = (const u8 *)text;
	return kernel_rules_find(kallsyms);
}
