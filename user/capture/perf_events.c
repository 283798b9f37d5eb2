/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens, starts, stops and reads the counters whose overflows are sampled.
 */
#include "capture/perf_events.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/branch_caps.h"
#include "capture/open_failure.h"
#include "capture/perf_open.h"
#include "host/host.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

enum {
	NS_PER_S = 1000000000,
	/* Clocks do not tick faster. Source: kernel/events/core.c, perf_swevent_start_hrtimer(). */
	CLOCK_PERIOD_MIN_NS = 10000,
};

/* An event of the recording. */
struct source {
	struct perf_event_attr attr;
	struct event_source row;
	VEC(u64) ids;
	u64 fixed_period; /* 0: the kernel adapts it */
	bool is_clock;
	u8 mode; /* enum clock_mode */
};

/* One of its counters. */
struct counter_fd {
	u32 source, cpu;
	int fd;	   /* -1: closed, the CPU went offline */
	u64 count; /* as of the last reading */
	/* as of the last change of the period, and how many overflows that was */
	u64 changed_count, changed_overflows;
};

struct perf_events {
	struct source sources[SOURCES_MAX];
	u32 source_count;
	bool wants_idle;
	u64 branch_extras;
	struct event_source rows[SOURCES_MAX];
	VEC(struct counter_fd) counters;
};

static u64 fixed_period(const struct parsed_event *event)
{
	u64 period = event->rate;

	if (event->is_frequency && !event_is_clock(event))
		return 0;
	if (event->is_frequency)
		period = NS_PER_S / event->rate;
	if (event_is_clock(event) && period < CLOCK_PERIOD_MIN_NS)
		period = CLOCK_PERIOD_MIN_NS;
	return period;
}

static struct perf_event_attr attr_of(const struct parsed_event *event)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.sample_period = event->rate, /* a union with sample_freq */
		.freq = event->is_frequency,
		/* Without PERF_SAMPLE_PERIOD, with which the kernel makes every event of a software
		 * counter overflow. Source: kernel/events/core.c, perf_swevent_event(). */
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
		.disabled = 1,
		.exclude_guest = 1,
		.exclude_user = event->exclude_user && !event_is_clock(event),
		.exclude_kernel = event->exclude_kernel && !event_is_clock(event),
		.precise_ip = event->precise,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	/* Of a precise event the stack is gone when our program runs, so the kernel must have taken
	 * it. Source: kernel/events/core.c, perf_event_set_bpf_handler(). */
	if (event->precise)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	return attr;
}

static u8 clock_mode_of(const struct parsed_event *event)
{
	if (!event_is_clock(event))
		return CLOCK_ANY;
	if (event->exclude_kernel)
		return CLOCK_USER_ONLY;
	return event->exclude_user ? CLOCK_KERNEL_ONLY : CLOCK_ANY;
}

/* All but what is decided when the event is opened. */
static struct event_source row_of(const struct parsed_event *event,
				  const struct perf_event_attr *attr,
				  const struct capture_settings *settings)
{
	bool has_chain = settings->call_graph != CALL_GRAPH_NONE;

	return (struct event_source){
		.name = event->name,
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.rate = event->rate,
		.is_frequency = event->is_frequency,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.precise = event->precise,
		.has_chain = has_chain,
		.has_branches = attr->branch_sample_type != 0,
		.has_time = true,
		.has_cpu = true,
		.has_period = true,
		.sample_bits = (attr->sample_type & ~(u64)PERF_SAMPLE_CALLCHAIN) |
			       PERF_SAMPLE_PERIOD | (has_chain ? PERF_SAMPLE_CALLCHAIN : 0) |
			       (settings->wants_cgroups ? PERF_SAMPLE_CGROUP : 0),
	};
}

/* The kernel's own limit of -F, as perf tells it. */
static int check_rate(const struct parsed_event *event)
{
	long limit;

	if (!event->rate)
		return fail_plain(-EINVAL, "use -F with at least 1, or -c with at least 1",
				  "cannot sample %s at a rate of 0", event->name);
	if (!event->is_frequency || sysctl_read("kernel/perf_event_max_sample_rate", &limit) ||
	    event->rate <= (u64)limit)
		return 0;
	return fail_plain(-EINVAL, "use -F max, or raise sysctl kernel.perf_event_max_sample_rate",
			  "cannot sample %s at %llu Hz: the kernel allows %ld Hz", event->name,
			  (unsigned long long)event->rate, limit);
}

