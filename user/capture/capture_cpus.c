/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPUs of a recording: which are watched, and what happens when some go and come.
 *
 * When a CPU goes offline the kernel takes its events away from it, and does not give them back. So
 * they are opened anew, also if the CPU was away for a moment only, as all but one are while the
 * machine is suspended. What was started on a CPU before that is looked for in /proc.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "capture/capture_state.h"
#include "capture/feature_probes.h"
#include "capture/perf_events.h"
#include "capture/side_band.h"
#include "host/host.h"

#include <errno.h>
#include <sys/epoll.h>

static bool holds(const u32 *cpus, size_t count, u32 cpu)
{
	for (size_t i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static bool is_chosen(const struct capture_targets *targets, u32 cpu)
{
	return !targets->cpu_count || holds(targets->cpus, targets->cpu_count, cpu);
}

int capture_watch(const struct capture *capture, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return fail(-errno, NULL, "cannot wait for the kernel's records");
	return 0;
}

/* Processes are watched on every CPU, samples taken on those that were chosen. One that goes
 * offline just now is none of them. */
static int open_cpu(struct capture *capture, u32 cpu)
{
	int error = side_band_open_cpu(capture->side_band, cpu);
	int fd = side_band_fd(capture->side_band, cpu);

	if (!error)
		error = capture_watch(capture, fd);
	if (!error && is_chosen(&capture->settings.targets, cpu))
		error = perf_events_open_cpu(capture->events, cpu, capture->programs, fd);
	return error == -ENODEV ? 0 : error;
}

static void close_cpu(struct capture *capture, u32 cpu)
{
	perf_events_close_cpu(capture->events, cpu);
	side_band_close_cpu(capture->side_band, cpu);
}

static int check_chosen_cpus(const struct capture *capture)
{
	const struct capture_targets *targets = &capture->settings.targets;

	for (size_t i = 0; i < targets->cpu_count; i++)
		if (!holds(capture->online, capture->online_count, targets->cpus[i]))
			return fail_plain(-ENODEV, "see /sys/devices/system/cpu/online",
					  "cannot profile CPU %u: it is not online",
					  targets->cpus[i]);
	return 0;
}

int capture_open_cpus(struct capture *capture)
{
	char found[FEATURE_FOUND_BYTES] = "";
	struct mapping_ids ids = {.from_kernel = !probe_mmap_build_id(found)};
	int error = check_chosen_cpus(capture);

	capture->files = ids.files = file_ids_new(
		confined_files_ids(capture->settings.file_reader));
	capture->side_band = side_band_new((u32)capture->online_count, ids);
	if (capture->settings.kept_bytes && capture->counting)
		capture->side_log = side_log_new();
	for (size_t i = 0; !error && i < capture->online_count; i++)
		error = open_cpu(capture, capture->online[i]);
	return error;
}

/* Looks which CPUs are online, and how many of those that were have gone, or been away. */
static int look(struct capture *capture, u32 **ret_online, size_t *ret_count, size_t *ret_gone)
{
	int error;

	side_band_look(capture->side_band);
	error = cpus_online(ret_online, ret_count);
	*ret_gone = 0;
	for (size_t i = 0; !error && i < capture->online_count; i++) {
		u32 cpu = capture->online[i];

		if (holds(*ret_online, *ret_count, cpu) &&
		    side_band_goes_on(capture->side_band, cpu))
			continue;
		/* In front of those that stay. */
		capture->online[i] = capture->online[*ret_gone];
		capture->online[(*ret_gone)++] = cpu;
	}
	return error;
}

/* What runs is told as it is now. What was kept of processes comes first: it is older. */
static int scan_again(struct capture *capture, u64 now_ns)
{
	struct scan_request request = {.files = capture->files, .time_ns = now_ns};
	struct scan_result unused;
	int error = capture_tell_kept(capture);

	return error ? error : processes_scan(&request, capture->sink, &unused);
}

static int follow(struct capture *capture)
{
	CLEANUP(freep) u32 *online = NULL;
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);
	size_t count, gone, came = 0;
	int error = look(capture, &online, &count, &gone);

	if (!error) /* what those said that have gone, and what is older than the scan */
		error = capture_drain_until(capture, now_ns);
	if (error)
		return error;
	for (size_t i = 0; i < gone; i++)
		close_cpu(capture, capture->online[i]);
	for (size_t i = 0; !error && i < count; i++) {
		if (side_band_fd(capture->side_band, online[i]) >= 0)
			continue;
		error = open_cpu(capture, online[i]);
		came += side_band_fd(capture->side_band, online[i]) >= 0;
	}
	if (!error && came) {
		perf_events_enable(capture->events);
		error = scan_again(capture, now_ns);
	}
	capture->cpus_late += came;
	free(capture->online);
	capture->online = TAKE(online);
	capture->online_count = count;
	return error;
}

/* Both are asked: each notes what it has seen. */
int capture_follow_cpus(struct capture *capture)
{
	bool has_changed = cpus_watch_changed(capture->cpus_watch);
	bool may_be_back = cpus_watch_may_be_back(capture->cpus_watch);

	return has_changed || may_be_back ? follow(capture) : 0;
}
