/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a perf.data: opened, its header printed, all its events looked at, with everything
 * that a sample's record holds; then all its records dumped. Opened again, for who only counts: he
 * hears the same samples.
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
	u64 tally; /* of the samples, in their order */
};

/* What a sample is counted by. */
static void tally(struct looker *looker, const struct sample *sample)
{
	const u64 words[] = {sample->time_ns, sample->weight, sample->address, sample->source,
			     sample->pid,     sample->tid,    sample->cpu};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		looker->tally = (looker->tally ^ words[i]) * 0x100000001b3;
}

static int tally_sample(struct event_sink *self, const struct sample *sample)
{
	tally((struct looker *)self, sample);
	return 0;
}

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
	tally(looker, sample);
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

/* For who does not want to hear of processes without samples. */
static void count_all(struct bytes bytes, int error, u64 wanted)
{
	struct looker looker = {.sink = {.on_sample = tally_sample,
					 .on_mapping = look_at_mapping,
					 .on_name = look_at_name}};
	struct perfdata *data;

	if (perfdata_open_bytes(bytes, &data))
		abort(); /* it was opened before */
	perfdata_skip_bystanders(data);
	if (perfdata_read(data, &looker.sink) != error || looker.tally != wanted)
		abort();
	perfdata_close(data);
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
	struct bytes all = {bytes, count};
	size_t length;
	int error;
	FILE *out;

	if (perfdata_open_bytes(all, &data))
		return 0;
	out = open_memstream(&printed, &length);
	perfdata_print_header(data, true, out);
	fclose(out);
	free(printed);
	looker.data = data;
	error = perfdata_read(data, &looker.sink);
	dump_all(data);
	perfdata_close(data);
	count_all(all, error, looker.tally);
	return 0;
}