int perf_events_new(const struct capture_settings *settings, struct perf_events **ret_events)
{
	struct perf_events *events;

	if (settings->event_count > SOURCES_MAX)
		return fail_plain(-E2BIG, "name fewer events with -e",
				  "cannot sample %zu events at once: the limit is %d",
				  settings->event_count, SOURCES_MAX);
	for (size_t i = 0; i < settings->event_count; i++) {
		int error = check_rate(&settings->events[i]);

		if (error)
			return error;
	}
	events = must_alloc(sizeof(*events));
	events->wants_idle = settings->wants_idle;
	events->branch_extras = settings->branch_extras;
	for (size_t i = 0; i < settings->event_count; i++) {
		const struct parsed_event *event = &settings->events[i];
		struct source *source = &events->sources[events->source_count++];

		source->attr = attr_of(event);
		branch_caps_ask(settings, &source->attr);
		source->row = row_of(event, &source->attr, settings);
		source->fixed_period = fixed_period(event);
		source->is_clock = event_is_clock(event);
		source->mode = clock_mode_of(event);
	}
	*ret_events = events;
	return 0;
}

void perf_events_free(struct perf_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->counters.count; i++)
		closep(&events->counters.items[i].fd);
	vec_release(&events->counters);
	for (u32 i = 0; i < events->source_count; i++)
		vec_release(&events->sources[i].ids);
	free(events);
}

void perf_events_clock_modes(const struct perf_events *events, u8 ret_modes[SOURCES_MAX])
{
	for (u32 i = 0; i < events->source_count; i++)
		ret_modes[i] = events->sources[i].mode;
}

static bool is_refused(int fd)
{
	return fd == -EINVAL || fd == -EOPNOTSUPP;
}

/* Some PMUs refuse to tell guests apart. */
static int open_without_guests(struct source *source, u32 cpu)
{
	int fd = perf_open_cpu(&source->attr, cpu);

	if (is_refused(fd) && source->attr.exclude_guest) {
		source->attr.exclude_guest = 0;
		fd = perf_open_cpu(&source->attr, cpu);
		source->attr.exclude_guest = fd < 0;
	}
	return fd;
}

/* Opens with what the kernel and its PMU take. */
static int open_tolerantly(struct source *source, u64 branch_extras, u32 cpu)
{
	u64 wanted = source->attr.branch_sample_type;
	int fd = open_without_guests(source, cpu);

	while (is_refused(fd) && branch_caps_ask_less(&source->attr, branch_extras))
		fd = open_without_guests(source, cpu);
	if (fd < 0)
		source->attr.branch_sample_type = wanted;
	return fd;
}

static int open_source(struct perf_events *events, u32 number, u32 cpu,
		       const struct programs *programs, int output_fd)
{
	struct source *source = &events->sources[number];
	int fd = open_tolerantly(source, events->branch_extras, cpu);
	u64 id = 0;

	if (fd == -ENODEV)
		return fd;
	if (fd < 0)
		return open_failure_tell(fd, &source->attr, source->row.name, cpu);
	*vec_add(&events->counters) = (struct counter_fd){.source = number, .cpu = cpu, .fd = fd};
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, programs_sampler_fd(programs, number)))
		return fail(-errno, "leave out :p modifiers, or use -e cpu-clock",
			    "cannot run our program on %s of CPU %u", source->row.name, cpu);
	if (!ioctl(fd, PERF_EVENT_IOC_ID, &id))
		*vec_add(&source->ids) = id;
	/* Only for what the kernel says beside samples; not being told is no error. */
	if (output_fd >= 0)
		ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, output_fd);
	return 0;
}

int perf_events_open_cpu(struct perf_events *events, u32 cpu, const struct programs *programs,
			 int output_fd)
{
	for (u32 i = 0; i < events->source_count; i++) {
		int error = open_source(events, i, cpu, programs, output_fd);

		if (error)
			return error;
	}
	return 0;
}

static void read_counter(struct counter_fd *counter)
{
	u64 count;

	if (counter->fd >= 0 && read(counter->fd, &count, sizeof(count)) == sizeof(count))
		counter->count = count;
}

void perf_events_close_cpu(struct perf_events *events, u32 cpu)
{
	for (size_t i = 0; i < events->counters.count; i++) {
		struct counter_fd *counter = &events->counters.items[i];

		if (counter->cpu != cpu || counter->fd < 0)
			continue;
		read_counter(counter);
		close(counter->fd);
		counter->fd = -1;
	}
}

static void control_all(struct perf_events *events, unsigned long request)
{
	for (size_t i = 0; i < events->counters.count; i++)
		if (events->counters.items[i].fd >= 0)
			ioctl(events->counters.items[i].fd, request, 0);
}

void perf_events_enable(struct perf_events *events)
{
	control_all(events, PERF_EVENT_IOC_ENABLE);
}

void perf_events_disable(struct perf_events *events)
{
	control_all(events, PERF_EVENT_IOC_DISABLE);
	perf_events_read(events);
}

void perf_events_read(struct perf_events *events)
{
	for (size_t i = 0; i < events->counters.count; i++)
		read_counter(&events->counters.items[i]);
}

