/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a perf.data: opened, its header printed, all its events looked at.
 */
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Touches every byte that an event lends, so that a sanitizer sees what is not there. */
struct looker {
	struct event_sink sink; /* first */
	u64 sum;
};

static int look_at_sample(struct event_sink *self, const struct sample *sample)
{
	struct looker *looker = (struct looker *)self;

	for (u16 i = 0; i < sample->frame_count; i++)
		looker->sum += sample->frames[i].address;
	for (u16 i = 0; i < sample->branch_count; i++)
		looker->sum += sample->branches[i].to;
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
	perfdata_print_header(data, out);
	fclose(out);
	free(printed);
	perfdata_read(data, &looker.sink);
	perfdata_close(data);
	return 0;
}
