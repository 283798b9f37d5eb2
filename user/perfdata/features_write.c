/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feature payloads: this machine, the command line, the events.
 */
#include "perfdata/features_write.h"

#include "base/memory.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef BPFPROF_VERSION
#define BPFPROF_VERSION "unknown"
#endif

static void append_u32(struct text *payload, u32 value)
{
	text_append_bytes(payload, &value, sizeof(value));
}

static void append_u64(struct text *payload, u64 value)
{
	text_append_bytes(payload, &value, sizeof(value));
}

static void append_zeros(struct text *payload, size_t count)
{
	static const char zeros[TEXT_ALIGN_BYTES];

	text_append_bytes(payload, zeros, count);
}

/* Length and string, padded to a multiple of `align_bytes`. */
static void append_aligned(struct text *payload, const char *string, size_t align_bytes)
{
	size_t length = strlen(string), padded = round_up(length + 1, align_bytes);

	append_u32(payload, (u32)padded);
	text_append_bytes(payload, string, length);
	append_zeros(payload, padded - length);
}

/* Perf pads to TEXT_ALIGN_BYTES, which would be half of the header, and takes any length. */
static void append_string(struct text *payload, const char *string)
{
	append_aligned(payload, string, sizeof(u32));
}

/* Those of the topology are as perf pads them: it reckons from that whether more follows them. */
static void append_strings(struct text *payload, char *const *strings, u32 count)
{
	append_u32(payload, count);
	for (u32 i = 0; i < count; i++)
		append_aligned(payload, strings[i], TEXT_ALIGN_BYTES);
}

static void append_hostname(const struct feature_facts *facts, struct text *payload)
{
	append_string(payload, facts->machine->hostname);
}

static void append_os_release(const struct feature_facts *facts, struct text *payload)
{
	append_string(payload, facts->machine->os_release);
}

static void append_version(const struct feature_facts *facts, struct text *payload)
{
	append_string(payload, "bpfprof " BPFPROF_VERSION);
	(void)facts;
}

static void append_arch(const struct feature_facts *facts, struct text *payload)
{
	append_string(payload, facts->machine->arch);
}

static void append_cpu_counts(const struct feature_facts *facts, struct text *payload)
{
	append_u32(payload, facts->machine->cpus_available);
	append_u32(payload, facts->machine->cpus_online);
}

static void append_cpu_description(const struct feature_facts *facts, struct text *payload)
{
	append_string(payload, facts->machine->cpu_description);
}

static void append_cpu_id(const struct feature_facts *facts, struct text *payload)
{
	append_string(payload, facts->machine->cpu_id);
}

static void append_memory(const struct feature_facts *facts, struct text *payload)
{
	append_u64(payload, facts->machine->memory_kb);
}

static void append_command_line(const struct feature_facts *facts, struct text *payload)
{
	const struct perfdata_writer_settings *settings = facts->settings;

	if (settings->command_words <= 0)
		return;
	append_u32(payload, (u32)settings->command_words);
	for (int i = 0; i < settings->command_words; i++)
		append_string(payload, settings->command_line[i]);
}

static void append_events(const struct feature_facts *facts, struct text *payload)
{
	const struct perfdata_writer_settings *settings = facts->settings;
	const struct encoder *encoder = facts->encoder;

	append_u32(payload, settings->source_count);
	append_u32(payload, sizeof(struct wire_attr));
	for (u32 i = 0; i < settings->source_count; i++) {
		const struct event_source *source = &settings->sources[i];

		text_append_bytes(payload, &encoder->attrs.items[i], sizeof(struct wire_attr));
		append_u32(payload, source->id_count ? source->id_count : 1);
		append_string(payload, source->name);
		if (source->id_count)
			text_append_bytes(payload, source->ids,
					  source->id_count * sizeof(source->ids[0]));
		else
			append_u64(payload, encoder->ids.items[i]);
	}
}

