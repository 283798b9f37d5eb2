/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One recording of the live kernel: open, start, drain, stop.
 */
#include "capture/capture_state.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "capture/branch_caps.h"
#include "capture/counters.h"
#include "capture/feature_probes.h"
#include "capture/idle_time.h"
#include "capture/kernel_code.h"
#include "capture/late_stacks.h"
#include "capture/module_watch.h"
#include "capture/perf_events.h"
#include "capture/ring.h"
#include "capture/side_band.h"
#include "capture/sizes.h"
#include "capture/targets.h"
#include "capture/unwind_tables.h"
#include "host/host.h"

#include <errno.h>
#include <sys/epoll.h>

enum {
	NS_PER_S = 1000000000,
	CPU_CHECK_NS = NS_PER_S, /* how often we look for CPUs that came or went */
	/* How late a record may come: between taking its time and being readable a virtual CPU can
	 * be taken away from its guest. */
	STRAGGLER_NS = 100000000,
};

/* --- opening --- */

static const u8 walkers_of[] = {
	[CALL_GRAPH_AUTO] = WALKER_EH_FRAME | WALKER_FRAME_POINTER,
	[CALL_GRAPH_DWARF] = WALKER_EH_FRAME,
	[CALL_GRAPH_FP] = WALKER_FRAME_POINTER,
	[CALL_GRAPH_NONE] = 0,
};

static int load_programs(struct capture *capture)
{
	struct program_plan plan = {
		.settings = {.max_stack = capture->settings.max_stack,
			     .kernel_max_stack = sizes_kernel_depth(),
			     .wants_idle = capture->settings.wants_idle,
			     .wants_stacks = capture->settings.call_graph != CALL_GRAPH_NONE,
			     .walkers = walkers_of[capture->settings.call_graph],
			     .wants_branches = capture->settings.branch_bits != 0,
			     .branch_depth = (u8)branch_stack_depth(capture->branch_depth),
			     .wants_proof = capture->settings.on_proof != NULL},
		.source_count = (u32)capture->settings.event_count,
		.ring_bytes = sizes_ring_bytes(&capture->settings, capture->online_count),
	};
	int error = targets_describe(capture->targets, &plan.settings);

	plan.settings.cgroup_tree = (u8)cgroup_teller_tree(capture->cgroups);
	if (error)
		return error;
	if (plan.settings.walkers & WALKER_EH_FRAME)
		plan.unwind_segments = sizes_unwind_segments(&capture->settings);
	if (plan.unwind_segments)
		plan.rest_bytes = sizes_rest_bytes(&capture->settings, capture->online_count);
	plan.follow = targets_keys(capture->targets, &plan.follow_count);
	perf_events_clock_modes(capture->events, plan.settings.clock_modes);
	error = capture_plan_counting(capture, &plan.settings);
	return error ? error : programs_load(&plan, &capture->programs);
}

static void take_rest(void *context, const struct stack_rest *rest)
{
	late_stacks_take_rest(context, rest);
}

static void want_file(void *context, const struct file_wanted *wanted)
{
	unwind_tables_want(context, wanted);
}

/* The ring, and who answers what the programs ask for through it. */
static int open_ring(struct capture *capture)
{
	struct unwind_maps maps = programs_unwind_maps(capture->programs);
	int error = ring_open(programs_ring_fd(capture->programs),
			      capture->settings.call_graph != CALL_GRAPH_NONE, &capture->ring);

	if (!error)
		error = capture_watch(capture, ring_fd(capture->ring));
	if (error)
		return error;
	ring_take_proofs(capture->ring, capture->settings.on_proof,
			 capture->settings.proof_context);
	if (!maps.segment_count)
		return 0;
	error = unwind_tables_open(&maps, &capture->unwind);
	if (error)
		return error;
	unwind_tables_on_file(capture->unwind, capture->settings.on_file,
			      capture->settings.file_context);
	unwind_tables_read_elsewhere(capture->unwind, capture->settings.file_reader);
	ring_take_wanted(capture->ring, want_file, capture->unwind);
	capture->late_stacks = late_stacks_new(capture->unwind, capture->settings.max_stack);
	ring_take_rests(capture->ring, programs_rest_ring_fd(capture->programs), take_rest,
			capture->late_stacks);
	return capture_watch(capture, unwind_tables_fd(capture->unwind));
}

static int open_parts(struct capture *capture)
{
	int error = sizes_check_depth(capture->settings.max_stack);

	if (capture->settings.branch_bits)
		capture->branch_depth = branch_caps_depth_of_all(&capture->settings);
	if (capture->settings.wants_cgroups)
		capture->cgroups = cgroup_teller_open(capture->settings.window_ns);
	capture->settings.wants_cgroups = capture->cgroups != NULL;
	if (!error)
		error = perf_events_new(&capture->settings, &capture->events);
	if (!error)
		error = cpus_online(&capture->online, &capture->online_count);
	if (!error)
		error = targets_open(&capture->settings.targets, &capture->targets);
	if (!error)
		error = sizes_allow_descriptors(&capture->settings, capture->online_count);
	if (!error)
		error = load_programs(capture);
	if (!error)
		error = open_ring(capture);
	if (!error)
		error = capture_open_counting(capture);
	return error ? error : capture_open_cpus(capture);
}

