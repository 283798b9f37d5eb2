/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event's attributes as text, laid out as perf prints them.
 */
#include "base/memory.h"
#include "perfdata/attr.h"

#include <inttypes.h>
#include <stddef.h>

static const char *const sample_names[] = {
	"IP",
	"TID",
	"TIME",
	"ADDR",
	"READ",
	"CALLCHAIN",
	"ID",
	"CPU",
	"PERIOD",
	"STREAM_ID",
	"RAW",
	"BRANCH_STACK",
	"REGS_USER",
	"STACK_USER",
	"WEIGHT",
	"DATA_SRC",
	"IDENTIFIER",
	"TRANSACTION",
	"REGS_INTR",
	"PHYS_ADDR",
	"AUX",
	"CGROUP",
	"DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE",
	"WEIGHT_STRUCT",
};

static const char *const read_names[] = {
	"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST",
};

static const char *const branch_names[] = {
	"USER",	    "KERNEL",	 "HV",	      "ANY",	  "ANY_CALL",	"ANY_RETURN", "IND_CALL",
	"ABORT_TX", "IN_TX",	 "NO_TX",     "COND",	  "CALL_STACK", "IND_JUMP",   "CALL",
	"NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",	"COUNTERS",
};

/* The flag bits in order; precise_ip takes two. */
static const char *const flag_names[] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	"freq",
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	"precise_ip",
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
	"defer_callchain",
	"defer_output",
};

static void append_bits(struct text *text, const char *label, u64 bits, const char *const *names,
			size_t count)
{
	const char *separator = "";

	if (!bits)
		return;
	text_appendf(text, ", %s = ", label);
	for (size_t i = 0; i < count; i++) {
		if (!(bits & (1ull << i)))
			continue;
		text_appendf(text, "%s%s", separator, names[i]);
		separator = "|";
	}
}

static void append_flags(struct text *text, u64 flags)
{
	for (size_t i = 0; i < ARRAY_COUNT(flag_names); i++) {
		u64 value = (flags >> i) & (i == ATTR_precise ? 3 : 1);

		if (flag_names[i] && value)
			text_appendf(text, ", %s = %" PRIu64, flag_names[i], value);
	}
}

static void append_number(struct text *text, const char *label, u64 value)
{
	if (value)
		text_appendf(text, ", %s = %" PRIu64, label, value);
}

static void append_hex(struct text *text, const char *label, u64 value)
{
	if (value)
		text_appendf(text, ", %s = 0x%" PRIx64, label, value);
}

void attr_append_members(const struct wire_attr *attr, struct text *text)
{
	append_number(text, "type", attr->type);
	append_number(text, "size", attr->size_bytes);
	append_hex(text, "config", attr->config);
	append_number(text, "{ sample_period, sample_freq }", attr->period_or_frequency);
	append_bits(text, "sample_type", attr->sample_type, sample_names,
		    ARRAY_COUNT(sample_names));
	append_bits(text, "read_format", attr->read_format, read_names, ARRAY_COUNT(read_names));
	append_flags(text, attr->flags);
	append_number(text, "{ wakeup_events, wakeup_watermark }", attr->wakeup);
	append_number(text, "bp_type", attr->breakpoint_type);
	append_hex(text, "{ bp_addr, config1 }", attr->config1);
	append_hex(text, "{ bp_len, config2 }", attr->config2);
	append_bits(text, "branch_sample_type", attr->branch_sample_type, branch_names,
		    ARRAY_COUNT(branch_names));
	append_hex(text, "sample_regs_user", attr->regs_user);
	append_number(text, "sample_stack_user", attr->stack_user_bytes);
	append_number(text, "clockid", (u64)attr->clock_id);
	append_hex(text, "sample_regs_intr", attr->regs_interrupt);
	append_number(text, "aux_watermark", attr->aux_watermark);
	append_number(text, "sample_max_stack", attr->max_stack);
	append_number(text, "aux_sample_size", attr->aux_sample_bytes);
}
