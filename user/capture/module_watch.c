/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Modules, looked for when the kernel says that something changed.
 *
 * Perf events tell of BPF programs and of code that ftrace makes, but not of modules. Loading one
 * is told by a uevent when it is live, unloading before its memory is free: as long as none came,
 * all that are known are where they were. Before Linux 5.13 loading was told before the start of
 * the module ran, so those that are on their way are looked for again without being asked to.
 */
#include "capture/module_watch.h"

#include "base/clock.h"
#include "base/memory.h"
#include "host/host.h"

#include <errno.h>

struct module_watch {
	struct seen_text uevents;
	struct kernel_modules known;
	u64 known_ns; /* when they were all there, and no other */
	bool is_unsettled;
};

struct module_watch *module_watch_new(void)
{
	struct module_watch *watch = must_alloc(sizeof(*watch));

	seen_text_open(&watch->uevents, UEVENT_COUNT);
	(void)seen_text_changed(&watch->uevents);
	watch->known_ns = clock_ns(CLOCK_MONOTONIC);
	(void)kernel_modules_here(&watch->known);
	watch->is_unsettled = kernel_modules_are_moving(&watch->known);
	return watch;
}

static int tell_gone(const struct kernel_module *module, u64 time_ns, struct event_sink *sink)
{
	enum { IT_WENT = 1 };
	CLEANUP(freep) char *name = must_format("[%s]", module->name);
	struct kernel_symbol symbol = {
		.time_ns = time_ns,
		.start = module->start,
		.flags = IT_WENT,
		.name = name,
	};

	return sink_call(sink, on_kernel_symbol, &symbol);
}

static int tell(const struct module_changes *changes, u64 gone_ns, struct event_sink *sink)
{
	int error = 0;

	for (size_t i = 0; !error && i < changes->gone.rows.count; i++)
		error = tell_gone(&changes->gone.rows.items[i], gone_ns, sink);
	if (error || !changes->came.rows.count)
		return error;
	return kernel_module_mappings(changes->came.rows.items, changes->came.rows.count, sink);
}

static void changes_release(struct module_changes *changes)
{
	kernel_modules_release(&changes->gone);
	kernel_modules_release(&changes->came);
}

/* Lists them again. What cannot be listed now may be the next time. */
static int list(struct module_watch *watch, u64 start_ns, struct event_sink *sink)
{
	CLEANUP(changes_release) struct module_changes changes = {0};
	struct kernel_modules now = {0};
	int error = kernel_modules_here(&now);
	struct module_times times = {watch->known_ns, clock_ns(CLOCK_MONOTONIC)};

	if (error) {
		watch->is_unsettled = error != -ENOENT;
		return 0;
	}
	kernel_modules_compare(&watch->known, &now, times, &changes);
	kernel_modules_release(&watch->known);
	watch->known = now;
	watch->known_ns = start_ns;
	watch->is_unsettled = kernel_modules_are_moving(&now);
	return tell(&changes, times.before_ns, sink);
}

int module_watch_look(struct module_watch *watch, struct event_sink *sink)
{
	u64 start_ns = clock_ns(CLOCK_MONOTONIC);

	if (seen_text_changed(&watch->uevents) || watch->is_unsettled)
		return list(watch, start_ns, sink);
	watch->known_ns = start_ns;
	return 0;
}

void module_watch_free(struct module_watch *watch)
{
	if (!watch)
		return;
	seen_text_close(&watch->uevents);
	kernel_modules_release(&watch->known);
	free(watch);
}
