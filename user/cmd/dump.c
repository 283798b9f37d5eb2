/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording dumped, without anybody who counts its samples.
 */
#include "cmd/dump.h"

#include "base/memory.h"
#include "base/text.h"
#include "perfdata/perfdata.h"
#include "profile/profile.h"

struct dumper {
	struct event_sink sink; /* first */
	struct perfdata_listener listener;
	struct perfdata *data;
	struct locator *locator;
	struct profile *profile;
	FILE *out;
};

void dump_place(const char *comm, u32 tid, const char *path, FILE *out)
{
	struct text text = {0};

	text_append(&text, " ... thread: ");
	text_append_printable(&text, comm);
	text_appendf(&text, ":%d\n ...... dso: ", (int)tid);
	text_append_printable(&text, path ? path : "<not found>");
	fprintf(out, "%s\n", text_view(&text));
	text_release(&text);
}

static int place_sample(struct event_sink *self, const struct sample *sample)
{
	struct dumper *dumper = (struct dumper *)self;
	binary_id binary = locator_binary(dumper->locator, dumper->profile, sample->pid,
					  sample->address, sample->space);
	string_id path = dumper->profile->binaries.items[binary].path;

	dump_place(locator_thread_name(dumper->locator, sample->tid), sample->tid,
		   binary ? profile_text(dumper->profile, path) : NULL, dumper->out);
	return 0;
}

static int dump(struct perfdata_listener *self, const struct perfdata_record *record)
{
	struct dumper *dumper = (struct dumper *)((char *)self - offsetof(struct dumper, listener));

	perfdata_dump_record(dumper->data, record, dumper->out);
	return 0;
}

int dump_recording(const char *path, FILE *out)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	struct dumper dumper = {
		.sink.on_sample = place_sample, .listener.before = dump, .out = out};
	struct event_sink *both[2], *first;
	int error = perfdata_open_listed(path, &data);

	if (error)
		return error;
	dumper.data = data;
	dumper.locator = locator_new();
	dumper.profile = profile_new();
	both[0] = locator_sink(dumper.locator);
	both[1] = &dumper.sink;
	first = tee_new(both, ARRAY_COUNT(both));
	perfdata_listen(data, &dumper.listener, ORDER_DELIVERED);
	error = perfdata_read(data, first);
	tee_free(first);
	locator_free(dumper.locator);
	profile_free(dumper.profile);
	return error;
}