/* By the period that it has had until now. */
static u64 overflows_of(const struct perf_events *events, const struct counter_fd *counter)
{
	return counter->changed_overflows + (counter->count - counter->changed_count) /
						    events->sources[counter->source].fixed_period;
}

static int set_period(const struct perf_events *events, struct counter_fd *counter, u64 value)
{
	if (counter->fd < 0)
		return 0;
	if (events->sources[counter->source].fixed_period) {
		read_counter(counter);
		counter->changed_overflows = overflows_of(events, counter);
		counter->changed_count = counter->count;
	}
	return ioctl(counter->fd, PERF_EVENT_IOC_PERIOD, &value) ? -errno : 0;
}

static int set_source_rate(struct perf_events *events, u32 number, u32 hz)
{
	struct source *source = &events->sources[number];
	/* Of a clock's rate the kernel has made a period: perf_swevent_init_hrtimer(). */
	u64 value = source->is_clock ? NS_PER_S / hz : hz;
	int error = 0;

	for (size_t i = 0; !error && i < events->counters.count; i++)
		if (events->counters.items[i].source == number)
			error = set_period(events, &events->counters.items[i], value);
	if (error)
		return error;
	source->attr.sample_freq = hz;
	source->row.rate = hz;
	source->fixed_period = source->fixed_period ? value : 0;
	return 0;
}

int perf_events_set_rate(struct perf_events *events, u32 hz, volatile u64 *ret_periods)
{
	int error = 0;

	for (u32 i = 0; !error && i < events->source_count; i++) {
		const struct source *source = &events->sources[i];

		error = source->row.is_frequency ? set_source_rate(events, i, hz) : 0;
		if (!error && source->row.is_frequency && source->is_clock)
			ret_periods[i] = source->fixed_period;
	}
	return error;
}

const struct event_source *perf_events_sources(struct perf_events *events, u32 *ret_count)
{
	for (u32 i = 0; i < events->source_count; i++) {
		struct source *source = &events->sources[i];

		events->rows[i] = source->row;
		events->rows[i].branch_bits = source->attr.branch_sample_type;
		events->rows[i].ids = source->ids.items;
		events->rows[i].id_count = (u32)source->ids.count;
	}
	*ret_count = events->source_count;
	return events->rows;
}

/* Why overflows of this event do not reach our program. */
static u32 shortfall_counter(const struct source *source)
{
	if (source->is_clock)
		return COUNTER_lost_late;
	return source->attr.type == PERF_TYPE_SOFTWARE ? COUNTER_lost_recursion
						       : COUNTER_lost_kernel;
}

/* Overflows of one event and CPU, whose counters are several if it was offline meanwhile. */
static u64 expected_overflows(const struct perf_events *events, u32 source, u32 cpu)
{
	u64 overflows = 0;

	for (size_t i = 0; i < events->counters.count; i++) {
		const struct counter_fd *counter = &events->counters.items[i];

		if (counter->source == source && counter->cpu == cpu)
			overflows += overflows_of(events, counter);
	}
	return overflows;
}

/* How many ticks of a clock are missing because its CPU was idle and the machine then ran no timer.
 * The idle task would have been left out anyway; if it is wanted, the ticks are lost. */
static u64 missing_while_idle(const struct perf_events *events, const struct source *source,
			      const struct cpu_seen *cpu)
{
	u64 idle = cpu->idle_ns / source->fixed_period;
	u64 seen = cpu->counters->counts[COUNTER_skipped_idle] / events->source_count;

	if (!source->is_clock || events->wants_idle)
		return 0;
	return idle > seen ? idle - seen : 0;
}

static void add_shortfall(const struct perf_events *events, const struct source *source,
			  const struct cpu_seen *cpu, u64 missing, u64 *counts)
{
	u64 idle = missing_while_idle(events, source, cpu);

	if (idle > missing)
		idle = missing;
	counts[COUNTER_overflows] += missing;
	counts[COUNTER_skipped_idle] += idle;
	counts[shortfall_counter(source)] += missing - idle;
}

u64 perf_events_reckon(const struct perf_events *events, const struct cpu_seen *seen, u32 cpu_count,
		       u64 *ret_counts)
{
	u64 sum = 0;

	for (u32 number = 0; number < events->source_count; number++) {
		const struct source *source = &events->sources[number];

		for (u32 cpu = 0; cpu < cpu_count; cpu++) {
			u64 runs = seen[cpu].counters->overflows[number];
			u64 expected = runs;

			if (source->fixed_period)
				expected = expected_overflows(events, number, cpu);
			if (expected > runs)
				add_shortfall(events, source, &seen[cpu], expected - runs,
					      ret_counts);
			sum += expected;
		}
	}
	return sum;
}