static void capture_closep(struct capture **capture)
{
	capture_close(*capture);
}

int capture_open(const struct capture_settings *settings, struct capture **ret_capture)
{
	CLEANUP(capture_closep) struct capture *capture = must_alloc(sizeof(*capture));
	int error;

	capture->settings = *settings;
	capture->cpus_watch = cpus_watch_new();
	capture->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (capture->epoll_fd < 0)
		return fail(-errno, NULL, "cannot wait for the kernel's records");
	error = open_parts(capture);
	if (error)
		return error;
	*ret_capture = TAKE(capture);
	return 0;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	perf_events_free(capture->events); /* before the programs that run on them */
	side_band_free(capture->side_band);
	side_log_free(capture->side_log);
	file_ids_free(capture->files);
	ring_close(capture->ring);
	counting_close(capture->counting);
	cgroup_teller_free(capture->cgroups);
	late_stacks_free(capture->late_stacks);
	unwind_tables_close(capture->unwind);
	tee_free(capture->tee);
	programs_free(capture->programs);
	targets_free(capture->targets);
	closep(&capture->epoll_fd);
	cpus_watch_free(capture->cpus_watch);
	module_watch_free(capture->modules);
	free(capture->online);
	free(capture->idle_ns);
	free(capture);
}

const struct event_source *capture_sources(const struct capture *capture, u32 *ret_count)
{
	return perf_events_sources(capture->events, ret_count);
}

u32 capture_branch_depth(const struct capture *capture)
{
	return capture->branch_depth;
}

/* --- running --- */

int capture_fd(const struct capture *capture)
{
	return capture->epoll_fd;
}

int capture_drain(struct capture *capture)
{
	u64 start_ns = clock_ns(CLOCK_MONOTONIC), round_ns;
	int error = capture_drain_until(capture, start_ns);

	if (capture->unwind)
		unwind_tables_work(capture->unwind, start_ns);
	if (!error && capture->late_stacks)
		error = late_stacks_work(capture->late_stacks, start_ns);
	if (!error && start_ns >= capture->next_cpu_check_ns) {
		capture->next_cpu_check_ns = start_ns + CPU_CHECK_NS;
		error = capture_follow_cpus(capture);
	}
	if (!error)
		error = capture_tell_side_log(capture);
	if (!error) /* before samples of this time are looked up */
		error = module_watch_look(capture->modules, capture->kernel_sink);
	round_ns = counting_round_ns(capture->counting, start_ns - STRAGGLER_NS);
	round_ns = late_stacks_round_ns(capture->late_stacks, round_ns);
	return error ? error : sink_call(capture->sink, on_round, round_ns);
}

/* The caller's sink, and those of ours that want to hear what it hears. */
static struct event_sink *with_tables(struct capture *capture, struct event_sink *sink)
{
	struct event_sink *sinks[4];
	size_t pid_count, count = 0;
	const u32 *pids = targets_pids(capture->targets, &pid_count);

	if (capture->unwind) {
		capture->tables_sink = unwind_tables_sink(capture->unwind, pids ? PREFETCH_MAPPED
										: PREFETCH_RUNNING);
		sinks[count++] = capture->tables_sink;
		sinks[count++] = late_stacks_processes(capture->late_stacks);
	}
	if (capture->side_log)
		sinks[count++] = side_log_samples(capture->side_log);
	if (!count)
		return sink;
	sinks[count++] = sink;
	capture->tee = tee_new(sinks, count);
	return capture->tee;
}

static void follow(void *context, u64 key)
{
	struct capture *capture = context;

	if (programs_follow(capture->programs, key))
		capture->unfollowed++;
}

/* Takes in who runs already: first whoever descends from those named, then what they have mapped.
 * The kernel tells of forks since the CPUs were opened. */
static int scan_running(struct capture *capture, struct event_sink *sink)
{
	struct target_follower follower = {follow, capture};
	struct scan_result scan = {0};
	struct scan_request request;
	int error = programs_attach_followers(capture->programs);
	const u32 *pids;
	size_t count;

	if (!error)
		error = targets_follow(capture->targets, &follower);
	pids = targets_pids(capture->targets, &count);
	request = (struct scan_request){.pids = pids, .pid_count = count, .files = capture->files};
	if (!error)
		error = processes_scan(&request, sink, &scan);
	capture->unscanned = scan.unreadable;
	return error;
}

