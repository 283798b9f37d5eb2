/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns the text of -e into the numbers of perf_event_attr.
 *
 * One event is NAME[:modifiers], rHEX[:modifiers] or pmu/terms/[modifiers]; commas between slashes
 * belong to the event.
 */
#include "capture/event_parser.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/event_pmu.h"
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

static const struct named_event {
	const char *name;
	u32 type;
	u64 config;
} named_events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

static int refuse_event(const char *name)
{
	const char *names[ARRAY_COUNT(named_events) + 1] = {NULL};
	CLEANUP(freep) char *remedy = NULL;
	const char *nearest;

	if (strchr(name, ':'))
		return fail_plain(-ENOENT,
				  "use events of the CPU or of the kernel's clocks, such as cycles "
				  "or cpu-clock",
				  "tracepoint '%s' cannot be sampled", name);
	if (strpbrk(name, "{}"))
		return fail_plain(-EINVAL, "list them with commas",
				  "groups of events are not supported");
	for (size_t i = 0; i < ARRAY_COUNT(named_events); i++)
		names[i] = named_events[i].name;
	nearest = nearest_name(name, names);
	remedy = nearest ? must_format("did you mean '%s'?", nearest)
			 : must_copy("give a hardware or software event of `perf list`, rHEX, "
				     "or pmu/term=value/");
	return fail_plain(-ENOENT, remedy, "unknown event '%s'", name);
}

/* rHEX, as perf takes it: up to 16 digits. */
static bool parse_raw(const char *name, struct parsed_event *event)
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	if (name[0] != 'r' || digits == 0 || digits > 16 || name[1 + digits])
		return false;
	event->type = PERF_TYPE_RAW;
	event->config = strtoull(name + 1, NULL, 16);
	return true;
}

static int parse_name(const char *sysfs, const char *name, struct parsed_event *event)
{
	CLEANUP(freep) char *pmu = NULL;

	for (size_t i = 0; i < ARRAY_COUNT(named_events); i++) {
		if (strcmp(name, named_events[i].name) != 0)
			continue;
		event->type = named_events[i].type;
		event->config = named_events[i].config;
		return 0;
	}
	if (parse_raw(name, event))
		return 0;
	pmu = event_pmu_with_alias(sysfs, name);
	return pmu ? event_pmu_parse(sysfs, pmu, name, event) : refuse_event(name);
}

/* u and k restrict to what they name, together they mean both; each p raises precision. */
static int parse_modifiers(const char *modifiers, struct parsed_event *event)
{
	bool user = false, kernel = false;

	for (const char *next = modifiers; *next; next++) {
		if (!strchr("ukp", *next))
			return fail_plain(-EINVAL, "use :u, :k, :p, :pp or :ppp",
					  "unknown modifier '%c' in event '%s'", *next,
					  event->name);
		user |= *next == 'u';
		kernel |= *next == 'k';
		event->precise += *next == 'p';
		if (event->precise > 3)
			return fail_plain(-EINVAL, NULL, "event '%s' has more than three p",
					  event->name);
	}
	if (user || kernel) {
		event->exclude_user = !user;
		event->exclude_kernel = !kernel;
	}
	return 0;
}

/* Splits off modifiers: what stands behind the last slash, or behind a colon. */
static char *cut_modifiers(char *text, char *slash)
{
	char *modifiers = slash ? strrchr(text, '/') + 1 : strrchr(text, ':');

	if (!modifiers)
		return text + strlen(text);
	if (slash) {
		modifiers[-1] = 0;
		return modifiers + (*modifiers == ':');
	}
	*modifiers = 0;
	return modifiers + 1;
}

/* Whether a colon begins modifiers, and not the event of a tracepoint such as sched:sched_switch.
 */
static bool is_tracepoint(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && (strlen(colon + 1) > 4 || strchr(colon + 1, ':'));
}

static int parse_event(const char *sysfs, const char *text, struct parsed_event *event)
{
	CLEANUP(freep) char *copy = must_copy(text);
	char *slash = strchr(copy, '/');
	const char *modifiers;
	int error;

	if (slash && slash == strrchr(copy, '/'))
		return fail_plain(-EINVAL, "write pmu/term,term=value/",
				  "event '%s' lacks its second '/'", text);
	if (!slash && is_tracepoint(text))
		return refuse_event(text);
	modifiers = cut_modifiers(copy, slash);
	if (slash) {
		*slash = 0;
		error = event_pmu_parse(sysfs, copy, slash + 1, event);
	} else {
		error = parse_name(sysfs, copy, event);
	}
	return error ? error : parse_modifiers(modifiers, event);
}

/* The length of the first event of a list: up to a comma that is not between slashes. */
static size_t event_length(const char *list)
{
	bool inside = false;
	size_t length = 0;

	for (; list[length] && (inside || list[length] != ','); length++)
		inside ^= list[length] == '/';
	return length;
}

/* An owned array of events, freed with their names unless it was handed over. */
struct event_list {
	VEC(struct parsed_event) events;
};

static void event_list_release(struct event_list *list)
{
	events_free(list->events.items, list->events.count);
}

int events_parse(const char *text, const char *sysfs, struct parsed_event **ret_events,
		 size_t *ret_count)
{
	CLEANUP(event_list_release) struct event_list list = {0};

	for (const char *next = text;; next++) {
		size_t length = event_length(next);
		CLEANUP(freep) char *one = must_copy_bytes(next, length);
		struct parsed_event *event = vec_add(&list.events);
		int error;

		*event = (struct parsed_event){.name = must_copy(one)};
		if (length == 0)
			return fail_plain(-EINVAL, "name one, such as cycles or cpu-clock",
					  "empty event in '%s'", text);
		error = parse_event(sysfs, one, event);
		if (error)
			return error;
		next += length;
		if (!*next)
			break;
	}
	*ret_count = list.events.count;
	*ret_events = list.events.items;
	list = (struct event_list){0};
	return 0;
}

bool event_is_clock(const struct parsed_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
						     event->config == PERF_COUNT_SW_TASK_CLOCK);
}

void events_free(struct parsed_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(events[i].name);
	free(events);
}
