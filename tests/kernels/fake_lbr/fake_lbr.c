// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A PMU for tests whose overflows bring scripted branch stacks: whoever writes a script to
 * /dev/fake_lbr makes its event on this CPU overflow once, there and then, in user mode at the
 * instruction behind the write.
 */
#include "fake_lbr.h"

#include <linux/device.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/* As struct perf_branch_stack, with room for entries. */
struct branch_memory {
	u64 nr, hw_idx;
	u64 entries[FAKE_LBR_ENTRIES][3];
};

struct cpu_state {
	struct perf_event *event; /* that runs here */
	struct branch_memory branches;
};

static DEFINE_PER_CPU(struct cpu_state, states);
static DEFINE_PER_CPU(struct fake_lbr_overflow, scripts);

/* Not exported; found by a probe on it. */
static int (*overflow)(struct perf_event *, struct perf_sample_data *, struct pt_regs *);

static int find_overflow(void)
{
	struct kprobe probe = {.symbol_name = "perf_event_overflow"};
	int error = register_kprobe(&probe);

	if (error)
		return error;
	overflow = (void *)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/* --- the PMU --- */

static struct pmu fake_lbr;

static int fake_init(struct perf_event *event)
{
	u64 refused = 0;

	if (event->attr.type != fake_lbr.type)
		return -ENOENT;
	if (event->attr.config & FAKE_LBR_NO_INDEX)
		refused |= PERF_SAMPLE_BRANCH_HW_INDEX;
	if (event->attr.config & FAKE_LBR_NO_SHORTER)
		refused |= PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	if (event->attr.config & FAKE_LBR_NO_CALLS)
		refused |= PERF_SAMPLE_BRANCH_CALL_STACK;
	if (event->cpu < 0)
		return -EINVAL;
	return event->attr.branch_sample_type & refused ? -EOPNOTSUPP : 0;
}

static void fake_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
}

static void fake_stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int fake_add(struct perf_event *event, int flags)
{
	event->hw.state = flags & PERF_EF_START ? 0 : PERF_HES_STOPPED;
	this_cpu_write(states.event, event);
	return 0;
}

static void fake_del(struct perf_event *event, int flags)
{
	this_cpu_write(states.event, NULL);
}

static void fake_read(struct perf_event *event)
{
}

static ssize_t branches_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sprintf(text, "%d\n", FAKE_LBR_DEPTH);
}
static DEVICE_ATTR_RO(branches);

static struct attribute *caps[] = {&dev_attr_branches.attr, NULL};
static const struct attribute_group caps_group = {.name = "caps", .attrs = caps};
static const struct attribute_group *groups[] = {&caps_group, NULL};

static struct pmu fake_lbr = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.attr_groups = groups,
	.event_init = fake_init,
	.add = fake_add,
	.del = fake_del,
	.start = fake_start,
	.stop = fake_stop,
	.read = fake_read,
};

/* --- the script --- */

static void set_branches(struct perf_sample_data *data, struct branch_memory *branches, u64 trick)
{
	data->br_stack = trick == FAKE_LBR_NULL ? NULL : (struct perf_branch_stack *)branches;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
	if (trick != FAKE_LBR_UNSAID)
		data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
#else
	if (trick == FAKE_LBR_UNSAID)
		data->br_stack = NULL;
#endif
}

/* Lets the event of this CPU overflow; with interrupts off. */
static int overflow_here(const struct fake_lbr_overflow *script)
{
	struct cpu_state *state = this_cpu_ptr(&states);
	struct perf_event *event = state->event;
	struct perf_sample_data data;

	if (!event || event->hw.state)
		return -ENODEV;
	state->branches.nr = script->nr;
	state->branches.hw_idx = script->hw_idx;
	memcpy(state->branches.entries, script->entries, sizeof(script->entries));
	perf_sample_data_init(&data, 0, event->hw.last_period);
	set_branches(&data, &state->branches, script->trick);
	local64_inc(&event->count);
	event->hw.interrupts = 0; /* or it would be throttled */
	overflow(event, &data, task_pt_regs(current));
	return 0;
}

static ssize_t fake_write(struct file *file, const char __user *from, size_t bytes, loff_t *offset)
{
	struct fake_lbr_overflow *script;
	unsigned long flags;
	int error = 0;

	if (bytes != sizeof(*script))
		return -EINVAL;
	preempt_disable();
	script = this_cpu_ptr(&scripts);
	pagefault_disable();
	if (copy_from_user(script, from, bytes))
		error = -EFAULT; /* not resident: the writer touches it and comes again */
	pagefault_enable();
	local_irq_save(flags);
	if (!error)
		error = overflow_here(script);
	local_irq_restore(flags);
	preempt_enable();
	return error ? error : bytes;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.write = fake_write,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fake_lbr",
	.fops = &operations,
};

static int __init fake_lbr_init(void)
{
	int error = find_overflow();

	if (!error)
		error = perf_pmu_register(&fake_lbr, "fake_lbr", -1);
	if (error)
		return error;
	error = misc_register(&device);
	if (error)
		perf_pmu_unregister(&fake_lbr);
	return error;
}
module_init(fake_lbr_init);

MODULE_DESCRIPTION("PMU with scripted branch stacks, for tests");
MODULE_LICENSE("Dual BSD/GPL");
