/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the unwinder in front of whoever counts or prints samples.
 */
#include "cmd/unwinding.h"

#include <string.h>
#include <sys/utsname.h>

enum { NS_PER_S = 1000000000 };

bool unwinding_is_needed(const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		if (sources[i].has_copied_stack)
			return true;
	return false;
}

/* The last moment in which something of the recording was written. */
static u64 recorded_until_ns(const struct perfdata_header *header)
{
	return header->captured_s > 0 ? ((u64)header->captured_s + 1) * NS_PER_S : 0;
}

struct event_sink *unwinding_before(struct event_sink *next, const struct perfdata *data,
				    const char *symfs, bool like_perf,
				    struct sample_unwinder **ret_unwinder)
{
	const struct perfdata_header *header = perfdata_header(data);
	struct sample_unwinder_settings settings = {
		.symfs = symfs,
		.arch = header->arch,
		.recorded_until_ns = recorded_until_ns(header),
		.wants_files = like_perf,
	};
	struct utsname ours;
	u32 count;

	*ret_unwinder = NULL;
	if (!unwinding_is_needed(data))
		return next;
	settings.has_our_kernel = !uname(&ours) && header->os_release &&
				  !strcmp(header->os_release, ours.release);
	*ret_unwinder = sample_unwinder_new(&settings, perfdata_sources(data, &count), next);
	return sample_unwinder_sink(*ret_unwinder);
}
