/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks what was typed against this machine, so that what can't work is said before anything
 * starts: processes and CPUs that are not there, rates above the kernel's limit, a command that
 * cannot be run.
 */
#include "cmd/record_plan.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "bpfprof/settings.h"
#include "host/host.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum {
	HIGHEST_PID = 1 << 22, /* PID_MAX_LIMIT of include/linux/threads.h */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* --- who ---------------------------------------------------------------------------------------
 */

/* All texts of an option as one comma list, owned by the caller. */
static char *join_list(const struct text_list *list)
{
	struct text text = {0};

	for (size_t i = 0; i < list->count; i++)
		text_appendf(&text, "%s%s", i ? "," : "", list->items[i]);
	return text_take(&text);
}

static int plan_cpus(struct record_plan *plan, const struct text_list *list)
{
	CLEANUP(freep) char *text = join_list(list);
	CLEANUP(freep) u32 *online = NULL;
	size_t online_count, at = 0;
	struct capture_targets *targets = &plan->capture.targets;
	int error;

	if (!list->count)
		return 0;
	if (number_parse_list(text, 65535, &plan->cpus, &targets->cpu_count))
		return fail_plain(-EINVAL, "give a list such as 0-3,7",
				  "-C %s is not a list of CPUs", text);
	error = cpus_online(&online, &online_count);
	if (error)
		return error;
	for (size_t i = 0; i < targets->cpu_count; i++) {
		while (at < online_count && online[at] < plan->cpus[i])
			at++;
		if (at == online_count || online[at] != plan->cpus[i])
			return fail_plain(-ENODEV, "see /sys/devices/system/cpu/online",
					  "CPU %u is not online", plan->cpus[i]);
	}
	targets->cpus = plan->cpus;
	return 0;
}

static int check_pid(u32 pid)
{
	u32 process = process_of_thread(pid);

	if (!process)
		return fail_plain(-ESRCH, "it may have ended already", "no process %u", pid);
	if (process != pid)
		return fail_plain(-ESRCH, "name the process with -p, or the thread with -t",
				  "%u is a thread of process %u", pid, process);
	return 0;
}

static int check_tid(u32 tid)
{
	if (!process_of_thread(tid))
		return fail_plain(-ESRCH, "it may have ended already", "no thread %u", tid);
	return 0;
}

static int plan_ids(const struct text_list *list, char letter, int (*check)(u32 id), u32 **ret_ids,
		    size_t *ret_count)
{
	CLEANUP(freep) char *text = join_list(list);
	int error = 0;

	if (!list->count)
		return 0;
	error = strchr(text, '-') ? -EINVAL
				  : number_parse_list(text, HIGHEST_PID, ret_ids, ret_count);
	if (error == -ERANGE)
		return fail_plain(-ESRCH, NULL, "-%c %s: no id is above %d", letter, text,
				  HIGHEST_PID);
	if (error)
		return fail_plain(-EINVAL, "give numbers, separated by commas",
				  "-%c %s is not a list of numbers", letter, text);
	for (size_t i = 0; i < *ret_count && !error; i++)
		error = check((*ret_ids)[i]);
	return error;
}

static int plan_user(struct capture_targets *targets, const char *user)
{
	const struct passwd *entry;

	if (!user)
		return 0;
	targets->has_uid = true;
	entry = getpwnam(user);
	if (entry)
		targets->uid = entry->pw_uid;
	else if (number_parse_u32(user, &targets->uid))
		return fail_plain(-ENOENT, "give a name of /etc/passwd, or a number",
				  "no user '%s'", user);
	return 0;
}

static void add_remark(struct record_plan *plan, const char *sentence)
{
	*vec_add(&plan->remarks) = must_copy(sentence);
}

static int plan_targets(struct record_plan *plan, const struct record_settings *settings)
{
	struct capture_targets *targets = &plan->capture.targets;
	int error;

	targets->cgroup = settings->cgroup;
	targets->command = plan->command;
	targets->stdout_is_taken = !strcmp(settings->output, "-");
	targets->no_inherit = settings->no_inherit;
	error = plan_cpus(plan, &settings->cpus);
	if (!error)
		error = plan_ids(&settings->pids, 'p', check_pid, &plan->pids, &targets->pid_count);
	if (!error)
		error = plan_ids(&settings->tids, 't', check_tid, &plan->tids, &targets->tid_count);
	if (!error)
		error = plan_user(targets, settings->user);
	if (error)
		return error;
	targets->pids = plan->pids;
	targets->tids = plan->tids;
	/* Like perf: who is named narrows -a, and -C alone means all that runs there. */
	if (settings->all && (plan->pids || plan->tids))
		add_remark(plan, "-p and -t narrow -a: only what they name is recorded");
	targets->all = !(plan->pids || plan->tids) &&
		       (settings->all || !(targets->cgroup || targets->has_uid ||
					   (plan->command && !targets->cpu_count)));
	return 0;
}

/* --- the command --------------------------------------------------------------------------------
 */

/* 0 if the file can be run, else the exit status a shell would give. */
static int check_executable(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno == EACCES ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
	return S_ISDIR(status.st_mode) || access(path, X_OK) ? EXIT_NOT_EXECUTABLE : 0;
}

