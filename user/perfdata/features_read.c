/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the feature sections of a perf.data say, one function a feature.
 */
#include "perfdata/attr.h"
#include "perfdata/session.h"

#include <stdarg.h>

/* A length and a padded string; interned, NULL if it is damaged. */
static const char *read_string(struct perfdata *data, struct cursor *cursor)
{
	const char *text = cursor_text(cursor, cursor_u32(cursor));

	return text ? intern_view(&data->strings, intern_text(&data->strings, text)) : NULL;
}

static void read_hostname(struct perfdata *data, struct cursor *cursor)
{
	data->header.hostname = read_string(data, cursor);
}

static void read_os_release(struct perfdata *data, struct cursor *cursor)
{
	data->header.os_release = read_string(data, cursor);
}

static void read_version(struct perfdata *data, struct cursor *cursor)
{
	data->header.version = read_string(data, cursor);
}

static void read_arch(struct perfdata *data, struct cursor *cursor)
{
	data->header.arch = read_string(data, cursor);
}

static void read_cpu_description(struct perfdata *data, struct cursor *cursor)
{
	data->header.cpu_description = read_string(data, cursor);
}

static void read_cpu_id(struct perfdata *data, struct cursor *cursor)
{
	data->header.cpu_id = read_string(data, cursor);
}

static void read_cpu_counts(struct perfdata *data, struct cursor *cursor)
{
	data->header.cpus_available = cursor_u32(cursor);
	data->header.cpus_online = cursor_u32(cursor);
}

static void read_memory(struct perfdata *data, struct cursor *cursor)
{
	data->header.memory_kb = cursor_u64(cursor);
}

static void read_command_line(struct perfdata *data, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	data->words.count = 0;
	for (u32 i = 0; i < count; i++) {
		const char *word = read_string(data, cursor);

		if (!word)
			break;
		*vec_add(&data->words) = word;
	}
	data->header.command_line = data->words.items;
	data->header.command_words = (u32)data->words.count;
}

/* Names for the events, found by their ids; or by place where there are no ids. */
static void read_event_names(struct perfdata *data, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor), attr_bytes = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		u32 id_count, row = 0;
		const char *name;

		cursor_take(cursor, attr_bytes);
		id_count = cursor_u32(cursor);
		name = read_string(data, cursor);
		for (u32 id = 0; id < id_count && !cursor->overrun; id++) {
			u32 found = idmap_get(&data->decoder.kind_of_id, cursor_u64(cursor));

			row = row ? row : found;
		}
		if (!id_count)
			row = i + 1;
		if (cursor->overrun || !row || row > data->decoder.kinds.count)
			continue;
		free(data->decoder.kinds.items[row - 1].name);
		data->decoder.kinds.items[row - 1].name = must_copy(name);
	}
}

static void skip_strings(struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++)
		cursor_take(cursor, cursor_u32(cursor));
}

/* Lists of CPUs by package and by core, and, since Linux 4.6, core and package of each. */
static void read_topology(struct perfdata *data, struct cursor *cursor)
{
	data->sockets.count = 0;
	skip_strings(cursor);
	skip_strings(cursor);
	for (u32 i = 0; i < data->header.cpus_available && cursor_left(cursor) && !cursor->overrun;
	     i++) {
		cursor_u32(cursor);
		*vec_add(&data->sockets) = (s32)cursor_u32(cursor);
	}
	data->header.sockets = data->sockets.items;
	data->header.socket_count = (u32)data->sockets.count;
}

static void read_sample_times(struct perfdata *data, struct cursor *cursor)
{
	data->header.first_sample_ns = cursor_u64(cursor);
	data->header.last_sample_ns = cursor_u64(cursor);
}

static void read_groups(struct perfdata *data, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	data->groups.count = 0;
	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		struct event_group group = {.name = read_string(data, cursor)};

		group.leader = cursor_u32(cursor);
		group.members = cursor_u32(cursor);
		if (group.name && !strcmp(group.name, "{anon_group}"))
			group.name = NULL;
		if (!cursor->overrun && group.members > 1)
			*vec_add(&data->groups) = group;
	}
	data->header.groups = data->groups.items;
	data->header.group_count = (u32)data->groups.count;
}

static void read_branch_stack(struct perfdata *data, struct cursor *cursor)
{
	(void)cursor;
	data->header.has_branch_feature = true;
}

static void read_pmu_capabilities(struct perfdata *data, struct cursor *cursor)
{
	u32 count = cursor_u32(cursor);

	for (u32 i = 0; i < count && !cursor->overrun; i++) {
		const char *name = read_string(data, cursor), *value = read_string(data, cursor);

		if (name && value && !strcmp(name, "branches"))
			data->header.branch_depth = (u32)strtoul(value, NULL, 10);
	}
}

static void read_clocks(struct perfdata *data, struct cursor *cursor)
{
	u32 version = cursor_u32(cursor);

	data->header.clock_id = cursor_u32(cursor);
	data->header.wall_clock_ns = cursor_u64(cursor);
	data->header.clock_ns = cursor_u64(cursor);
	data->header.has_clock = version == 1 && !cursor->overrun;
}

static void read_compression(struct perfdata *data, struct cursor *cursor)
{
	data->header.is_compressed = true;
	(void)cursor;
}

typedef void feature_read(struct perfdata *data, struct cursor *cursor);

