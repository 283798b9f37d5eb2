/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work in processes that can do nothing else, and what becomes of it if they end.
 */
#include "host/confined.h"

#include "base/file.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELLO_BYTES = 5 };

static struct confined *one_each, *some_each; /* by how much work a process does */
static struct confined *confined;	      /* the one that is tried */
static int hello = -1;			      /* a file that holds it */

static int repeat_question(const int *fds, size_t fd_count, struct bytes question,
			   struct text *answer)
{
	(void)fds;
	(void)fd_count;
	text_append_bytes(answer, question.start, question.length);
	return 0;
}

static int read_files(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	char bytes[HELLO_BYTES];

	(void)question;
	for (size_t i = 0; i < fd_count; i++) {
		if (pread(fds[i], bytes, sizeof(bytes), 0) != sizeof(bytes))
			return -errno;
		text_append_bytes(answer, bytes, sizeof(bytes));
	}
	return 0;
}

static int fail_with_reason(const int *fds, size_t fd_count, struct bytes question,
			    struct text *answer)
{
	(void)fds;
	(void)fd_count;
	(void)question;
	text_append(answer, "half");
	return -EBADMSG;
}

/* What a hostile file makes of its reader. */
static int crash(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	(void)fds;
	(void)fd_count;
	(void)question;
	(void)answer;
	raise(SIGSEGV);
	return 0;
}

static int open_another(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	(void)fds;
	(void)fd_count;
	(void)question;
	(void)answer;
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 ? -errno : 0;
}

static int connect_somewhere(const int *fds, size_t fd_count, struct bytes question,
			     struct text *answer)
{
	(void)fds;
	(void)fd_count;
	(void)question;
	(void)answer;
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? -errno : 0;
}

static int spin(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	volatile u64 turns = 0;

	(void)fds;
	(void)fd_count;
	(void)question;
	(void)answer;
	while (turns < UINT64_MAX)
		turns++;
	return 0;
}

static int tell_process(const int *fds, size_t fd_count, struct bytes question, struct text *answer)
{
	pid_t pid = getpid();

	(void)fds;
	(void)fd_count;
	(void)question;
	text_append_bytes(answer, &pid, sizeof(pid));
	return 0;
}

/* As a reader that somebody has taken over would: the answer's file is the descriptor before. */
static int write_garbage(const int *fds, size_t fd_count, struct bytes question,
			 struct text *answer)
{
	static const char garbage[64] = "garbage";

	(void)fd_count;
	(void)question;
	(void)answer;
	(void)!pwrite(fds[0] - 1, garbage, sizeof(garbage), 0);
	_exit(0);
}

static int answer_too_much(const int *fds, size_t fd_count, struct bytes question,
			   struct text *answer)
{
	static const char page[4096] = "much";

	(void)fd_count;
	(void)question;
	(void)answer;
	for (u32 i = 0; i < 1u << 20; i++)
		(void)!pwrite(fds[0] - 1, page, 1, (off_t)i * (1 << 20));
	_exit(0);
}

enum work { REPEAT, READ, FAIL, CRASH, OPEN, CONNECT, SPIN, WHO, GARBAGE, TOO_MUCH, NO_WORK };

static confined_work *const works[] = {
	[REPEAT] = repeat_question,
	[READ] = read_files,
	[FAIL] = fail_with_reason,
	[CRASH] = crash,
	[OPEN] = open_another,
	[CONNECT] = connect_somewhere,
	[SPIN] = spin,
	[WHO] = tell_process,
	[GARBAGE] = write_garbage,
	[TOO_MUCH] = answer_too_much,
};

enum { SOME_JOBS = 3, TOO_LONG_S = 60 };

static int start(u32 jobs_each, struct confined **ret_confined)
{
	struct confined_settings settings = {.works = works,
					     .work_count = ARRAY_COUNT(works),
					     .jobs_each = jobs_each,
					     .most_cpu_s = 1,
					     .most_wall_s = 60};

	return confined_start(&settings, ret_confined);
}

static int set_up(void **state)
{
	char path[] = "/tmp/confined-XXXXXX";

	(void)state;
	hello = mkostemp(path, O_CLOEXEC);
	if (hello < 0 || unlink(path) || file_write_all(hello, "hello", HELLO_BYTES) ||
	    start(0, &one_each) || start(SOME_JOBS, &some_each))
		return -1;
	confined = one_each;
	return 0;
}

static int use_some(void **state)
{
	(void)state;
	confined = some_each;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	confined_stop(one_each);
	confined_stop(some_each);
	close(hello);
	return 0;
}

