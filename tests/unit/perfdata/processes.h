/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One event of every kind about a kernel and a process, for a recording to hold.
 */
#ifndef TESTS_PERFDATA_PROCESSES_H
#define TESTS_PERFDATA_PROCESSES_H

#include "event/event.h"
#include "unit/unit.h"

static const struct mapping recording_kernel = {.pid = ~0u,
						.space = SPACE_KERNEL,
						.start = 0xffffffff81000000,
						.bytes = 0x1000000,
						.file_offset = 0xffffffff81000000,
						.path = "[kernel.kallsyms]_text",
						.build_id = {0xab, 0xcd},
						.build_id_bytes = 20};
static const struct mapping recording_file = {.pid = 100,
					      .tid = 100,
					      .space = SPACE_USER,
					      .start = 0x400000,
					      .bytes = 0x1000,
					      .file_offset = 0x2000,
					      .major = 8,
					      .minor = 1,
					      .inode = 77,
					      .inode_generation = 5,
					      .protection = 5,
					      .flags = 2,
					      .path = "/bin/one"};
static const struct mapping recording_later = {.time_ns = 2001,
					       .pid = 100,
					       .tid = 101,
					       .space = SPACE_USER,
					       .start = 0x500000,
					       .bytes = 0x1000,
					       .protection = 5,
					       .flags = 2,
					       .path = "/lib/two with spaces.so",
					       .build_id = {1, 2, 3, 4},
					       .build_id_bytes = 16};

static inline void recording_put_processes(struct event_sink *sink)
{
	assert_int_equal(sink->on_mapping(sink, &recording_kernel), 0);
	assert_int_equal(sink->on_fork(sink, &(struct thread_life){.pid = 100,
								   .tid = 100,
								   .parent_pid = 1,
								   .parent_tid = 1,
								   .is_synthesized = true}),
			 0);
	assert_int_equal(
		sink->on_name(sink, &(struct thread_name){.pid = 100, .tid = 100, .name = "one"}),
		0);
	assert_int_equal(sink->on_mapping(sink, &recording_file), 0);
	assert_int_equal(sink->on_mapping(sink, &recording_later), 0);
	assert_int_equal(sink->on_name(sink, &(struct thread_name){.time_ns = 2002,
								   .pid = 100,
								   .tid = 101,
								   .is_exec = true,
								   .name = "exactly15bytes!"}),
			 0);
	assert_int_equal(
		sink->on_kernel_symbol(sink, &(struct kernel_symbol){.time_ns = 2003,
								     .start = 0xffffffffc0000000,
								     .bytes = 77,
								     .type = 1,
								     .name = "bpf_prog_x"}),
		0);
	assert_int_equal(sink->on_bpf_program(sink, &(struct bpf_program){.time_ns = 2004,
									  .type = 1,
									  .id = 9,
									  .tag = {1, 2, 3}}),
			 0);
	assert_int_equal(sink->on_cgroup(sink, &(struct cgroup_name){.time_ns = 2005,
								     .id = 33,
								     .path = "/system.slice"}),
			 0);
}

#endif
