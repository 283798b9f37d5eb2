/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that keeps every event as a line of text, so that a test can compare what came.
 */
#ifndef TESTS_PERFDATA_COLLECT_H
#define TESTS_PERFDATA_COLLECT_H

#include "base/text.h"
#include "event/event.h"

#include <inttypes.h>

struct collector {
	struct event_sink sink; /* first: sink and collector have one address */
	struct text lines;
	u64 samples, others, losses;
	bool has_ended;
};

static int collect_sample(struct event_sink *self, const struct sample *sample)
{
	struct collector *collector = (struct collector *)self;
	struct text *lines = &collector->lines;

	collector->samples++;
	text_appendf(lines,
		     "sample %" PRIu64 " source %u pid %d tid %d cpu %d weight %" PRIu64
		     " at %" PRIx64 " space %u data %" PRIx64 " cut %u",
		     sample->time_ns, sample->source, sample->pid, sample->tid, sample->cpu,
		     sample->weight, sample->address, sample->space, sample->data_address,
		     sample->cut);
	if (sample->walked)
		text_appendf(lines, " walked %u", sample->walked);
	text_append(lines, ":");
	for (u16 i = 0; i < sample->frame_count; i++)
		text_appendf(lines, " %" PRIx64 "/%u/%u", sample->frames[i].address,
			     sample->frames[i].space, sample->frames[i].origin);
	for (u16 i = 0; i < sample->branch_count; i++)
		text_appendf(lines, " %" PRIx64 ">%" PRIx64 "!%" PRIx64, sample->branches[i].from,
			     sample->branches[i].to, sample->branches[i].flags);
	if (sample->branch_count)
		text_appendf(lines, " hw_idx %" PRId64, sample->hw_idx);
	text_append(lines, "\n");
	return 0;
}

static int collect_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct collector *collector = (struct collector *)self;
	struct text *lines = &collector->lines;

	collector->others++;
	text_appendf(lines,
		     "mapping %" PRIu64 " pid %d tid %d space %u data %d %" PRIx64 "+%" PRIx64
		     " from %" PRIx64 " device %u:%u inode %" PRIu64 "/%" PRIu64 " %u %u %s id ",
		     mapping->time_ns, mapping->pid, mapping->tid, mapping->space, mapping->is_data,
		     mapping->start, mapping->bytes, mapping->file_offset, mapping->major,
		     mapping->minor, mapping->inode, mapping->inode_generation, mapping->protection,
		     mapping->flags, mapping->path);
	for (u8 i = 0; i < mapping->build_id_bytes; i++)
		text_appendf(lines, "%02x", mapping->build_id[i]);
	text_append(lines, "\n");
	return 0;
}

static int collect_name(struct event_sink *self, const struct thread_name *name)
{
	struct collector *collector = (struct collector *)self;

	collector->others++;
	text_appendf(&collector->lines, "name %" PRIu64 " pid %d tid %d exec %d %s\n",
		     name->time_ns, name->pid, name->tid, name->is_exec, name->name);
	return 0;
}

static void collect_life(struct event_sink *self, const char *what, const struct thread_life *life)
{
	struct collector *collector = (struct collector *)self;

	collector->others++;
	text_appendf(&collector->lines, "%s %" PRIu64 " pid %d tid %d of %d %d found %d\n", what,
		     life->time_ns, life->pid, life->tid, life->parent_pid, life->parent_tid,
		     life->is_synthesized);
}

static int collect_fork(struct event_sink *self, const struct thread_life *life)
{
	collect_life(self, "fork", life);
	return 0;
}

static int collect_exit(struct event_sink *self, const struct thread_life *life)
{
	collect_life(self, "exit", life);
	return 0;
}

static int collect_kernel_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	struct collector *collector = (struct collector *)self;

	collector->others++;
	text_appendf(&collector->lines, "symbol %" PRIu64 " %" PRIx64 "+%x type %u flags %u %s\n",
		     symbol->time_ns, symbol->start, symbol->bytes, symbol->type, symbol->flags,
		     symbol->name);
	return 0;
}

static int collect_bpf_program(struct event_sink *self, const struct bpf_program *program)
{
	struct collector *collector = (struct collector *)self;

	collector->others++;
	text_appendf(&collector->lines, "program %" PRIu64 " type %u flags %u id %u %02x%02x\n",
		     program->time_ns, program->type, program->flags, program->id, program->tag[0],
		     program->tag[7]);
	return 0;
}

static int collect_cgroup(struct event_sink *self, const struct cgroup_name *cgroup)
{
	struct collector *collector = (struct collector *)self;

	collector->others++;
	text_appendf(&collector->lines, "cgroup %" PRIu64 " %" PRIu64 " %s\n", cgroup->time_ns,
		     cgroup->id, cgroup->path);
	return 0;
}

static int collect_loss(struct event_sink *self, const struct loss *loss)
{
	struct collector *collector = (struct collector *)self;

	collector->losses += loss->count;
	text_appendf(&collector->lines, "loss %" PRIu64 " %" PRIu64 " reason %u source %d\n",
		     loss->time_ns, loss->count, loss->reason, loss->source);
	return 0;
}

static int collect_end(struct event_sink *self)
{
	((struct collector *)self)->has_ended = true;
	return 0;
}

/* An empty collector; text_release(&collector.lines) in the end. */
static inline struct collector collector_make(void)
{
	return (struct collector){
		.sink = {.on_sample = collect_sample,
			 .on_mapping = collect_mapping,
			 .on_name = collect_name,
			 .on_fork = collect_fork,
			 .on_exit = collect_exit,
			 .on_kernel_symbol = collect_kernel_symbol,
			 .on_bpf_program = collect_bpf_program,
			 .on_cgroup = collect_cgroup,
			 .on_loss = collect_loss,
			 .on_end = collect_end},
	};
}

#endif
