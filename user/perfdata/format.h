/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of perf.data: header, attributes, records, features.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h
 * of Linux 6.1 to 6.18; what they leave out was measured with perf 6.1.
 */
#ifndef PERFDATA_FORMAT_H
#define PERFDATA_FORMAT_H

#include "bpfprof/types.h"
#include "perfdata/feature.h"
#include "perfdata/sample_type.h"

#define PERFDATA_MAGIC 0x32454c4946524550ull /* "PERFILE2", little endian */

struct file_section {
	u64 offset, size_bytes;
};
WIRE_SIZE(struct file_section, 16);

enum { FEATURE_WORDS = 4, FEATURE_BITS = 256 };

struct file_header {
	u64 magic;
	u64 size_bytes;	     /* of this struct; 16: pipe mode, nothing follows but records */
	u64 attr_size_bytes; /* of one entry: the attribute and the section of its ids */
	struct file_section attrs, records, event_types;
	u64 features[FEATURE_WORDS];
};
WIRE_SIZE(struct file_header, 104);

enum { PIPE_HEADER_BYTES = 16, OLD_HEADER_BYTES = 72 };

/* struct perf_event_attr as of PERF_ATTR_SIZE_VER7, with its bit fields as one word. */
struct wire_attr {
	u32 type, size_bytes;
	u64 config, period_or_frequency, sample_type, read_format;
	u64 flags; /* ATTR_* */
	u32 wakeup, breakpoint_type;
	u64 config1, config2, branch_sample_type, regs_user;
	u32 stack_user_bytes;
	s32 clock_id;
	u64 regs_interrupt;
	u32 aux_watermark;
	u16 max_stack, reserved;
	u32 aux_sample_bytes, reserved2;
	u64 signal_data;
};
WIRE_SIZE(struct wire_attr, 128);

/* PERF_ATTR_SIZE_VER0: the least an attribute has. A size of 0 means this one. */
enum { ATTR_MIN_BYTES = 64, ATTR_MAX_BYTES = 4096 };

enum {
	ATTR_inherit = 1,
	ATTR_exclude_user = 4,
	ATTR_exclude_kernel = 5,
	ATTR_exclude_hypervisor = 6,
	ATTR_exclude_idle = 7,
	ATTR_mmap = 8,
	ATTR_comm = 9,
	ATTR_freq = 10,
	ATTR_task = 13,
	ATTR_precise = 15, /* two bits */
	ATTR_mmap_data = 17,
	ATTR_sample_id_all = 18,
	ATTR_exclude_host = 19,
	ATTR_exclude_guest = 20,
	ATTR_mmap2 = 23,
	ATTR_comm_exec = 24,
	ATTR_use_clockid = 25,
	ATTR_ksymbol = 29,
	ATTR_bpf_event = 30,
	ATTR_cgroup = 32,
	ATTR_build_id = 34,
	ATTR_defer_callchain = 38,
};

#define ATTR_BIT(name) (1ull << ATTR_##name)

struct record_header {
	u32 type;
	u16 misc, size_bytes; /* size of the whole record */
};
WIRE_SIZE(struct record_header, 8);

enum { RECORD_MAX_BYTES = 65528 }; /* the largest u16 that is a multiple of 8 */

enum record_type {
	RECORD_MMAP = 1,
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_THROTTLE = 5,
	RECORD_FORK = 7,
	RECORD_READ = 8,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_LOST_SAMPLES = 13,
	RECORD_SWITCH = 14,
	RECORD_SWITCH_CPU_WIDE = 15,
	RECORD_NAMESPACES = 16,
	RECORD_KSYMBOL = 17,
	RECORD_BPF_EVENT = 18,
	RECORD_CGROUP = 19,
	RECORD_CALLCHAIN_DEFERRED = 22, /* Linux 6.19 */
	RECORD_KERNEL_LAST = RECORD_CALLCHAIN_DEFERRED,

	RECORD_USER_FIRST = 64, /* from here on written by perf, without sample_id trailer */
	RECORD_HEADER_ATTR = 64,
	RECORD_NOTE = 65, /* HEADER_EVENT_TYPE: no longer used; perf passes over it. Ours */
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_EVENT_UPDATE = 78,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
	RECORD_USER_LAST = 86, /* SCHEDSTAT_DOMAIN, Linux 6.17 */
};

enum {
	MISC_CPUMODE = 7, /* enum frame_space */
	MISC_MMAP_DATA = 1 << 13,
	MISC_COMM_EXEC = 1 << 13,
	MISC_FORK_SYNTHESIZED = 1 << 13, /* perf's FORK_EXEC: the child gets no mappings */
	MISC_SWITCH_OUT = 1 << 13,
	MISC_SWITCH_OUT_PREEMPT = 1 << 14,
	MISC_MMAP_BUILD_ID = 1 << 14,
	MISC_BUILD_ID_SIZE = 1 << 15,
	MISC_LOST_SAMPLES_BPF = 1 << 15, /* left out by a filter, not lost */
};

/* Where the provenance of a stack stands in the misc of our own samples: bits no perf looks at. */
enum {
	MISC_CUT_SHIFT = 3, /* enum stack_cut, 4 bits */
	MISC_CUT_MASK = 15,
	MISC_WALK_SHIFT = 7, /* enum stack_walk, or-ed, 5 bits */
	MISC_WALK_MASK = 31,
};

/* EVENT_UPDATE's kind that carries a name. */
enum { EVENT_UPDATE_NAME = 2 };

/* Markers in a call chain; everything from CONTEXT_MAX up is one. */
#define CONTEXT_MAX	      ((u64)-4095)
#define CONTEXT_HYPERVISOR    ((u64)-32)
#define CONTEXT_KERNEL	      ((u64)-128)
#define CONTEXT_USER	      ((u64)-512)
#define CONTEXT_USER_DEFERRED ((u64)-640) /* Linux 6.19; a cookie follows */
#define CONTEXT_GUEST_KERNEL  ((u64)-2176)
#define CONTEXT_GUEST_USER    ((u64)-2560)

enum { BUILD_ID_FIXED_BYTES = 36, TEXT_ALIGN_BYTES = 64 };

/* What our own notes (RECORD_NOTE) begin with, behind the record header. */
#define NOTE_MAGIC 0x00666f7270667062ull /* "bpfprof\0", little endian */

enum note_kind { NOTE_START = 1, NOTE_EXTRA = 2 }; /* append-only */
enum { NOTE_VERSION = 1, NOTE_IDLE_SKIPPED = 1 };

struct note_header {
	struct record_header record;
	u64 magic;
	u32 version, kind;
};
WIRE_SIZE(struct note_header, 24);

static inline u64 round_up(u64 value, u64 multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

#endif