static feature_read *const feature_readers[] = {
	[FEATURE_HOSTNAME] = read_hostname,
	[FEATURE_OSRELEASE] = read_os_release,
	[FEATURE_VERSION] = read_version,
	[FEATURE_ARCH] = read_arch,
	[FEATURE_NRCPUS] = read_cpu_counts,
	[FEATURE_CPUDESC] = read_cpu_description,
	[FEATURE_CPUID] = read_cpu_id,
	[FEATURE_TOTAL_MEM] = read_memory,
	[FEATURE_CMDLINE] = read_command_line,
	[FEATURE_EVENT_DESC] = read_event_names,
	[FEATURE_CPU_TOPOLOGY] = read_topology,
	[FEATURE_GROUP_DESC] = read_groups,
	[FEATURE_SAMPLE_TIME] = read_sample_times,
	[FEATURE_COMPRESSED] = read_compression,
	[FEATURE_BRANCH_STACK] = read_branch_stack,
	[FEATURE_CPU_PMU_CAPS] = read_pmu_capabilities,
	[FEATURE_CLOCK_DATA] = read_clocks,
};

void session_read_feature(struct perfdata *data, u32 feature)
{
	struct cursor cursor;

	if (feature >= FEATURE_BITS || !data->features[feature].start)
		return;
	if (feature == FEATURE_BUILD_ID) {
		session_read_build_ids(data, data->features[feature]);
		return;
	}
	if (feature >= FEATURE_KNOWN && !data->has_unknown_feature)
		session_warn(data, "features from number %u on are not known and were passed over",
			     feature);
	data->has_unknown_feature |= feature >= FEATURE_KNOWN;
	if (feature >= ARRAY_COUNT(feature_readers) || !feature_readers[feature])
		return;
	cursor = cursor_of(data->features[feature]);
	cursor.swap = data->decoder.swap;
	feature_readers[feature](data, &cursor);
	if (cursor.overrun)
		session_warn(data, "feature %u is damaged", feature);
}

/* perf record --call-graph dwarf */
static bool has_copied_stack(const struct wire_attr *attr)
{
	const u64 needed = SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER;

	return (attr->sample_type & needed) == needed;
}

static struct event_source source_of(const struct event_kind *kind)
{
	const struct wire_attr *attr = &kind->attr;

	return (struct event_source){
		.name = kind->name,
		.type = attr->type,
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.rate = attr->period_or_frequency,
		.is_frequency = attr->flags & ATTR_BIT(freq),
		.exclude_user = attr->flags & ATTR_BIT(exclude_user),
		.exclude_kernel = attr->flags & ATTR_BIT(exclude_kernel),
		.exclude_idle = attr->flags & ATTR_BIT(exclude_idle),
		.precise = (attr->flags >> ATTR_precise) & 3,
		.has_chain = attr->sample_type & SAMPLE_CALLCHAIN,
		.has_copied_stack = has_copied_stack(attr),
		.has_branches = attr->sample_type & SAMPLE_BRANCH_STACK,
		.has_time = attr->sample_type & SAMPLE_TIME,
		.has_cpu = attr->sample_type & SAMPLE_CPU,
		.has_period = attr->sample_type & SAMPLE_PERIOD,
		.branch_bits = attr->branch_sample_type,
		.sample_bits = attr->sample_type,
		.user_registers = attr->sample_type & SAMPLE_REGS_USER ? attr->regs_user : 0,
		.ids = kind->ids.items,
		.id_count = (u32)kind->ids.count,
	};
}

void session_read_sources(struct perfdata *data)
{
	data->sources.count = 0;
	for (size_t i = 0; i < data->decoder.kinds.count; i++) {
		struct event_kind *kind = &data->decoder.kinds.items[i];
		struct text name = {0};

		if (!kind->name) {
			attr_append_name(&kind->attr, &name);
			kind->name = text_take(&name);
		}
		*vec_add(&data->sources) = source_of(kind);
	}
}

void session_read_build_ids(struct perfdata *data, struct bytes records)
{
	enum { ID_AT = 12, LENGTH_AT = ID_AT + BUILD_ID_MAX_BYTES };
	struct cursor cursor = cursor_of(records);

	while (cursor_left(&cursor) > BUILD_ID_FIXED_BYTES) {
		struct record_header header = decode_header(&data->decoder, cursor.next);
		const u8 *record = cursor_take(&cursor, header.size_bytes);
		u8 bytes = BUILD_ID_MAX_BYTES;

		if (!record || header.size_bytes <= BUILD_ID_FIXED_BYTES)
			return;
		if (header.misc & MISC_BUILD_ID_SIZE)
			bytes = record[LENGTH_AT];
		if (bytes > BUILD_ID_MAX_BYTES || !memchr(record + BUILD_ID_FIXED_BYTES, 0,
							  header.size_bytes - BUILD_ID_FIXED_BYTES))
			continue;
		decoder_add_build_id(&data->decoder, (const char *)record + BUILD_ID_FIXED_BYTES,
				     record + ID_AT, bytes);
	}
}

void session_damaged(struct perfdata *data, const char *format, ...)
{
	struct text what = {0};
	va_list arguments;

	if (data->damage.what)
		return;
	va_start(arguments, format);
	text_appendv(&what, format, arguments);
	va_end(arguments);
	data->damage.what = text_take(&what);
}

void session_warn(struct perfdata *data, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_appendv(&data->warnings, format, arguments);
	va_end(arguments);
	text_append(&data->warnings, "\n");
}
