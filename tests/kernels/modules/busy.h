// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A module with a thread of its name that runs in the function SPIN() and nowhere else for long.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static struct task_struct *spinning;

static noinline void SPIN(void)
{
	volatile int turn;

	for (turn = 0; turn < 20000; turn++) /* gnu89 before Linux 5.18 */
		;
}

static int busy_run(void *ignored)
{
	while (!kthread_should_stop()) {
		SPIN();
		cond_resched();
	}
	return 0;
}

static int __init busy_init(void)
{
	spinning = kthread_run(busy_run, NULL, KBUILD_MODNAME);
	return PTR_ERR_OR_ZERO(spinning);
}

static void __exit busy_exit(void)
{
	kthread_stop(spinning);
}

module_init(busy_init);
module_exit(busy_exit);
MODULE_DESCRIPTION("a thread that is busy, for tests");
MODULE_LICENSE("Dual BSD/GPL");
