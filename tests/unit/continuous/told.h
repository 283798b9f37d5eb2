/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that writes down what it is told.
 */
#ifndef TOLD_H
#define TOLD_H

#include "base/text.h"
#include "continuous/continuous.h"
#include "unit/unit.h"

/* What a window handed over, a line for each event. */
struct told {
	struct event_sink sink;
	struct text text;
	u64 samples, weight;
};

/* An address; where code of files is told to lie, as the number of the file and the place in it. */
static inline void tell_address(struct text *text, u64 address)
{
	if (address >> 56 == 1)
		text_appendf(text, "F%llu+%llx", (unsigned long long)(address << 8 >> 40),
			     (unsigned long long)(u32)address);
	else
		text_appendf(text, "%llx", (unsigned long long)address);
}

static inline int tell_sample(struct event_sink *sink, const struct sample *sample)
{
	struct told *told = (struct told *)sink;

	told->samples += sample->count;
	told->weight += sample->weight;
	text_appendf(&told->text, "%llu sample %u ", (unsigned long long)sample->time_ns,
		     sample->tid);
	tell_address(&told->text, sample->address);
	text_appendf(&told->text, " x%u w%llu f%u", sample->count,
		     (unsigned long long)sample->weight, sample->frame_count);
	if (sample->cgroup)
		text_appendf(&told->text, " g%llu", (unsigned long long)sample->cgroup);
	text_append(&told->text, "\n");
	return 0;
}

static inline int tell_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	text_appendf(&((struct told *)sink)->text, "%llu cgroup %llu %s\n",
		     (unsigned long long)cgroup->time_ns, (unsigned long long)cgroup->id,
		     cgroup->path);
	return 0;
}

static inline int tell_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct text *text = &((struct told *)sink)->text;

	text_appendf(text, "%llu map %d %s ", (unsigned long long)mapping->time_ns,
		     (int)mapping->pid, mapping->path);
	tell_address(text, mapping->start);
	text_append(text, "\n");
	return 0;
}

static inline int tell_name(struct event_sink *sink, const struct thread_name *name)
{
	text_appendf(&((struct told *)sink)->text, "%llu name %u %s%s\n",
		     (unsigned long long)name->time_ns, name->tid, name->name,
		     name->is_exec ? " exec" : "");
	return 0;
}

static inline int tell_fork(struct event_sink *sink, const struct thread_life *life)
{
	assert_true(life->is_synthesized); /* so that readers let nothing be inherited */
	text_appendf(&((struct told *)sink)->text, "%llu life %u of %u\n",
		     (unsigned long long)life->time_ns, life->tid, life->parent_pid);
	return 0;
}

static inline int tell_symbol(struct event_sink *sink, const struct kernel_symbol *symbol)
{
	text_appendf(&((struct told *)sink)->text, "%llu symbol %s\n",
		     (unsigned long long)symbol->time_ns, symbol->name);
	return 0;
}

static const struct event_sink told_members = {
	.on_sample = tell_sample,
	.on_mapping = tell_mapping,
	.on_name = tell_name,
	.on_fork = tell_fork,
	.on_kernel_symbol = tell_symbol,
	.on_cgroup = tell_cgroup,
};

#endif
