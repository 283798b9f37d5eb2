/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: which events are shown side by side.
 */
#include "cmd/report_state.h"

static bool is_apart(const struct report_settings *settings)
{
	return settings->group_mode == GROUPS_APART ||
	       (settings->group_mode == GROUPS_AS_RECORDED && !settings->has_groups);
}

/* The group of which an event is a member; NULL: none. */
static const struct event_group *group_of(const struct perfdata_header *header, u32 source)
{
	for (u32 i = 0; i < header->group_count; i++)
		if (source - header->groups[i].leader < header->groups[i].members)
			return &header->groups[i];
	return NULL;
}

/* "anon group { cpu-clock, page-faults }"; of events that were no group only their names. */
static char *name_of(const struct report *report, const struct shown_group *group,
		     const struct event_group *recorded)
{
	const struct event_source *sources = report->profile->sources.items;
	struct text name = {0};

	if (recorded)
		text_appendf(&name, "%s { ", recorded->name ? recorded->name : "anon group");
	text_append(&name, sources[group->leader].name);
	for (size_t i = 0; i < group->members.count; i++)
		text_appendf(&name, ", %s", sources[group->members.items[i]].name);
	text_append(&name, recorded ? " }" : NULL);
	return text_take(&name);
}

bool report_group(const struct report *report, u32 source, struct shown_group *ret_group)
{
	const struct perfdata_header *header = perfdata_header(report->data);
	const struct event_group *recorded = group_of(header, source);
	bool is_forced = report->settings->group_mode == GROUPS_FORCED && !header->group_count;
	u32 count = (u32)report->profile->sources.count;
	u32 leader = recorded ? recorded->leader : is_forced ? 0 : source;
	u32 members = recorded ? recorded->members : is_forced ? count : 1;

	*ret_group = (struct shown_group){.leader = source};
	ret_group->is_leader = recorded && leader == source;
	if (is_apart(report->settings))
		return true;
	if (leader != source)
		return false;
	for (u32 row = leader + 1; row < count && row - leader < members; row++)
		*vec_add(&ret_group->members) = row;
	if (ret_group->members.count)
		ret_group->name = name_of(report, ret_group, recorded);
	return true;
}

void report_group_release(struct shown_group *group)
{
	vec_release(&group->members);
	free(group->name);
	*group = (struct shown_group){0};
}
