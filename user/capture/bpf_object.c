/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads the skeleton with its settings, sizes its maps, and says in one line why that failed.
 */
#include "capture/bpf_object.h"

#include "base/fail.h"
#include "base/memory.h"
#include "bpfprof/aggregate.h"
#include "capture/features.h"
#include "capture/kernel_types.h"

#include "profiler.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Processes and threads followed at one time; 64 bytes of kernel memory each. */
enum { FOLLOWED_MAX = 65536 };

struct programs {
	struct profiler_bpf *skeleton;
	struct bpf_program *samplers[SOURCES_MAX];
	u32 source_count;
	struct cpu_counters *counters;
	size_t counters_bytes;
	u32 cpu_count;
	u32 unwind_segments;
	bool has_followers;
	int measure_fd;
};

/* libbpf's first complaint says why, the later ones only that; none may reach the terminal. */
static int keep_first_complaint(enum libbpf_print_level level, const char *format,
				va_list arguments)
{
	char line[512];
	size_t length;

	if (level != LIBBPF_WARN || fail_sentence()[0])
		return 0;
	vsnprintf(line, sizeof(line), format, arguments);
	length = strcspn(line, "\n");
	line[length] = 0;
	fail_plain(-EINVAL, NULL, "%s", strncmp(line, "libbpf: ", 8) ? line : line + 8);
	return 0;
}

/* The sentence for a load that failed: what this kernel or this user lacks, or, if that is nothing,
 * what libbpf complained about. */
static int load_failed(int error)
{
	CLEANUP(freep) char *complaint = must_copy(fail_sentence());

	if (features_require())
		return error;
	return fail(error, "please report this with the output of `bpfprof check`",
		    "cannot load the BPF programs (%s)", complaint);
}

static u64 whole_ring_bytes(u64 wanted)
{
	u64 bytes = (u64)sysconf(_SC_PAGESIZE);

	while (bytes < wanted && bytes < 1ULL << 30)
		bytes *= 2;
	return bytes;
}

static void find_samplers(struct programs *programs)
{
	char name[32];

	for (u32 i = 0; i < SOURCES_MAX; i++) {
		snprintf(name, sizeof(name), "on_event_%u", i);
		programs->samplers[i] = bpf_object__find_program_by_name(programs->skeleton->obj,
									 name);
		bpf_program__set_autoload(programs->samplers[i], i < programs->source_count);
	}
}

/* Without unwind tables their maps have one row: a map that is not made is one that Linux 5.10 does
 * not load programs with, even if nothing uses it. */
static void size_unwind_maps(struct programs *programs, u32 segments)
{
	struct profiler_bpf *skeleton = programs->skeleton;

	programs->unwind_segments = segments;
	bpf_map__set_max_entries(skeleton->maps.unwind_segments, segments ? segments : 1);
	bpf_map__set_max_entries(skeleton->maps.unwind_files, segments ? UNWIND_FILES_MAX : 1);
	bpf_map__set_max_entries(skeleton->maps.known_rules,
				 segments ? programs->cpu_count * UNWIND_RULES_KNOWN : 1);
}

/* Nor has a walk of the kernel stack rules to remember if it is the kernel's. */
static void size_kernel_rules(struct programs *programs, const struct program_settings *settings)
{
	if (!settings->kernel_rules.count)
		bpf_map__set_max_entries(programs->skeleton->maps.known_kernel_rules, 1);
}

static void size_count_maps(struct programs *programs, const struct program_settings *settings)
{
	struct profiler_bpf *skeleton = programs->skeleton;
	u32 slots = settings->count_slots * settings->count_cpus * AGGREGATE_WINDOWS;

	bpf_map__set_max_entries(skeleton->maps.counts, slots ? slots : 1);
	bpf_map__set_max_entries(skeleton->maps.chains_sent, slots ? slots : 1);
	bpf_map__set_max_entries(skeleton->maps.chain_logs, slots ? settings->count_cpus : 1);
}

