/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything that can happen to a sample: sent, left out on purpose, dropped, cut. One list for the
 * BPF programs, the closing line of a recording, the file, the report's footer and the manual.
 *
 * Rows are append-only: files store them by number.
 */
#ifndef BPFPROF_COUNTERS_H
#define BPFPROF_COUNTERS_H

/*
 * X(name, kind, sentence)
 *
 * SEEN   every overflow a program was called for: SENT + SKIPPED + LOST
 * SENT   delivered, alone or counted
 * SKIPPED left out because the user asked for it
 * LOST   should be in the result and is not
 * CUT    delivered, but the stack is not whole (a part of SENT, not another sum)
 * STACKS how many of SENT have a user stack, and how many of these are whole
 * OTHER  losses that are not samples; the sentence tells one of them ("2 times: …")
 */
#define COUNTERS(X)                                                                                \
	X(overflows, SEEN, "events seen")                                                          \
	X(samples_sent, SENT, "samples delivered")                                                 \
	X(skipped_idle, SKIPPED, "idle task (keep it with --idle)")                                \
	X(skipped_target, SKIPPED, "other tasks than asked for")                                   \
	X(lost_ring_full, LOST, "ring buffer full; raise --ring-size")                             \
	X(lost_scratch_busy, LOST, "interrupted while another sample was being taken")             \
	X(lost_late, LOST, "timer did not fire: the CPU was taken away or interrupts were off")    \
	X(lost_disk_full, LOST, "no space to write to")                                            \
	X(lost_malformed, LOST, "record from the kernel not understood")                           \
	X(lost_kernel, LOST, "reported as lost by the kernel")                                     \
	X(side_band_lost, OTHER,                                                                   \
	  "a process record was lost, names may be missing; raise --ring-size")                    \
	X(kernel_stack_failed, CUT, "kernel stack could not be read")                              \
	X(user_stack_failed, CUT, "user stack could not be read")                                  \
	X(kernel_stack_too_deep, CUT,                                                              \
	  "kernel stack deeper than --max-stack, or than the kernel allows")                       \
	X(user_stack_too_deep, CUT, "user stack deeper than --max-stack")                          \
	X(processes_unscanned, OTHER, "the mappings of a process could not be read at the start")  \
	X(throttled, OTHER, "the kernel throttled sampling")                                       \
	X(skipped_mode, SKIPPED, "in the other mode than asked for (:u, :k)")                      \
	X(lost_ring_busy, LOST, "ring buffer locked by other CPUs")                                \
	X(lost_recursion, LOST, "another BPF program was running on the CPU")                      \
	X(user_stack_broken, CUT, "what comes next in the user stack is no frame")                 \
	X(unfollowed, OTHER, "a child was not followed: too many processes at once")               \
	X(user_stacks, STACKS, "samples with a user stack")                                        \
	X(user_stacks_whole, STACKS, "user stacks that reach the thread's start")                  \
	X(user_stack_no_table, CUT, "user stack ends in code without unwind table")                \
	X(user_stack_unsupported, CUT, "user stack ends at an unwind rule we cannot follow")       \
	X(user_stack_not_analysed, CUT, "user stack ends in code not analysed yet")                \
	X(unwind_no_room, OTHER,                                                                   \
	  "the unwind table of a file found no room; raise --unwind-memory")                       \
	X(unwind_file_gone, OTHER, "a file was gone before its unwind table was made")             \
	X(unwind_unreadable, OTHER, "the call frame information of a file could not be read")      \
	X(unwind_no_information, OTHER, "a file has no call frame information")                    \
	X(unwind_dense_page, OTHER, "a page of code has more unwind rules than fit")               \
	X(unwind_not_asked, OTHER, "the unwind table of a file was asked for later, or never")     \
	X(branches_truncated, OTHER,                                                               \
	  "a branch stack had more entries than the CPU has registers: the oldest were left out")  \
	X(branches_garbage, OTHER, "what should have been a branch stack was none")                \
	X(branches_missing, OTHER, "a sample came without the branch stack that was asked for")    \
	X(branches_no_index, OTHER,                                                                \
	  "a branch stack came without the register of its newest entry")                          \
	X(stack_not_kept, OTHER, "a stack found no room to wait for the unwind table of its code") \
	X(samples_counted, SENT, "samples counted in the kernel")                                  \
	X(aggregate_no_room, OTHER, "a sample found no room to be counted in: it came alone")      \
	X(lost_memory, LOST, "no memory left to keep it; raise --max-memory")                      \
	X(mappings_left_out, OTHER,                                                                \
	  "a mapping was not kept, names may be missing; raise --max-memory")                      \
	X(cgroups_unnamed, OTHER, "a cgroup was gone before its path was known")                   \
	X(names_reader_died, OTHER,                                                                \
	  "names or lines of a binary were not kept: it ended the process that read it")           \
	X(names_reader_slow, OTHER,                                                                \
	  "names or lines of a binary were not kept: to read it took too long")                    \
	X(file_reader_died, OTHER,                                                                 \
	  "a binary was not read for its stacks: it ended the process that read it")               \
	X(file_reader_slow, OTHER, "a binary was not read for its stacks: it took too long")       \
	X(jit_map_foreign, OTHER, "a perf-PID.map was not believed: it is another user's")         \
	X(jit_map_no_file, OTHER, "a perf-PID.map was not believed: it is a link, or no file")     \
	X(jit_map_too_large, OTHER, "a perf-PID.map was not believed: it is larger than 64 MiB")   \
	X(kernel_rules_wrong, OTHER,                                                               \
	  "the kernel's unwind tables led to another stack than the kernel: not used since")       \
	X(names_not_written, OTHER,                                                                \
	  "names or lines of a binary were not kept: they could not be written")                   \
	X(cpu_unwatched, OTHER,                                                                    \
	  "a CPU came online and was not watched at once: samples and names may be missing")       \
	X(lines_file_gone, OTHER,                                                                  \
	  "source lines of a binary were not kept: it was gone when the window ended")             \
	X(lines_elsewhere, OTHER,                                                                  \
	  "source lines of a binary were not kept: they are in more files than its debug file")    \
	X(lines_unreadable, OTHER,                                                                 \
	  "source lines of a binary were not kept: its debug information could not be read")

#define COUNTER_AS_ENUM(name, kind, sentence) COUNTER_##name,
enum counter { COUNTERS(COUNTER_AS_ENUM) COUNTER_COUNT };

/* So many of them there may be one day, in memory that is shared and in files. */
enum { COUNTERS_MAX = 64 };
_Static_assert((int)COUNTER_COUNT <= (int)COUNTERS_MAX, "a counter has no room");

enum counter_kind { SEEN, SENT, SKIPPED, LOST, CUT, OTHER, STACKS };

#ifndef __bpf__
struct counter_row {
	const char *name, *sentence;
	unsigned char kind; /* enum counter_kind */
};

#define COUNTER_AS_ROW(name, kind, sentence) [COUNTER_##name] = {#name, sentence, kind},
static const struct counter_row counter_rows[COUNTER_COUNT]
	__attribute__((unused)) = {COUNTERS(COUNTER_AS_ROW)};
#endif

#endif