static void append_topology(const struct feature_facts *facts, struct text *payload)
{
	const struct machine *machine = facts->machine;

	if (!machine->cpus || !machine->package_count)
		return;
	append_strings(payload, machine->package_lists, machine->package_count);
	append_strings(payload, machine->core_lists, machine->core_count);
	for (u32 i = 0; i < machine->cpus_available; i++) {
		append_u32(payload, machine->cpus[i].core_id);
		append_u32(payload, machine->cpus[i].socket_id);
	}
	if (!machine->die_count)
		return;
	append_strings(payload, machine->die_lists, machine->die_count);
	for (u32 i = 0; i < machine->cpus_available; i++)
		append_u32(payload, machine->cpus[i].die_id);
}

static void append_clock_resolution(const struct feature_facts *facts, struct text *payload)
{
	struct timespec resolution = {.tv_nsec = 1};

	clock_getres((clockid_t)facts->settings->clock_id, &resolution);
	append_u64(payload, (u64)resolution.tv_nsec);
}

static void append_capabilities(const struct feature_facts *facts, struct text *payload)
{
	CLEANUP(freep) char *depth = must_format("%u", facts->settings->branch_depth);

	if (!facts->settings->branch_depth)
		return;
	append_u32(payload, 1);
	append_string(payload, "branches");
	append_string(payload, depth);
}

static void append_clocks(const struct feature_facts *facts, struct text *payload)
{
	enum { VERSION = 1 };

	append_u32(payload, VERSION);
	append_u32(payload, facts->settings->clock_id);
	append_u64(payload, facts->settings->wall_clock_ns);
	append_u64(payload, facts->settings->clock_ns);
}

/* Ascending, as the table of features is. */
static const struct {
	u32 feature;
	void (*append)(const struct feature_facts *facts, struct text *payload);
} rows[] = {
	{FEATURE_HOSTNAME, append_hostname},
	{FEATURE_OSRELEASE, append_os_release},
	{FEATURE_VERSION, append_version},
	{FEATURE_ARCH, append_arch},
	{FEATURE_NRCPUS, append_cpu_counts},
	{FEATURE_CPUDESC, append_cpu_description},
	{FEATURE_CPUID, append_cpu_id},
	{FEATURE_TOTAL_MEM, append_memory},
	{FEATURE_CMDLINE, append_command_line},
	{FEATURE_EVENT_DESC, append_events},
	{FEATURE_CPU_TOPOLOGY, append_topology},
	{FEATURE_CLOCKID, append_clock_resolution},
	{FEATURE_CPU_PMU_CAPS, append_capabilities},
	{FEATURE_CLOCK_DATA, append_clocks},
};

u32 feature_append(const struct feature_facts *facts, u32 row, struct text *payload)
{
	size_t before = payload->length;

	if (row >= ARRAY_COUNT(rows))
		return 0;
	rows[row].append(facts, payload);
	append_zeros(payload, round_up(payload->length - before, 8) - (payload->length - before));
	return rows[row].feature;
}

void feature_append_build_id(const struct mapping *mapping, struct text *payload)
{
	/* the kernel is listed without its reference symbol */
	size_t length = mapping_name_bytes(mapping->path);
	size_t padded = round_up(length + 1, TEXT_ALIGN_BYTES);
	struct record_header header = {
		.misc = (u16)(mapping->space | MISC_BUILD_ID_SIZE),
		.size_bytes = (u16)(BUILD_ID_FIXED_BYTES + padded),
	};
	u8 id[BUILD_ID_MAX_BYTES + 4] = {0};

	if (padded > RECORD_MAX_BYTES / 2)
		return; /* no path is that long */
	memcpy(id, mapping->build_id, mapping->build_id_bytes);
	id[BUILD_ID_MAX_BYTES] = mapping->build_id_bytes;
	text_append_bytes(payload, &header, sizeof(header));
	append_u32(payload, ~0u); /* the host's, not a guest's */
	text_append_bytes(payload, id, sizeof(id));
	text_append_bytes(payload, mapping->path, length);
	append_zeros(payload, padded - length);
}
