/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event loop: descriptors, timers and signals reach their handlers, and it ends when told.
 */
#include "base/loop.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	struct loop *loop;
	u64 calls, last;
	int result;
};

static int end_with_result(void *context, u64 number)
{
	struct seen *seen = context;

	seen->calls++;
	seen->last = number;
	loop_end(seen->loop, seen->result);
	return 0;
}

static int refuse(void *context, u64 number)
{
	(void)context;
	(void)number;
	return -EPIPE;
}

static int end_at_third_call(void *context, u64 number)
{
	struct seen *seen = context;

	seen->last += number;
	if (++seen->calls == 3)
		loop_end(seen->loop, 0);
	return 0;
}

static int go_on_by_the_hour(void *context, u64 number)
{
	struct seen *seen = context;

	(void)number;
	seen->calls++;
	loop_change_timer(seen->loop, 3600000000000);
	return 0;
}

static int set_up(void **state)
{
	static struct seen seen;

	seen = (struct seen){0};
	*state = &seen;
	return loop_open(&seen.loop);
}

static int tear_down(void **state)
{
	struct seen *seen = *state;

	loop_close(seen->loop);
	return 0;
}

static void readable_descriptor_reaches_its_handler(void **state)
{
	struct seen *seen = *state;
	int ends[2];

	seen->result = 7;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	loop_on_readable(seen->loop, ends[0], (struct loop_handler){end_with_result, seen});
	assert_int_equal(loop_run(seen->loop), 7);
	assert_int_equal(seen->last, ends[0]);
	close(ends[0]);
	close(ends[1]);
}

static void error_of_a_handler_ends_the_loop(void **state)
{
	struct seen *seen = *state;

	loop_on_timer(seen->loop, 1, (struct loop_handler){refuse, seen});
	assert_int_equal(loop_run(seen->loop), -EPIPE);
}

static void timer_fires_again_and_again(void **state)
{
	struct seen *seen = *state;

	loop_on_timer(seen->loop, 1000000, (struct loop_handler){end_at_third_call, seen});
	assert_int_equal(loop_run(seen->loop), 0);
	assert_int_equal(seen->calls, 3);
	assert_true(seen->last >= 3);
}

static void timer_is_changed_by_its_handler(void **state)
{
	struct seen *seen = *state;
	struct seen others = {.loop = seen->loop};

	loop_on_timer(seen->loop, 1000000, (struct loop_handler){go_on_by_the_hour, seen});
	loop_on_timer(seen->loop, 5000000, (struct loop_handler){end_at_third_call, &others});
	assert_int_equal(loop_run(seen->loop), 0);
	assert_int_equal(seen->calls, 1);
	assert_int_equal(others.calls, 3);
}

static void signal_reaches_its_handler_instead_of_killing(void **state)
{
	struct seen *seen = *state;

	loop_on_signals(seen->loop, (const int[]){SIGTERM, SIGHUP}, 2,
			(struct loop_handler){end_with_result, seen});
	raise(SIGHUP);
	assert_int_equal(loop_run(seen->loop), 0);
	assert_int_equal(seen->last, SIGHUP);
}

static void closing_gives_the_signals_back(void **state)
{
	struct seen *seen = *state;
	struct loop *loop;
	sigset_t mask;

	assert_int_equal(loop_open(&loop), 0);
	loop_on_signals(loop, (const int[]){SIGUSR1}, 1,
			(struct loop_handler){end_with_result, seen});
	loop_on_signals(loop, (const int[]){SIGUSR2}, 1,
			(struct loop_handler){end_with_result, seen});
	loop_close(loop);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	assert_false(sigismember(&mask, SIGUSR1));
	assert_false(sigismember(&mask, SIGUSR2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(readable_descriptor_reaches_its_handler, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(error_of_a_handler_ends_the_loop, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(timer_is_changed_by_its_handler, set_up, tear_down),
		cmocka_unit_test_setup_teardown(timer_fires_again_and_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(signal_reaches_its_handler_instead_of_killing,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(closing_gives_the_signals_back, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
