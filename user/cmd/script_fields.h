/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What script prints of a sample: -F as perf script takes it, a choice of fields for each kind of
 * event.
 */
#ifndef CMD_SCRIPT_FIELDS_H
#define CMD_SCRIPT_FIELDS_H

#include "perfdata/perfdata.h"

#define SCRIPT_FIELDS(X)  \
	X(comm)           \
	X(tid)            \
	X(pid)            \
	X(time)           \
	X(cpu)            \
	X(event)          \
	X(ip)             \
	X(sym)            \
	X(symoff)         \
	X(dso)            \
	X(srcline)        \
	X(addr)           \
	X(period)         \
	X(misc)           \
	X(tod)            \
	X(flags)          \
	X(data_src)       \
	X(weight)         \
	X(ins_lat)        \
	X(iregs)          \
	X(uregs)          \
	X(brstack)        \
	X(brstacksym)     \
	X(brstackoff)     \
	X(trace)          \
	X(bpf_output)     \
	X(insn)           \
	X(insnlen)        \
	X(brstackinsn)    \
	X(brstackinsnlen) \
	X(srccode)        \
	X(phys_addr)      \
	X(data_page_size) \
	X(code_page_size) \
	X(provenance)

#define AS_NUMBER(name) FIELD_NUMBER_##name,
enum script_field_number { SCRIPT_FIELDS(AS_NUMBER) SCRIPT_FIELD_COUNT };
#undef AS_NUMBER

#define AS_BIT(name) PRINT_##name = 1ll << FIELD_NUMBER_##name,
enum script_field {
	SCRIPT_FIELDS(AS_BIT) PRINT_BRANCHES = PRINT_brstack | PRINT_brstacksym | PRINT_brstackoff,
	PRINT_INSTRUCTION = PRINT_insn | PRINT_insnlen,
	PRINT_BLOCKS = PRINT_brstackinsn | PRINT_brstackinsnlen,
	PRINT_SOURCES = PRINT_srcline | PRINT_srccode,
};
#undef AS_BIT

/* The kinds of events whose fields are chosen apart: those of perf_event_attr.type, and one for all
 * that are of no fixed type. */
enum script_type {
	SCRIPT_HARDWARE,
	SCRIPT_SOFTWARE,
	SCRIPT_TRACEPOINT,
	SCRIPT_CACHE,
	SCRIPT_RAW,
	SCRIPT_BREAKPOINT,
	SCRIPT_OTHER,
	SCRIPT_TYPE_COUNT,
};

struct script_fields {
	u64 of_type[SCRIPT_TYPE_COUNT]; /* enum script_field */
	u64 asked[SCRIPT_TYPE_COUNT];	/* named, so that it is an error if they are missing */
	bool is_chosen[SCRIPT_TYPE_COUNT];
};

#define PRINT_USUAL                                                                                \
	(PRINT_comm | PRINT_tid | PRINT_time | PRINT_cpu | PRINT_period | PRINT_event | PRINT_ip | \
	 PRINT_sym | PRINT_symoff | PRINT_dso)

/* What is printed if nothing is said, as far as it was recorded. */
#define SCRIPT_FIELDS_DEFAULT                                                                     \
	{                                                                                         \
		.of_type = {                                                                      \
			[SCRIPT_HARDWARE] = PRINT_USUAL,                                          \
			[SCRIPT_SOFTWARE] = PRINT_USUAL | PRINT_bpf_output,                       \
			[SCRIPT_TRACEPOINT] = PRINT_comm | PRINT_tid | PRINT_time | PRINT_cpu |   \
					      PRINT_event | PRINT_trace,                          \
			[SCRIPT_CACHE] = PRINT_USUAL,                                             \
			[SCRIPT_RAW] = PRINT_USUAL | PRINT_addr | PRINT_data_src | PRINT_weight | \
				       PRINT_phys_addr | PRINT_data_page_size |                   \
				       PRINT_code_page_size | PRINT_ins_lat,                      \
			[SCRIPT_BREAKPOINT] = PRINT_USUAL,                                        \
			[SCRIPT_OTHER] = PRINT_USUAL,                                             \
		},                                                                                \
	}

/*
 * One -F: "comm,tid,ip" in place of the default, "+addr,-cpu" to change it, "sw:…" for the events
 * of one kind only. Several follow one another.
 * Returns 0 or -EINVAL with a sentence.
 */
int script_fields_parse(struct script_fields *fields, const char *argument);

/*
 * Holds what was asked for against what was recorded, and leaves out of the rest what was not.
 *
 * also  fields that the recording has although no event says so (provenance)
 * Returns 0 or -EINVAL with a sentence.
 */
int script_fields_check(struct script_fields *fields, const struct perfdata *data, u64 also);

/* The fields that are printed of this event's samples. */
u64 script_fields_of(const struct script_fields *fields, const struct event_source *source);

/* The fields that are printed of any event's samples. */
u64 script_fields_any(const struct script_fields *fields);

#endif
