/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that the daemon keeps: as long as they are needed.
 */
#include "cmd/daemon_names.h"

#include "base/memory.h"
#include "binary/binary.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEADLINE_S = 60, OLD_S = 1000 };

struct fixture {
	char folder[64], path[4096];
	struct build_id id; /* of this program */
	struct daemon_names *names;
};

static int set_up(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));
	struct daemon_names_settings settings = {.directory = fixture->folder};
	CLEANUP(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	*state = fixture;
	strcpy(fixture->folder, "/tmp/daemon-names-XXXXXX");
	if (!mkdtemp(fixture->folder) || build_id_of_fd(fd, &fixture->id) ||
	    readlink("/proc/self/exe", fixture->path, sizeof(fixture->path) - 1) < 0)
		return -1;
	alarm(DEADLINE_S);
	return daemon_names_open(&settings, &fixture->names) || daemon_names_start(fixture->names);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *command = must_format("rm -rf %s", fixture->folder);

	daemon_names_close(fixture->names);
	free(fixture);
	return system(command); /* NOLINT(cert-env33-c) */
}

static void take_own_program(struct fixture *fixture)
{
	struct mapping binary = {
		.pid = (u32)getpid(), .path = fixture->path, .build_id_bytes = fixture->id.length};

	memcpy(binary.build_id, fixture->id.bytes, fixture->id.length);
	daemon_names_take(fixture->names, &binary);
	sched_yield();
}

static char *kept_path(const struct fixture *fixture)
{
	char text[BUILD_ID_TEXT_BYTES];

	build_id_text(&fixture->id, text);
	return must_format("%s/%.2s/%s.names", fixture->folder, text, text + 2);
}

/* The cache forgets what was used longest ago. */
static void names_of_what_still_runs_do_not_grow_old(void **state)
{
	struct timespec old[2] = {{.tv_sec = OLD_S}, {.tv_sec = OLD_S}};
	struct fixture *fixture = *state;
	CLEANUP(freep) char *path = kept_path(fixture);
	struct stat status = {.st_mtim.tv_sec = OLD_S};

	while (access(path, F_OK))
		take_own_program(fixture);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	while (status.st_mtim.tv_sec == OLD_S) {
		take_own_program(fixture);
		assert_int_equal(stat(path, &status), 0);
	}
}

static void names_that_were_removed_are_kept_again(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *path = kept_path(fixture);

	while (access(path, F_OK))
		take_own_program(fixture);
	assert_int_equal(unlink(path), 0);
	while (access(path, F_OK))
		take_own_program(fixture);
}

/* Has a file taken that the mapping says to be this program. */
static void take_file_as_own_program(struct fixture *fixture, const char *path)
{
	struct mapping binary = {
		.pid = ~0u, .path = "/nowhere", .build_id_bytes = fixture->id.length};
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	memcpy(binary.build_id, fixture->id.bytes, fixture->id.length);
	daemon_names_take_file(fixture->names, &binary, fd);
	daemon_names_settle(fixture->names, DEADLINE_S * 1000000000ULL);
}

static void a_file_that_is_gone_from_its_path_is_read_while_it_is_open(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *path = kept_path(fixture);

	take_file_as_own_program(fixture, "/proc/self/exe");
	assert_int_equal(access(path, F_OK), 0);
	(void)state;
}

/* Its number was given to another one meanwhile. */
static void a_file_is_not_taken_for_what_its_mapping_said(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *path = kept_path(fixture);

	take_file_as_own_program(fixture, "/bin/sh");
	assert_int_equal(access(path, F_OK), -1);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_of_what_still_runs_do_not_grow_old, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(names_that_were_removed_are_kept_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_file_that_is_gone_from_its_path_is_read_while_it_is_open, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_file_is_not_taken_for_what_its_mapping_said,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
