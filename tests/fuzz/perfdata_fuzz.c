/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a perf.data: opened, its header printed, all its events looked at, with everything
 * that a sample's record holds; then all its records dumped.
 */
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Touches every byte that an event lends, so that a sanitizer sees what is not there. */
struct looker {
	struct event_sink sink; /* first */
	struct perfdata *data;
	u64 sum;
};

static void look_at_bytes(struct looker *looker, const u8 *start, size_t length)
{
	for (size_t i = 0; i < length; i++)
		looker->sum += start[i];
}

static void look_at_registers(struct looker *looker, const struct registers *registers)
{
	if (registers->words)
		look_at_bytes(looker, registers->words,
			      sizeof(u64) * (size_t)__builtin_popcountll(registers->mask));
}

static void look_at_details(struct looker *looker, const struct sample *sample)
{
	const struct sample_details *details = perfdata_details(looker->data, sample);

	if (sample->user_stack)
		look_at_bytes(looker, sample->user_stack, sample->stack_bytes);
	if (!details)
		abort(); /* what was read once is read twice */
	look_at_registers(looker, &details->user_registers);
	look_at_registers(looker, &details->interrupt_registers);
	look_at_bytes(looker, details->raw.start, details->raw.length);
	look_at_bytes(looker, details->aux.start, details->aux.length);
	looker->sum += details->weight + details->id;
}

static int look_at_sample(struct event_sink *self, const struct sample *sample)
{
	struct looker *looker = (struct looker *)self;

	for (u16 i = 0; i < sample->frame_count; i++)
		looker->sum += sample->frames[i].address;
	for (u16 i = 0; i < sample->branch_count; i++)
		looker->sum += sample->branches[i].to;
	look_at_details(looker, sample);
	return 0;
}

static int look_at_mapping(struct event_sink *self, const struct mapping *mapping)
{
	((struct looker *)self)->sum += strlen(mapping->path);
	return 0;
}

static int look_at_name(struct event_sink *self, const struct thread_name *name)
{
	((struct looker *)self)->sum += strlen(name->name);
	return 0;
}

static int look_at_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	((struct looker *)self)->sum += strlen(symbol->name);
	return 0;
}

static int look_at_cgroup(struct event_sink *self, const struct cgroup_name *cgroup)
{
	((struct looker *)self)->sum += strlen(cgroup->path);
	return 0;
}

/* Prints what it hears of. */
struct dumper {
	struct perfdata_listener listener; /* first */
	struct perfdata *data;
	FILE *out;
};

static int dump(struct perfdata_listener *self, const struct perfdata_record *record)
{
	struct dumper *dumper = (struct dumper *)self;

	perfdata_dump_record(dumper->data, record, dumper->out);
	perfdata_print_record(dumper->data, record, dumper->out);
	perfdata_record_thread(dumper->data, record);
	return 0;
}

static void dump_all(struct perfdata *data)
{
	struct event_sink nobody = {0};
	struct dumper dumper = {.listener.before = dump, .data = data};
	char *printed = NULL;
	size_t length;

	dumper.out = open_memstream(&printed, &length);
	perfdata_listen(data, &dumper.listener, ORDER_DELIVERED);
	perfdata_read(data, &nobody);
	fclose(dumper.out);
	free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct looker looker = {
		.sink = {.on_sample = look_at_sample,
			 .on_mapping = look_at_mapping,
			 .on_name = look_at_name,
			 .on_kernel_symbol = look_at_symbol,
			 .on_cgroup = look_at_cgroup},
	};
	struct perfdata *data;
	char *printed = NULL;
	size_t length;
	FILE *out;

	if (perfdata_open_bytes((struct bytes){.start = bytes, .length = count}, &data))
		return 0;
	out = open_memstream(&printed, &length);
	perfdata_print_header(data, true, out);
	fclose(out);
	free(printed);
	looker.data = data;
	perfdata_read(data, &looker.sink);
	dump_all(data);
	perfdata_close(data);
	return 0;
}
