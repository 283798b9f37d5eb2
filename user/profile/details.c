/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples to rows of details.
 */
#include "profile/details.h"

static u64 socket_of(const struct detail_settings *settings, u32 cpu)
{
	return cpu < settings->socket_count ? (u64)(s64)settings->sockets[cpu] : ~0ull;
}

/* As perf looks for data: in the space that the code ran in. */
static void find_places(struct profile *profile, u32 kept, struct locator *locator,
			const struct sample *sample, struct detail_row *details)
{
	struct virtual_place place = {
		.address = sample->data_address, .pid = sample->pid, .space = sample->space};

	details->values[DETAIL_DATA_ADDRESS] = sample->data_address;
	details->values[DETAIL_CODE_ADDRESS] = sample->address;
	if (kept & 1u << DETAIL_DATA_PLACE)
		details->values[DETAIL_DATA_PLACE] = locator_find_data(locator, profile, &place);
	if (kept & 1u << DETAIL_CODE_PLACE)
		details->values[DETAIL_CODE_PLACE] = locator_find(locator, profile, sample->pid,
								  sample->address, sample->space);
}

static string_id words_of(const struct detail_settings *settings,
			  const struct counted_sample *counted)
{
	const char *words = settings->tell(settings->teller, counted);

	return words ? intern_text(&counted->profile->strings, words) : 0;
}

detail_id details_of(struct profile *profile, const struct detail_settings *settings,
		     struct locator *locator, const struct sample *sample)
{
	struct detail_row details = {0};

	if (!settings->kept)
		return 0;
	if (settings->read)
		settings->read(settings->context, sample, &details);
	if (settings->quantum_ns)
		details.values[DETAIL_TIME] = sample->time_ns -
					      sample->time_ns % settings->quantum_ns;
	details.values[DETAIL_CGROUP] = sample->cgroup;
	find_places(profile, settings->kept, locator, sample, &details);
	if (settings->tell)
		details.values[DETAIL_TRACE] = words_of(
			settings, &(struct counted_sample){sample, profile, locator});
	details.values[DETAIL_SOCKET] = socket_of(settings, sample->cpu);
	for (u32 detail = 0; detail < DETAIL_COUNT; detail++)
		if (!(settings->kept & 1u << detail))
			details.values[detail] = 0;
	return profile_details(profile, &details);
}

void details_add_cgroup(struct profile *profile, const struct cgroup_name *cgroup)
{
	profile_add_cgroup(profile, cgroup->id, intern_text(&profile->strings, cgroup->path));
}
