/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The start-up scan, on processes of which everything is known: this one and its children.
 */
#include "base/memory.h"
#include "binary/binary.h"
#include "host/processes.h"
#include "unit/build_id_at.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

/* What came, in a form that can be asked. */
struct witness {
	struct event_sink sink;
	u64 time_ns; /* that all is to have */
	u32 forks, names, mappings;
	u32 mappings_at_second_fork;
	u32 last_tid, last_parent_tid;
	char name[32], last_name[32];
	const char *wanted_path;
	struct mapping found;
	bool has_found;
	int answer;
};

static int on_fork(struct event_sink *self, const struct thread_life *life)
{
	struct witness *witness = (struct witness *)self;

	assert_true(life->is_synthesized);
	assert_int_equal(life->time_ns, witness->time_ns);
	if (++witness->forks == 2)
		witness->mappings_at_second_fork = witness->mappings;
	witness->last_tid = life->tid;
	witness->last_parent_tid = life->parent_tid;
	return witness->answer;
}

static int on_name(struct event_sink *self, const struct thread_name *name)
{
	struct witness *witness = (struct witness *)self;

	assert_false(name->is_exec);
	assert_int_equal(name->time_ns, witness->time_ns);
	snprintf(witness->names++ ? witness->last_name : witness->name, sizeof(witness->name), "%s",
		 name->name);
	return 0;
}

static int on_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct witness *witness = (struct witness *)self;

	witness->mappings++;
	assert_int_equal(mapping->time_ns, witness->time_ns);
	assert_true(mapping->protection & PROT_EXEC);
	if (witness->wanted_path && !strcmp(mapping->path, witness->wanted_path)) {
		witness->found = *mapping;
		witness->has_found = true;
	}
	return 0;
}

static struct witness new_witness(void)
{
	return (struct witness){
		.sink = {.on_fork = on_fork, .on_name = on_name, .on_mapping = on_mapping}};
}

static int scan(const u32 *pids, size_t count, struct witness *witness, struct scan_result *result)
{
	struct file_ids *files = file_ids_new((struct id_reader){0});
	struct scan_request request = {
		.pids = pids, .pid_count = count, .files = files, .time_ns = witness->time_ns};
	int error = processes_scan(&request, &witness->sink, result);

	file_ids_free(files);
	return error;
}

static void this_process_is_told_with_its_parent_and_name(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result;
	u32 pid = (u32)getpid();

	prctl(PR_SET_NAME, "a (strange)\n)x");
	assert_int_equal(scan(&pid, 1, &witness, &result), 0);
	assert_int_equal(witness.forks, 1);
	assert_int_equal(witness.last_tid, pid);
	assert_int_equal(witness.last_parent_tid, getppid());
	assert_string_equal(witness.name, "a (strange)\n)x");
	assert_int_equal(result.processes, 1);
	assert_int_equal(result.threads, 1);
	assert_int_equal(result.mappings, witness.mappings);
	assert_int_equal(result.unreadable, 0);
	(void)state;
}

static void the_program_is_mapped_with_its_build_id(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result;
	struct build_id id;
	struct stat status;
	u32 pid = (u32)getpid();
	char path[4096];

	path[readlink("/proc/self/exe", path, sizeof(path) - 1)] = 0;
	witness.wanted_path = path;
	assert_int_equal(scan(&pid, 1, &witness, &result), 0);
	assert_true(witness.has_found);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(witness.found.inode, status.st_ino);
	assert_int_equal(witness.found.major, major(status.st_dev));
	assert_int_equal(build_id_at(path, &id), 0);
	assert_int_equal(witness.found.build_id_bytes, id.length);
	assert_memory_equal(witness.found.build_id, id.bytes, id.length);
	(void)state;
}

static void *hold_thread(void *barrier)
{
	prctl(PR_SET_NAME, "other\xff\x1bthread");
	pthread_barrier_wait(barrier); /* named */
	pthread_barrier_wait(barrier); /* scanned */
	return NULL;
}

