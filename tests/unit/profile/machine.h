/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A made-up machine for the tests of profile/ and export/: three processes with a few binaries and
 * symbols (the one that perf's own hists tests use), fed into a builder as events, and named.
 */
#ifndef UNIT_PROFILE_MACHINE_H
#define UNIT_PROFILE_MACHINE_H

#include "profile/profile.h"

#include <string.h>

enum {
	PERF1 = 100,
	PERF2 = 200,
	BASH = 300,
	PROGRAM = 0x400000,
	LIBC = 0x500000,
	KERNEL = 0xf00000,
	FIRST = 700, /* offsets of the three symbols of each binary */
	SECOND = 800,
	THIRD = 900,
	SYMBOL_BYTES = 100,
	MAP_BYTES = 0x100000,
};

struct machine_symbol {
	const char *binary, *name;
	u64 offset;
};

static const struct machine_symbol machine_symbols[] = {
	{"perf", "main", FIRST},
	{"perf", "run_command", SECOND},
	{"perf", "cmd_record", THIRD},
	{"bash", "main", FIRST},
	{"bash", "xmalloc", SECOND},
	{"bash", "xfree", THIRD},
	{"libc", "malloc", FIRST},
	{"libc", "free", SECOND},
	{"libc", "realloc", THIRD},
	{"[kernel]", "schedule", FIRST},
	{"[kernel]", "page_fault", SECOND},
	{"[kernel]", "sys_perf_event_open", THIRD},
};

static inline void machine_map(struct event_sink *sink, u32 pid, u64 start, const char *path)
{
	struct mapping mapping = {
		.pid = pid,
		.tid = pid,
		.space = SPACE_USER,
		.start = start,
		.bytes = MAP_BYTES,
		.path = path,
	};

	sink_call(sink, on_mapping, &mapping);
}

static inline void machine_process(struct event_sink *sink, u32 pid, const char *name)
{
	struct thread_name comm = {.pid = pid, .tid = pid, .name = name};

	sink_call(sink, on_name, &comm);
	machine_map(sink, pid, PROGRAM, name);
	machine_map(sink, pid, LIBC, "libc");
	machine_map(sink, pid, KERNEL, "[kernel]");
}

static inline void machine_boot(struct event_sink *sink)
{
	machine_process(sink, PERF1, "perf");
	machine_process(sink, PERF2, "perf");
	machine_process(sink, BASH, "bash");
}

/* Gives every location the name that the machine has for it, as symbolize/ would. */
static inline void machine_name(struct profile *profile)
{
	for (size_t i = 1; i < profile->locations.count; i++) {
		struct location_row *location = &profile->locations.items[i];
		const struct binary_row *binary = &profile->binaries.items[location->binary];

		for (size_t k = 0; k < ARRAY_COUNT(machine_symbols); k++) {
			const struct machine_symbol *symbol = &machine_symbols[k];
			struct function_row function = {
				.binary = location->binary,
				.start = symbol->offset,
				.end = symbol->offset + SYMBOL_BYTES,
			};

			if (strcmp(profile_text(profile, binary->short_name), symbol->binary) ||
			    location->address < function.start || location->address >= function.end)
				continue;
			function.name = intern_text(&profile->strings, symbol->name);
			function.raw_name = function.name;
			location->first_line = (u32)profile->lines.count;
			location->line_count = 1;
			*vec_add(&profile->lines) = (struct line_row){
				.function = profile_function(profile, &function),
			};
		}
	}
}

struct machine_sample {
	u32 pid, cpu;
	u64 address;
	u64 chain[8]; /* innermost first, 0 ends */
};

static inline void machine_take(struct event_sink *sink, const struct machine_sample *given,
				u64 weight, u32 source)
{
	struct frame frames[8];
	struct sample sample = {
		.weight = weight,
		.address = given->address,
		.source = source,
		.pid = given->pid,
		.tid = given->pid,
		.cpu = given->cpu,
		.space = SPACE_USER,
		.frames = frames,
	};

	for (u32 i = 0; i < 8 && given->chain[i]; i++) {
		frames[i] = (struct frame){.address = given->chain[i], .space = SPACE_USER};
		sample.frame_count++;
	}
	sample.has_chain = sample.frame_count > 0;
	sink_call(sink, on_sample, &sample);
}

/* The ten samples of perf's hists_cumulate test (facts 7.2). */
static const struct machine_sample machine_cumulate[] = {
	{PERF1, 0, KERNEL + FIRST, {KERNEL + FIRST, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1, 1, PROGRAM + FIRST, {PROGRAM + FIRST}},
	{PERF1, 1, PROGRAM + THIRD, {PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1,
	 1,
	 LIBC + FIRST,
	 {LIBC + FIRST, PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF1,
	 2,
	 LIBC + SECOND,
	 {LIBC + SECOND, PROGRAM + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{PERF2, 2, PROGRAM + FIRST, {PROGRAM + FIRST}},
	{PERF2,
	 2,
	 KERNEL + SECOND,
	 {KERNEL + SECOND, KERNEL + THIRD, PROGRAM + SECOND, PROGRAM + FIRST}},
	{BASH, 3, PROGRAM + FIRST, {PROGRAM + FIRST}},
	{BASH,
	 0,
	 PROGRAM + SECOND,
	 {PROGRAM + SECOND, LIBC + FIRST, PROGRAM + SECOND, LIBC + FIRST, PROGRAM + SECOND,
	  PROGRAM + FIRST}},
	{BASH, 1, KERNEL + SECOND, {KERNEL + SECOND, LIBC + FIRST, PROGRAM + FIRST}},
};

/* What a builder makes of samples of this machine; with_chains false drops the chains. The caller
 * frees the profile. */
static inline struct profile *machine_profile(const struct machine_sample *samples, size_t count,
					      u64 weight, bool with_chains)
{
	static const struct event_source source = {.name = "cpu-clock"};
	struct builder_settings settings = {
		.keep = KEEP_PID | KEEP_TID | KEEP_CPU,
		.skip_chains = !with_chains,
	};
	struct profile_builder *builder = profile_builder_new(&settings, &source, 1);
	struct event_sink *sink = profile_builder_sink(builder);
	struct profile *profile;

	machine_boot(sink);
	for (size_t i = 0; i < count; i++)
		machine_take(sink, &samples[i], weight, 0);
	profile = profile_builder_take(builder);
	profile_builder_free(builder);
	machine_name(profile);
	return profile;
}

#endif