static void apply_plan(struct programs *programs, const struct program_plan *plan)
{
	struct profiler_bpf *skeleton = programs->skeleton;
	u64 ring_bytes = whole_ring_bytes(plan->ring_bytes);

	skeleton->rodata->settings = plan->settings;
	skeleton->rodata->settings.ring_bytes = ring_bytes;
	skeleton->rodata->settings.ring_wake_bytes = ring_bytes / 2;
	skeleton->rodata->settings.page_bits = (u8)__builtin_ctzl(
		(unsigned long)sysconf(_SC_PAGESIZE));
	bpf_map__set_max_entries(skeleton->maps.ring, (u32)ring_bytes);
	bpf_map__set_max_entries(skeleton->maps.rest_ring, (u32)whole_ring_bytes(plan->rest_bytes));
	bpf_map__set_max_entries(skeleton->maps.counters, programs->cpu_count);
	bpf_map__set_max_entries(skeleton->maps.followed,
				 plan->settings.has_followed ? FOLLOWED_MAX : 1);
	size_unwind_maps(programs, plan->unwind_segments);
	size_kernel_rules(programs, &plan->settings);
	size_count_maps(programs, &plan->settings);
	programs->has_followers = plan->settings.has_followed &&
				  (plan->settings.inherit || plan->settings.command_pid);
	bpf_program__set_autoload(skeleton->progs.on_fork,
				  programs->has_followers && plan->settings.inherit);
	bpf_program__set_autoload(skeleton->progs.on_exec, plan->settings.command_pid != 0);
	bpf_program__set_autoload(skeleton->progs.on_free, programs->has_followers);
	find_samplers(programs);
}

static int map_counters(struct programs *programs)
{
	void *start;

	programs->counters_bytes = programs->cpu_count * sizeof(struct cpu_counters);
	start = mmap(NULL, programs->counters_bytes, PROT_READ, MAP_SHARED,
		     bpf_map__fd(programs->skeleton->maps.counters), 0);
	if (start == MAP_FAILED)
		return fail(-errno, NULL, "cannot map the counters of the BPF programs");
	programs->counters = start;
	return 0;
}

static int follow_first(struct programs *programs, const struct program_plan *plan)
{
	int fd = bpf_map__fd(programs->skeleton->maps.followed);
	u8 value = 1;

	for (size_t i = 0; i < plan->follow_count; i++) {
		int error = bpf_map_update_elem(fd, &plan->follow[i], &value, BPF_ANY);

		if (error)
			return fail(error, "name fewer, or profile all with -a",
				    "cannot profile %zu processes and threads at once",
				    plan->follow_count);
	}
	return 0;
}

static void programs_freep(struct programs **programs)
{
	programs_free(*programs);
}

/* Opens the skeleton. libbpf is given only those of the kernel's types that it will look for, in a
 * file in memory that must stay open until it has loaded; -1: none could be made. */
static int open_skeleton(struct programs *programs, int types_fd)
{
	char path[32];
	struct bpf_object_open_opts options = {.sz = sizeof(options)};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types_fd);
	options.btf_custom_path = types_fd < 0 ? NULL : path;
	programs->skeleton = profiler_bpf__open_opts(&options);
	if (!programs->skeleton)
		return -errno;
	return types_fd < 0
		       ? 0
		       : kernel_types_write(bpf_object__btf(programs->skeleton->obj), types_fd);
}

int programs_load(const struct program_plan *plan, struct programs **ret_programs)
{
	CLEANUP(closep) int types = memfd_create("kernel types", MFD_CLOEXEC);
	CLEANUP(programs_freep) struct programs *programs = must_alloc(sizeof(*programs));
	int error;

	programs->measure_fd = -1;
	programs->source_count = plan->source_count;
	fail_clear();
	libbpf_set_print(keep_first_complaint);
	programs->cpu_count = (u32)libbpf_num_possible_cpus();
	error = open_skeleton(programs, types);
	if (error)
		return load_failed(error);
	apply_plan(programs, plan);
	error = profiler_bpf__load(programs->skeleton);
	if (error)
		return load_failed(error);
	fail_clear();
	error = map_counters(programs);
	if (!error)
		error = follow_first(programs, plan);
	if (error)
		return error;
	*ret_programs = TAKE(programs);
	return 0;
}