static int run(enum work work, struct bytes *ret_answer)
{
	struct bytes answer = {0};
	struct confined_job job = {
		.work = work, .fds = &hello, .fd_count = 1, .question = {(const u8 *)"why", 3}};
	int error = confined_run(confined, &job, &answer);

	if (ret_answer)
		*ret_answer = answer;
	else
		free((void *)(uintptr_t)answer.start);
	return error;
}

static void assert_works(void)
{
	struct bytes answer;

	assert_int_equal(run(REPEAT, &answer), 0);
	assert_int_equal(answer.length, 3);
	assert_memory_equal(answer.start, "why", 3);
	free((void *)(uintptr_t)answer.start);
}

static void files_are_read_and_questions_answered(void **state)
{
	int fds[CONFINED_FILES_MAX];
	struct confined_job job = {.work = READ, .fds = fds, .fd_count = CONFINED_FILES_MAX};
	struct bytes answer = {0};

	(void)state;
	for (size_t i = 0; i < CONFINED_FILES_MAX; i++)
		fds[i] = hello;
	assert_works();
	assert_int_equal(confined_run(confined, &job, &answer), 0);
	assert_int_equal(answer.length, CONFINED_FILES_MAX * HELLO_BYTES);
	assert_memory_equal(answer.start, "hellohello", 2 * HELLO_BYTES);
	free((void *)(uintptr_t)answer.start);
}

static void an_error_comes_back(void **state)
{
	(void)state;
	assert_int_equal(run(FAIL, NULL), -EBADMSG);
	assert_works();
}

static void who_crashes_costs_his_file_only(void **state)
{
	(void)state;
	assert_int_equal(run(CRASH, NULL), -EOWNERDEAD);
	assert_works();
	assert_int_equal(run(NO_WORK, NULL), -EOWNERDEAD);
	assert_works();
}

static void nothing_else_can_be_opened(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* such a build has no list of calls */
#endif
	assert_int_equal(run(OPEN, NULL), -EOWNERDEAD);
	assert_int_equal(run(CONNECT, NULL), -EOWNERDEAD);
	assert_works();
}

static void work_without_end_is_ended(void **state)
{
	u64 before_ns = confined_cpu_ns(confined);

	(void)state;
	assert_int_equal(run(SPIN, NULL), -ETIME);
	assert_true(confined_cpu_ns(confined) > before_ns);
	assert_works();
}

static void answers_are_checked_and_bounded(void **state)
{
	(void)state;
	assert_int_equal(run(GARBAGE, NULL), -EOWNERDEAD);
	assert_int_equal(run(TOO_MUCH, NULL), -EOWNERDEAD);
	assert_works();
}

static pid_t who_works(void)
{
	struct bytes answer = {0};
	pid_t pid;

	assert_int_equal(run(WHO, &answer), 0);
	assert_int_equal(answer.length, sizeof(pid));
	memcpy(&pid, answer.start, sizeof(pid));
	free((void *)(uintptr_t)answer.start);
	return pid;
}

static void each_piece_of_work_has_a_process(void **state)
{
	(void)state;
	assert_int_not_equal(who_works(), who_works());
}

static void a_process_does_as_much_as_it_may(void **state)
{
	pid_t pids[SOME_JOBS + 1];

	(void)state;
	assert_int_equal(run(CRASH, NULL), -EOWNERDEAD); /* so that the next is a new one */
	for (size_t i = 0; i < ARRAY_COUNT(pids); i++)
		pids[i] = who_works();
	for (size_t i = 1; i < SOME_JOBS; i++)
		assert_int_equal(pids[i], pids[0]);
	assert_int_not_equal(pids[SOME_JOBS], pids[0]);
	/* Killed while it does nothing: one piece is lost at most, if it was on its way to it. */
	if (!kill(pids[SOME_JOBS], SIGKILL))
		(void)run(REPEAT, NULL);
	assert_works();
}

static void work_that_wants_a_new_process_has_one(void **state)
{
	struct confined_job job = {.work = REPEAT, .wants_new = true};
	struct bytes answer = {0};
	pid_t before = who_works();

	(void)state;
	assert_int_equal(confined_run(confined, &job, &answer), 0);
	free((void *)(uintptr_t)answer.start);
	assert_int_not_equal(who_works(), before);
	assert_works();
}