static void threads_follow_the_mappings_and_are_children_of_the_first(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result;
	pthread_barrier_t barrier;
	u32 pid = (u32)getpid();
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, hold_thread, &barrier);
	pthread_barrier_wait(&barrier);
	assert_int_equal(scan(&pid, 1, &witness, &result), 0);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	assert_int_equal(witness.forks, 2);
	assert_int_equal(result.threads, 2);
	assert_int_equal(witness.last_parent_tid, pid);
	assert_string_equal(witness.last_name, "other\xff\x1bthread");
	assert_int_equal(witness.mappings_at_second_fork, witness.mappings);
	pthread_barrier_destroy(&barrier);
	(void)state;
}

/* Copies the running program, maps the copy executable and deletes it. Returns its path. */
static void map_deleted_program(char path[static 64], void **ret_start)
{
	CLEANUP(freep) char *command = NULL;
	int fd;

	snprintf(path, 64, "/tmp/processes_test.%d", getpid());
	command = must_format("cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	*ret_start = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(*ret_start != MAP_FAILED);
	close(fd);
	unlink(path);
}

static void a_deleted_file_keeps_its_build_id(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result;
	u32 pid = (u32)getpid();
	char path[64], deleted[96];
	void *start;

	map_deleted_program(path, &start);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	witness.wanted_path = deleted;
	assert_int_equal(scan(&pid, 1, &witness, &result), 0);
	munmap(start, 4096);
	assert_true(witness.has_found);
	assert_int_equal(witness.found.build_id_bytes, BUILD_ID_MAX_BYTES);
	(void)state;
}

static void a_process_that_has_ended_is_passed_over(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result;
	pid_t child = fork();
	u32 pid = (u32)child;

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	assert_int_equal(scan(&pid, 1, &witness, &result), 0);
	assert_int_equal(witness.forks, 0);
	assert_int_equal(result.processes, 0);
	(void)state;
}

static void a_sink_that_refuses_ends_the_scan(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result = {.threads = 7};

	witness.answer = -ENOSPC;
	assert_int_equal(scan(NULL, 0, &witness, &result), -ENOSPC);
	assert_int_equal(witness.forks, 1);
	assert_int_equal(result.threads, 7);
	(void)state;
}

static void a_later_scan_tells_all_as_of_then(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result;
	u32 pid = (u32)getpid();

	witness.time_ns = 12345;
	assert_int_equal(scan(&pid, 1, &witness, &result), 0);
	assert_int_equal(witness.forks, 1);
	assert_int_equal(witness.names, 1);
	assert_true(witness.mappings > 0);
	(void)state;
}

/* Ends with the number of processes that somebody is told of who may not see their mappings. */
static void tell_stranger(u32 pid, u64 time_ns)
{
	struct witness witness = new_witness();
	struct scan_result result;

	witness.time_ns = time_ns;
	if (setgid(65534) || setuid(65534) || scan(&pid, 1, &witness, &result))
		_exit(100);
	_exit((int)witness.forks);
}

static void what_is_known_is_not_replaced_by_what_cannot_be_read(void **state)
{
	static const u64 times[] = {0, 12345};
	u32 pid = (u32)getpid();

	if (getuid())
		skip();
	for (int later = 0; later < 2; later++) {
		pid_t child = fork();
		int status;

		if (!child)
			tell_stranger(pid, times[later]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), later ? 0 : 1);
	}
	(void)state;
}

static void without_pids_every_process_is_told(void **state)
{
	struct witness witness = new_witness();
	struct scan_result result;

	assert_int_equal(scan(NULL, 0, &witness, &result), 0);
	assert_true(result.processes >= 2);
	assert_int_equal(witness.forks, result.threads);
	assert_int_equal(witness.names, result.threads);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process_is_told_with_its_parent_and_name),
		cmocka_unit_test(the_program_is_mapped_with_its_build_id),
		cmocka_unit_test(threads_follow_the_mappings_and_are_children_of_the_first),
		cmocka_unit_test(a_deleted_file_keeps_its_build_id),
		cmocka_unit_test(a_process_that_has_ended_is_passed_over),
		cmocka_unit_test(a_sink_that_refuses_ends_the_scan),
		cmocka_unit_test(a_later_scan_tells_all_as_of_then),
		cmocka_unit_test(what_is_known_is_not_replaced_by_what_cannot_be_read),
		cmocka_unit_test(without_pids_every_process_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