/* Looks where execvp() will look. */
static int find_executable(const char *name)
{
	CLEANUP(freep) char *folders = must_copy(getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin");
	char *rest = folders;
	int result = EXIT_NOT_FOUND;

	if (strchr(name, '/'))
		return check_executable(name);
	for (char *folder; result && *name && (folder = strsep(&rest, ":"));) {
		CLEANUP(freep) char *path = must_format("%s/%s", *folder ? folder : ".", name);
		int found = check_executable(path);

		if (found != EXIT_NOT_FOUND)
			result = found;
	}
	return result;
}

static int plan_command(struct record_plan *plan, struct arguments arguments)
{
	if (!arguments.count)
		return 0;
	plan->command = must_alloc_array((size_t)arguments.count + 1, sizeof(char *));
	memcpy(plan->command, arguments.items, (size_t)arguments.count * sizeof(char *));
	plan->command_error = find_executable(plan->command[0]);
	if (plan->command_error == EXIT_NOT_FOUND)
		return fail_plain(-ENOENT, NULL, "command not found: %s", plan->command[0]);
	if (plan->command_error)
		return fail_plain(-EACCES, "chmod +x it", "command cannot be executed: %s",
				  plan->command[0]);
	return 0;
}

/* --- what ---------------------------------------------------------------------------------------
 */

static int plan_rate(struct record_plan *plan, const struct record_settings *settings)
{
	long limit;
	char remedy[96];

	if (sysctl_read("kernel/perf_event_max_sample_rate", &limit))
		limit = UINT32_MAX;
	if (settings->period && (settings->frequency_hz || settings->is_frequency_max))
		return fail_plain(-EINVAL, "leave out one of them",
				  "-F is samples a second, -c a sample each so many events");
	if (settings->period)
		return 0;
	plan->frequency_hz = settings->is_frequency_max
				     ? (u32)limit
				     : (settings->frequency_hz ? settings->frequency_hz
							       : FREQUENCY_DEFAULT_HZ);
	if (plan->frequency_hz <= limit)
		return 0;
	snprintf(remedy, sizeof(remedy),
		 "use -F max, or sysctl kernel.perf_event_max_sample_rate=%u", plan->frequency_hz);
	return fail_plain(-ERANGE, remedy, "-F %u is above the kernel's limit of %ld Hz",
			  plan->frequency_hz, limit);
}

static int plan_memory(struct record_plan *plan, const struct record_settings *settings)
{
	if (settings->unwind_bytes < UNWIND_BYTES_MIN || settings->unwind_bytes > UNWIND_BYTES_MAX)
		return fail_plain(-EINVAL, "give 1M to 1G", "--unwind-memory is too %s",
				  settings->unwind_bytes < UNWIND_BYTES_MIN ? "small" : "large");
	plan->capture.unwind_bytes = settings->unwind_bytes;
	plan->capture.ring_bytes = settings->ring_bytes;
	return 0;
}

/* Branch records of the CPU: of calls, or as -b and -j want them. */
static int plan_branches(struct record_plan *plan, const struct record_settings *settings)
{
	struct capture_settings *capture = &plan->capture;

	if (settings->no_stitch && !settings->wants_lbr)
		return fail_plain(-EINVAL, "leave it out, or use --call-graph lbr",
				  "--no-stitch is for stacks made of branch records");
	if (settings->wants_lbr && settings->branch_bits)
		return fail_plain(-EINVAL, "leave out one of them",
				  "--call-graph lbr and -b or -j want the same registers of the "
				  "CPU");
	capture->branch_bits = settings->branch_bits;
	if (settings->branch_bits && !settings->has_call_graph)
		capture->call_graph = CALL_GRAPH_NONE; /* as perf record -b */
	if (!settings->wants_lbr)
		return 0;
	capture->branch_bits = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	capture->branch_extras = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
				 PERF_SAMPLE_BRANCH_HW_INDEX;
	return 0;
}

static int plan_counting(struct record_plan *plan, const struct record_settings *settings)
{
	if (settings->window_ns && !settings->aggregate)
		return fail_plain(-EINVAL, "add --aggregate, or leave it out",
				  "--window is how long samples are counted, and they are not");
	plan->capture.aggregate = settings->aggregate;
	plan->capture.window_ns = settings->window_ns;
	if (settings->aggregate && (settings->wants_lbr || settings->branch_bits))
		return fail_plain(-EINVAL, "leave out one of them",
				  "--aggregate counts samples that are alike, and branch records "
				  "make each another");
	return 0;
}

static int plan_call_graph(struct record_plan *plan, const struct record_settings *settings)
{
	plan->capture.call_graph = settings->call_graph;
	if (settings->has_copy_size)
		add_remark(plan, "no stack memory is copied, so the size behind dwarf is not used");
	return plan_branches(plan, settings);
}

static int plan_stack(struct record_plan *plan, const struct record_settings *settings)
{
	char remedy[64];

	plan->capture.max_stack = settings->max_stack;
	if (settings->max_stack == 0)
		return fail_plain(-EINVAL, "use --call-graph none to record no stacks",
				  "--max-stack needs at least one frame");
	if (settings->max_stack <= STACK_MAX_FRAMES)
		return 0;
	snprintf(remedy, sizeof(remedy), "give at most %d", STACK_MAX_FRAMES);
	return fail_plain(-EINVAL, remedy, "--max-stack %u is too deep", settings->max_stack);
}

/* Whether the default event brings the branch records that are asked for. Where events are named,
 * opening them shows it. */
static int check_default_branches(const struct record_settings *settings)
{
	char found[FEATURE_FOUND_BYTES] = "";

	if (settings->wants_lbr && feature_find("branch-stack")->probe(found))
		return fail_plain(-EINVAL, "use --call-graph auto",
				  "call-graph lbr: this machine shows no branch stack of calls");
	if (settings->branch_bits && feature_find("branch-records")->probe(found))
		return fail_plain(-EINVAL, "`bpfprof check` says what that takes",
				  "cannot record branches: this machine shows no branch records");
	return 0;
}

/* LBR holds the calls of user space: with an event that leaves it out there are none. */
static int check_lbr_modes(const struct record_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++)
		if (plan->settings->wants_lbr && plan->events[i].exclude_user)
			return fail_plain(-EINVAL, "use --call-graph auto",
					  "call-graph lbr: %s takes no samples in user space, "
					  "whose calls LBR holds",
					  plan->events[i].name);
	return 0;
}