void programs_free(struct programs *programs)
{
	if (!programs)
		return;
	if (programs->counters)
		munmap(programs->counters, programs->counters_bytes);
	profiler_bpf__destroy(programs->skeleton);
	closep(&programs->measure_fd);
	free(programs);
}

static int attach(struct bpf_program *program, struct bpf_link **ret_link)
{
	if (!bpf_program__autoload(program))
		return 0;
	*ret_link = bpf_program__attach(program);
	return *ret_link ? 0 : -errno;
}

int programs_attach_followers(struct programs *programs)
{
	struct profiler_bpf *skeleton = programs->skeleton;
	int error;

	fail_clear();
	error = attach(skeleton->progs.on_free, &skeleton->links.on_free);
	if (!error)
		error = attach(skeleton->progs.on_fork, &skeleton->links.on_fork);
	if (!error)
		error = attach(skeleton->progs.on_exec, &skeleton->links.on_exec);
	if (error)
		return fail(error, "profile all with -a, or use --no-inherit",
			    "cannot follow what the profiled processes start");
	return 0;
}

int programs_follow(struct programs *programs, u64 key)
{
	u8 value = 1;

	return bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.followed), &key, &value,
				   BPF_ANY);
}

void programs_unfollow(struct programs *programs, u64 key)
{
	bpf_map_delete_elem(bpf_map__fd(programs->skeleton->maps.followed), &key);
}

int programs_sampler_fd(const struct programs *programs, u32 source)
{
	return bpf_program__fd(programs->samplers[source]);
}

int programs_ring_fd(const struct programs *programs)
{
	return bpf_map__fd(programs->skeleton->maps.ring);
}

int programs_rest_ring_fd(const struct programs *programs)
{
	return bpf_map__fd(programs->skeleton->maps.rest_ring);
}

const struct cpu_counters *programs_counters(const struct programs *programs, u32 *ret_count)
{
	*ret_count = programs->cpu_count;
	return programs->counters;
}

struct unwind_maps programs_unwind_maps(const struct programs *programs)
{
	const struct profiler_bpf *skeleton = programs->skeleton;

	return (struct unwind_maps){
		.files_fd = bpf_map__fd(skeleton->maps.unwind_files),
		.segments_fd = bpf_map__fd(skeleton->maps.unwind_segments),
		.segment_count = programs->unwind_segments,
		.epoch = (u32 *)&skeleton->bss->unwind_epoch,
	};
}

struct count_maps programs_count_maps(const struct programs *programs)
{
	const struct profiler_bpf *skeleton = programs->skeleton;
	const struct program_settings *settings =
		(const struct program_settings *)&skeleton->rodata->settings;

	return (struct count_maps){
		.counts_fd = bpf_map__fd(skeleton->maps.counts),
		.chains_fd = bpf_map__fd(skeleton->maps.chains_sent),
		.logs_fd = bpf_map__fd(skeleton->maps.chain_logs),
		.slots = settings->count_slots,
		.cpus = settings->count_cpus,
		.hash_seed = settings->hash_seed,
		.turn = (u32 *)&skeleton->bss->aggregate_turn,
	};
}

volatile u64 *programs_changed_periods(const struct programs *programs)
{
	return programs->skeleton->bss->changed_periods;
}

void programs_measure(struct programs *programs)
{
	programs->measure_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
}

struct program_cost programs_cost(const struct programs *programs)
{
	struct program_cost cost = {0};
	struct bpf_program *program;

	bpf_object__for_each_program(program, programs->skeleton->obj)
	{
		struct bpf_prog_info info = {0};
		u32 bytes = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &bytes))
			continue;
		cost.run_ns += info.run_time_ns;
		cost.runs += info.run_cnt;
		if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT)
			cost.recursion_misses += info.recursion_misses;
	}
	return cost;
}