int capture_start(struct capture *capture, struct event_sink *sink)
{
	struct event_sink *all;
	u32 cpu_count;
	int error;

	capture->kernel_sink = sink;
	capture->modules = module_watch_new();
	error = kernel_code_send(sink);
	if (capture->cgroups)
		sink = cgroup_teller_sink(capture->cgroups, sink);
	all = with_tables(capture, sink);
	capture->sink = targets_sink(capture->targets, all);
	capture->over_sink = capture->sink == all ? sink : capture->sink;
	if (!error)
		error = scan_running(capture, sink);
	if (error)
		return error;
	if (capture->unwind)
		unwind_tables_started(capture->unwind, (u32)targets_command(capture->targets));
	programs_measure(capture->programs);
	programs_counters(capture->programs, &cpu_count);
	capture->idle_ns = must_alloc_array(cpu_count, sizeof(*capture->idle_ns));
	idle_time_read(capture->idle_ns, cpu_count);
	capture->started_ns = clock_ns(CLOCK_MONOTONIC);
	perf_events_enable(capture->events);
	capture->next_cpu_check_ns = capture->started_ns + CPU_CHECK_NS;
	error = targets_start_command(capture->targets);
	/* What the command begins with is known now: its table can be there with the first tick. */
	return error ? error : capture_drain(capture);
}

u64 capture_started_ns(const struct capture *capture)
{
	return capture->started_ns;
}

int capture_set_rate(struct capture *capture, u32 hz)
{
	int error = perf_events_set_rate(capture->events, hz,
					 programs_changed_periods(capture->programs));

	return error ? fail(error, NULL, "cannot change the rate to %u Hz", hz) : 0;
}

pid_t capture_command(const struct capture *capture)
{
	return targets_command(capture->targets);
}

static void unfollow(void *context, u64 key)
{
	programs_unfollow(context, key);
}

bool capture_targets_ended(struct capture *capture)
{
	return targets_ended(capture->targets, unfollow, capture->programs);
}

/* What the counters counted and our programs never saw. */
static void reckon(struct capture *capture)
{
	u32 cpu_count;
	const struct cpu_counters *counters = programs_counters(capture->programs, &cpu_count);
	CLEANUP(freep) struct cpu_seen *seen = must_alloc_array(cpu_count, sizeof(*seen));
	CLEANUP(freep) u64 *idle_ns = must_alloc_array(cpu_count, sizeof(*idle_ns));

	memset(capture->late, 0, sizeof(capture->late)); /* all of it is reckoned anew */
	idle_time_read(idle_ns, cpu_count);
	for (u32 cpu = 0; cpu < cpu_count; cpu++) {
		seen[cpu].counters = &counters[cpu];
		if (idle_ns[cpu] > capture->idle_ns[cpu])
			seen[cpu].idle_ns = idle_ns[cpu] - capture->idle_ns[cpu];
	}
	capture->expected = perf_events_reckon(capture->events, seen, cpu_count, capture->late);
}

void capture_reckon(struct capture *capture)
{
	if (!capture->started_ns || capture->is_stopped)
		return;
	perf_events_read(capture->events);
	reckon(capture);
}

int capture_stop(struct capture *capture)
{
	int error;

	if (!capture->started_ns || capture->is_stopped)
		return 0;
	capture->is_stopped = true;
	perf_events_disable(capture->events);
	error = capture_drain_counts(capture, ~0ULL);
	reckon(capture);
	if (!error && capture->late_stacks)
		error = late_stacks_finish(capture->late_stacks);
	if (!error)
		error = capture_tell_side_log(capture);
	if (!error)
		error = module_watch_look(capture->modules, capture->kernel_sink);
	if (!error)
		error = sink_call(capture->sink, on_round, ~0ULL);
	if (!error)
		error = sink_call(capture->sink, on_end);
	return error;
}

void capture_totals(struct capture *capture, struct capture_totals *ret_totals)
{
	struct side_band_counts side_band = side_band_counts(capture->side_band);
	struct program_cost cost = programs_cost(capture->programs);
	struct capture_totals totals = {.overflows_expected = capture->expected,
					.bpf_ns = cost.run_ns};
	u32 cpu_count;
	const struct cpu_counters *seen = programs_counters(capture->programs, &cpu_count);

	counters_sum(seen, cpu_count, &totals);
	for (u32 i = 0; i < COUNTER_COUNT; i++)
		totals.counters[i] += capture->late[i];
	totals.counters[COUNTER_samples_counted] -= counting_malformed(capture->counting);
	/* The programs have sent them, but nobody could read them. */
	totals.counters[COUNTER_samples_sent] -= ring_malformed(capture->ring);
	totals.counters[COUNTER_lost_malformed] = ring_malformed(capture->ring) +
						  counting_malformed(capture->counting);
	totals.counters[COUNTER_side_band_lost] = side_band.lost;
	totals.counters[COUNTER_throttled] = side_band.throttled;
	totals.counters[COUNTER_processes_unscanned] = capture->unscanned;
	totals.counters[COUNTER_unfollowed] += capture->unfollowed;
	totals.counters[COUNTER_cpu_unwatched] = capture->cpus_late;
	totals.counters[COUNTER_cgroups_unnamed] = cgroup_teller_unnamed(capture->cgroups);
	if (capture->late_stacks)
		late_stacks_totals(capture->late_stacks, totals.counters);
	totals.counters[COUNTER_file_reader_died] += file_ids_counts(capture->files).died;
	totals.counters[COUNTER_file_reader_slow] += file_ids_counts(capture->files).slow;
	if (capture->unwind)
		totals.unwind = unwind_tables_totals(capture->unwind, totals.counters);
	*ret_totals = totals;
}