/* Cycles where a PMU counts them, else the clock, and says so. */
static const char *default_event(struct record_plan *plan)
{
	char found[FEATURE_FOUND_BYTES] = "";

	if (!feature_find("cycles")->probe(found))
		return "cycles";
	add_remark(plan, "no CPU cycle counter here, sampling cpu-clock instead");
	return "cpu-clock";
}

/* A clock that ticks faster than a tick takes leaves its CPU no time, nor anybody to stop it: with
 * the timer of a virtual machine a sample of a deep stack is up to 50 us. */
static void slow_down_clock(struct record_plan *plan, struct parsed_event *event)
{
	enum { MOST_HZ = 10000, LEAST_NS = 100000 };
	CLEANUP(freep) char *sentence = NULL;

	if (!event_is_clock(event) ||
	    (event->is_frequency ? event->rate <= MOST_HZ : event->rate >= LEAST_NS))
		return;
	sentence = must_format("sampling %s at %d Hz: faster it would take the CPUs for itself",
			       event->name, MOST_HZ);
	add_remark(plan, sentence);
	if (event->is_frequency && plan->frequency_hz == event->rate)
		plan->frequency_hz = MOST_HZ;
	event->rate = event->is_frequency ? MOST_HZ : LEAST_NS;
}

static int plan_events(struct record_plan *plan, const struct record_settings *settings)
{
	CLEANUP(freep) char *text = join_list(&settings->events);
	int error = settings->events.count ? 0 : check_default_branches(settings);

	if (error)
		return error;
	error = events_parse(settings->events.count ? text : default_event(plan), "/sys",
			     &plan->events, &plan->event_count);
	if (error) /* a name that nobody knows is as wrong as a malformed one */
		return error == -ENOENT ? -EINVAL : error;
	if (settings->all_user && settings->all_kernel)
		return fail_plain(-EINVAL, "leave out both for everything",
				  "--all-user and --all-kernel leave nothing");
	for (size_t i = 0; i < plan->event_count; i++) {
		struct parsed_event *event = &plan->events[i];

		event->exclude_kernel |= settings->all_user;
		event->exclude_user |= settings->all_kernel;
		if (!event->rate) {
			event->is_frequency = settings->period == 0;
			event->rate = settings->period ? settings->period : plan->frequency_hz;
		}
		slow_down_clock(plan, event);
	}
	plan->capture.events = plan->events;
	plan->capture.event_count = plan->event_count;
	return check_lbr_modes(plan);
}

int record_plan_make(const struct record_settings *settings, struct arguments arguments,
		     struct record_plan *ret_plan)
{
	int error;

	*ret_plan = (struct record_plan){.settings = settings};
	ret_plan->capture.wants_idle = settings->wants_idle;
	ret_plan->capture.wants_cgroups = settings->all_cgroups;
	error = plan_command(ret_plan, arguments);
	if (!error)
		error = plan_targets(ret_plan, settings);
	if (!error)
		error = plan_rate(ret_plan, settings);
	if (!error)
		error = plan_memory(ret_plan, settings);
	if (!error)
		error = plan_counting(ret_plan, settings);
	if (!error)
		error = plan_call_graph(ret_plan, settings);
	if (!error)
		error = plan_stack(ret_plan, settings);
	return error ? error : plan_events(ret_plan, settings);
}

void record_plan_release(struct record_plan *plan)
{
	events_free(plan->events, plan->event_count);
	free(plan->cpus);
	free(plan->pids);
	free(plan->tids);
	free(plan->command);
	for (size_t i = 0; i < plan->remarks.count; i++)
		free(plan->remarks.items[i]);
	vec_release(&plan->remarks);
	*plan = (struct record_plan){0};
}
