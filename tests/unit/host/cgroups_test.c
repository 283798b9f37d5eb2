/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finding cgroups by path.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "host/cgroups.h"
#include "unit/unit.h"

#include <errno.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>

/* Where cgroup v2 is mounted, owned by the caller; NULL: nowhere. */
static char *find_mount(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	char *found = NULL;

	while (mounts && !found && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_type, "cgroup2"))
			found = must_copy(mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return found;
}

static void relative_and_absolute_paths_lead_to_the_same_cgroup(void **state)
{
	CLEANUP(freep) char *mount = find_mount();
	struct cgroup relative, absolute;
	struct stat status;

	if (!mount)
		skip();
	assert_int_equal(cgroup_open("/", &relative), 0);
	assert_int_equal(cgroup_open(mount, &absolute), 0);
	assert_true(relative.is_v2 && absolute.is_v2);
	assert_true(relative.id == absolute.id && relative.id != 0);
	assert_int_equal(fstat(absolute.fd, &status), 0);
	assert_true(S_ISDIR(status.st_mode));
	closep(&relative.fd);
	closep(&absolute.fd);
	(void)state;
}

static void a_cgroup_that_is_not_there_is_named(void **state)
{
	struct cgroup cgroup = {.fd = -1};

	assert_int_equal(cgroup_open("no/such/cgroup", &cgroup), -ENOENT);
	assert_non_null(strstr(fail_sentence(), "no/such/cgroup"));
	assert_int_equal(cgroup.fd, -1);
	(void)state;
}

static void another_folder_is_no_cgroup(void **state)
{
	CLEANUP(freep) char *mount = find_mount();
	struct cgroup cgroup;

	if (!mount)
		skip();
	assert_int_equal(cgroup_open("/tmp", &cgroup), -EINVAL);
	assert_non_null(strstr(fail_sentence(), "/tmp is not a cgroup"));
	(void)state;
}

struct found {
	u64 top, child;
	u32 count;
};

static void note_found(void *context, u64 id, const char *path)
{
	struct found *found = context;

	found->count++;
	if (!strcmp(path, "/"))
		found->top = id;
	if (!strcmp(path, "/a/b"))
		found->child = id;
}

static u64 inode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

static void a_walk_finds_every_folder_below_by_its_path(void **state)
{
	char top[] = "/tmp/cgroups-test-XXXXXX";
	CLEANUP(freep) char *child = NULL, *file = NULL, *parent = NULL;
	struct found found = {0};

	assert_non_null(mkdtemp(top));
	parent = must_format("%s/a", top);
	child = must_format("%s/a/b", top);
	file = must_format("%s/cgroup.procs", top);
	assert_int_equal(mkdir(parent, 0700), 0);
	assert_int_equal(mkdir(child, 0700), 0);
	assert_int_equal(symlink("a", file), 0);
	cgroups_walk(top, note_found, &found);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.top, inode_of(top));
	assert_int_equal(found.child, inode_of(child));
	unlink(file);
	rmdir(child);
	rmdir(parent);
	rmdir(top);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(relative_and_absolute_paths_lead_to_the_same_cgroup),
		cmocka_unit_test(a_cgroup_that_is_not_there_is_named),
		cmocka_unit_test(another_folder_is_no_cgroup),
		cmocka_unit_test(a_walk_finds_every_folder_below_by_its_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
