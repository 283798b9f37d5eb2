/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The features of a perf.data by number: sections of facts about the machine and the recording.
 *
 * Source: HEADER_* of tools/perf/util/header.h, Linux 6.1 to 6.18.
 */
#ifndef PERFDATA_FEATURE_H
#define PERFDATA_FEATURE_H

enum feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_TOPOLOGY = 13,
	FEATURE_BRANCH_STACK = 15,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC = 17,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_CLOCKID = 23,
	FEATURE_COMPRESSED = 27,
	FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_KNOWN = 33,    /* as of Linux 6.18 */
	FEATURE_PIPE_END = 32, /* perf 6.1's empty record behind the last feature of a pipe */
};

#endif