/* The process started last; 0 on a kernel without CONFIG_PROC_CHILDREN. */
static pid_t newest_child(void)
{
	CLEANUP(freep) char *children = NULL;
	CLEANUP(freep)
	char *path = must_format("/proc/self/task/%d/children", (int)getpid());
	const char *last;

	if (file_read(path, 4096, &children, NULL) || !*children)
		return 0;
	children[strlen(children) - 1] = 0; /* "12 13 " */
	last = strrchr(children, ' ');
	return (pid_t)strtol(last ? last : children, NULL, 10);
}

/* A keeper, and who it is. */
static struct confined *start_other(u32 most_wall_s, pid_t *ret_keeper)
{
	struct confined_settings settings = {.works = works,
					     .work_count = ARRAY_COUNT(works),
					     .most_cpu_s = 1,
					     .most_wall_s = most_wall_s};
	struct confined *other = NULL;

	assert_int_equal(confined_start(&settings, &other), 0);
	*ret_keeper = newest_child();
	if (!*ret_keeper) {
		confined_stop(other);
		skip();
	}
	return other;
}

/* Nobody but root can do this to it. */
static void without_the_keeper_there_is_no_work(void **state)
{
	struct confined_job job = {.work = REPEAT};
	struct bytes answer = {0};
	pid_t keeper;
	struct confined *other = start_other(0, &keeper);

	(void)state;
	assert_int_equal(kill(keeper, SIGKILL), 0);
	/* Seen though nobody asks for work. */
	while (!confined_is_gone(other))
		sched_yield();
	assert_int_equal(confined_run(other, &job, &answer), -EPIPE);
	confined_stop(other);
	assert_works();
}

static void stop_process(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static void a_keeper_that_is_stopped_ends_all_the_same(void **state)
{
	pid_t keeper;
	struct confined *other = start_other(0, &keeper);

	(void)state;
	stop_process(keeper);
	alarm(TOO_LONG_S);
	confined_stop(other);
	alarm(0);
	assert_int_equal(waitpid(keeper, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void a_keeper_that_is_stopped_is_given_up(void **state)
{
	struct confined_job job = {.work = REPEAT};
	struct bytes answer = {0};
	pid_t keeper;
	struct confined *other = start_other(1, &keeper);

	(void)state;
	stop_process(keeper);
	alarm(TOO_LONG_S);
	assert_int_equal(confined_run(other, &job, &answer), -EPIPE);
	alarm(0);
	assert_true(confined_is_gone(other));
	confined_stop(other);
}

/* Somebody waits for us to end. */
static void no_work_is_waited_for_beyond_the_end(void **state)
{
	struct confined_settings settings = {
		.works = works, .work_count = ARRAY_COUNT(works), .most_cpu_s = 600};
	struct confined *other = NULL;
	struct confined_job endless = {.work = SPIN}, job = {.work = REPEAT};
	struct bytes answer = {0};

	(void)state;
	assert_int_equal(confined_start(&settings, &other), 0);
	confined_end_at(other, 1); /* long ago */
	assert_int_equal(confined_run(other, &endless, &answer), -EPIPE);
	assert_int_equal(confined_run(other, &job, &answer), -EPIPE);
	confined_stop(other);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_and_questions_answered),
		cmocka_unit_test(an_error_comes_back),
		cmocka_unit_test(who_crashes_costs_his_file_only),
		cmocka_unit_test(nothing_else_can_be_opened),
		cmocka_unit_test(work_without_end_is_ended),
		cmocka_unit_test(answers_are_checked_and_bounded),
		cmocka_unit_test(each_piece_of_work_has_a_process),
		cmocka_unit_test(without_the_keeper_there_is_no_work),
		cmocka_unit_test(a_keeper_that_is_stopped_ends_all_the_same),
		cmocka_unit_test(a_keeper_that_is_stopped_is_given_up),
		cmocka_unit_test(no_work_is_waited_for_beyond_the_end),
		/* The same where a process does several pieces of work. */
		cmocka_unit_test_setup(files_are_read_and_questions_answered, use_some),
		cmocka_unit_test_setup(an_error_comes_back, use_some),
		cmocka_unit_test_setup(who_crashes_costs_his_file_only, use_some),
		cmocka_unit_test_setup(nothing_else_can_be_opened, use_some),
		cmocka_unit_test_setup(work_without_end_is_ended, use_some),
		cmocka_unit_test_setup(answers_are_checked_and_bounded, use_some),
		cmocka_unit_test_setup(a_process_does_as_much_as_it_may, use_some),
		cmocka_unit_test_setup(work_that_wants_a_new_process_has_one, use_some),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
